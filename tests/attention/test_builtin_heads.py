"""The provided MultiHeadAttention, on PyTorch's own function, against lesson 2's reference."""

import pytest
import torch
from attention.builtin import MultiHeadAttention as Builtin
from attention.multi_head import MultiHeadAttention


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
