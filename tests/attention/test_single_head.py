"""The two layers against nn.MultiheadAttention with one head, element by element."""

from itertools import product

import pytest
import torch
from attention.masks import causal_mask, padding_mask
from attention.single_head import CrossAttention, SelfAttention
from torch import nn


def pytorchs_own(layer: nn.Module, width: int, d_key: int) -> nn.MultiheadAttention:
    """nn.MultiheadAttention with one head and the layer's weights. It projects to its own width, so d_k = width."""
    theirs = nn.MultiheadAttention(width, 1, bias=False, batch_first=True, kdim=d_key, vdim=d_key)
    with torch.no_grad():
        if theirs.in_proj_weight is None:
            theirs.q_proj_weight.copy_(layer.W_Q.weight)
            theirs.k_proj_weight.copy_(layer.W_K.weight)
            theirs.v_proj_weight.copy_(layer.W_V.weight)
        else:
            theirs.in_proj_weight.copy_(torch.cat([layer.W_Q.weight, layer.W_K.weight, layer.W_V.weight]))
        theirs.out_proj.weight.copy_(torch.eye(width))
    return theirs


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(3)


@pytest.mark.parametrize("masked", [False, True])
def test_self_attention_is_pytorchs_own(masked: bool) -> None:
    layer, tokens = SelfAttention(11, 11), torch.randn(2, 5, 11)
    mask = causal_mask(5) if masked else None
    theirs = pytorchs_own(layer, 11, 11)
    expected = theirs(tokens, tokens, tokens, attn_mask=None if mask is None else ~mask)
    torch.testing.assert_close(layer(tokens, mask), expected)


@pytest.mark.parametrize("masked", [False, True])
def test_cross_attention_is_pytorchs_own(masked: bool) -> None:
    layer, text, image = CrossAttention(13, 3, 13), torch.randn(2, 5, 13), torch.randn(2, 7, 3)
    mask = padding_mask(torch.tensor([4, 7]), 7) if masked else None
    theirs = pytorchs_own(layer, 13, 3)
    expected = theirs(text, image, image, key_padding_mask=None if mask is None else ~mask.squeeze(1))
    torch.testing.assert_close(layer(text, image, mask), expected)


def test_their_true_means_the_opposite() -> None:
    layer, tokens = SelfAttention(11, 11), torch.randn(2, 5, 11)
    theirs = pytorchs_own(layer, 11, 11)
    same_mask, _ = theirs(tokens, tokens, tokens, attn_mask=causal_mask(5))
    assert not torch.allclose(layer(tokens, causal_mask(5))[0], same_mask, atol=1e-3, equal_nan=True)


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_batches_are_computed_one_by_one(lead: tuple[int, ...]) -> None:
    layer, text, image = CrossAttention(11, 3, 17), torch.randn(*lead, 5, 11), torch.randn(*lead, 7, 3)
    output, weights = layer(text, image)
    assert output.shape == (*lead, 5, 17)
    assert weights.shape == (*lead, 5, 7)
    for index in product(*map(range, lead)):
        torch.testing.assert_close((output[index], weights[index]), layer(text[index], image[index]))


@pytest.mark.parametrize(
    ("layer", "shapes"),
    [
        (SelfAttention(11, 3), {"W_Q.weight": (3, 11), "W_K.weight": (3, 11), "W_V.weight": (3, 11)}),
        (CrossAttention(11, 7, 3), {"W_Q.weight": (3, 11), "W_K.weight": (3, 7), "W_V.weight": (3, 7)}),
    ],
)
def test_the_projections_are_the_only_parameters(layer: nn.Module, shapes: dict) -> None:
    assert {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()} == shapes
    assert not list(layer.buffers())


def test_gradients_reach_every_parameter() -> None:
    layer = CrossAttention(11, 7, 3)
    output, weights = layer(torch.randn(2, 5, 11), torch.randn(2, 13, 7))
    (output.square().sum() + weights.square().sum()).backward()
    assert all(bool(parameter.grad.abs().sum() > 0) for parameter in layer.parameters())
