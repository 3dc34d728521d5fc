"""PyTorch's own functions and the provided MultiHeadAttention, against what the exercises are compared with."""

import pytest
import torch
from attention import builtin, dot_product, masks
from attention.builtin import MultiHeadAttention as Builtin
from attention.multi_head import MultiHeadAttention


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_built_in_attention_equals_the_reference(lead, masked, dtype):
    torch.manual_seed(2)
    query, key, value = (torch.randn(*lead, *size, dtype=dtype) for size in ((5, 3), (7, 3), (7, 2)))
    mask = None
    if masked:
        mask = torch.rand(*lead, 5, 7) < 0.5
        mask[..., 1, :] = False  # one query may attend nowhere
    for leaf in (query, key, value):
        leaf.requires_grad_()
    got = builtin.masked_attention(query, key, value, mask)
    expected = dot_product.masked_attention(query, key, value, mask)
    tolerance = dict(atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(got[0], expected[0], **tolerance)
    torch.testing.assert_close(got[1], expected[1], **tolerance)
    mine, theirs = (
        torch.autograd.grad(output.square().sum() + weights.square().sum(), (query, key, value))
        for output, weights in (got, expected)
    )
    if not masked:
        for one, two in zip(mine, theirs, strict=True):
            torch.testing.assert_close(one, two, atol=1e-5, rtol=1e-4)


def test_a_padding_mask_broadcasts_over_the_queries():
    torch.manual_seed(3)
    query, key, value = torch.randn(2, 5, 3), torch.randn(2, 7, 3), torch.randn(2, 7, 2)
    mask = builtin.padding_mask(torch.tensor([4, 0]), 7)
    got, expected = (module.masked_attention(query, key, value, mask) for module in (builtin, dot_product))
    torch.testing.assert_close(got[0], expected[0])
    torch.testing.assert_close(got[1], expected[1])
    assert (got[0][1] == 0).all()


def test_the_built_in_masks_equal_the_reference():
    lengths = torch.tensor([0, 3, 5])
    assert torch.equal(builtin.causal_mask(7), masks.causal_mask(7))
    assert torch.equal(builtin.padding_mask(lengths, 5), masks.padding_mask(lengths, 5))


def both(d_context=None) -> tuple[MultiHeadAttention, Builtin]:
    torch.manual_seed(0)
    reference, builtin = MultiHeadAttention(6, 3, d_context), Builtin(6, 3, d_context)
    builtin.load_state_dict(reference.state_dict())
    return reference, builtin


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("mask", ["none", "for all", "for each"])
def test_equals_the_reference(lead, cross, mask):
    reference, builtin = both(7 if cross else None)
    tokens, context = torch.randn(*lead, 4, 6), torch.randn(*lead, 5, 7) if cross else None
    keys = 5 if cross else 4
    allowed = None
    if mask != "none":
        allowed = torch.rand(*(lead if mask == "for each" else ()), 4, keys) < 0.6
        allowed[..., 1, :] = False  # a query that may attend nowhere
    for ours, theirs in zip(builtin(tokens, context, allowed), reference(tokens, context, allowed), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)
    ours, theirs = (layer(tokens, context, allowed)[0].square().sum() for layer in (builtin, reference))
    for one, other in zip(
        torch.autograd.grad(ours, list(builtin.parameters())),
        torch.autograd.grad(theirs, list(reference.parameters())),
        strict=True,
    ):
        assert torch.allclose(one, other, atol=1e-5)


def test_weights_before_dropout():
    _, builtin = both()
    dropping = Builtin(6, 3, dropout=0.5)
    dropping.load_state_dict(builtin.state_dict())
    tokens = torch.randn(2, 4, 6)
    assert torch.allclose(dropping(tokens)[1], builtin(tokens)[1], atol=1e-6)
    assert not torch.allclose(dropping(tokens)[0], builtin(tokens)[0], atol=1e-3)
    assert torch.allclose(dropping.eval()(tokens)[0], builtin(tokens)[0], atol=1e-6)


def test_refuses_widths_that_do_not_divide():
    with pytest.raises(ValueError, match="d_model = 7"):
        Builtin(7, 2)
