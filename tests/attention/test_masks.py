"""Masks by hand, and what PyTorch means by them."""

import pytest
import torch
from attention.masks import causal_mask, padding_mask
from torch import nn


def test_the_causal_mask_by_hand() -> None:
    assert causal_mask(3).int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert causal_mask(1).tolist() == [[True]]
    assert causal_mask(3).dtype == torch.bool


def test_the_padding_mask_by_hand() -> None:
    mask = padding_mask(torch.tensor([2, 0, 3]), 3)
    assert mask.int().tolist() == [[[1, 1, 0]], [[0, 0, 0]], [[1, 1, 1]]]
    assert mask.dtype == torch.bool


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_lengths_of_any_integer_type(dtype: torch.dtype) -> None:
    assert torch.equal(padding_mask(torch.tensor([2, 5], dtype=dtype), 7), padding_mask(torch.tensor([2, 5]), 7))


def test_masks_are_made_where_they_are_asked_for() -> None:
    assert causal_mask(3, device="meta").device.type == "meta"
    assert padding_mask(torch.tensor([2], device="meta"), 3).device.type == "meta"


def test_pytorchs_additive_causal_mask_hides_the_same() -> None:
    additive = nn.Transformer.generate_square_subsequent_mask(7)
    assert torch.equal(causal_mask(7), additive == 0)
