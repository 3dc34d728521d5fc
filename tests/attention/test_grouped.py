"""Grouped queries, against PyTorch's own."""

import pytest
import torch
from attention.grouped import grouped_attention
from torch.nn import functional as F


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("mask_shape", [None, (5, 7), (2, 5, 7), (2, 1, 7)])
def test_equals_pytorchs(groups, mask_shape):
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(2, 6, 5, 3, generator=generator, dtype=torch.float64)
    key = torch.randn(2, groups, 7, 3, generator=generator, dtype=torch.float64)
    value = torch.randn(2, groups, 7, 4, generator=generator, dtype=torch.float64)
    mask = theirs = None
    if mask_shape:
        mask = torch.rand(mask_shape, generator=generator) < 0.6
        mask[..., 0] = True
        theirs = mask if mask.ndim == 2 else mask.unsqueeze(1)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=theirs, enable_gqa=True)
    assert torch.allclose(grouped_attention(query, key, value, mask), expected)


def test_heads_that_cannot_be_shared_out():
    with pytest.raises(ValueError, match="6 heads cannot be shared out to 4 groups"):
        grouped_attention(torch.ones(6, 2, 3), torch.ones(4, 2, 3), torch.ones(4, 2, 3))
