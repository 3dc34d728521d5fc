"""The reference modules on a GPU give what they give on the CPU; needs PyTorch, pytest and source/ alone."""

from __future__ import annotations

import pytest
import torch
from attention.dot_product import masked_attention
from attention.efficient import fused_attention, linear_attention, sliding_window_attention, window_mask
from attention.multi_head import MultiHeadAttention
from torch import nn
from torch.nn import functional as F


def drawn(*shape: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(shape, generator=generator) for _ in range(3))


def off(there: torch.Tensor, here: torch.Tensor) -> float:
    """The largest difference, relative to the scale of the CPU's float64."""
    assert there.is_cuda
    return ((there.cpu().double() - here).abs().max() / here.abs().max()).item()


@pytest.mark.parametrize(("dtype", "allowed"), [(torch.float64, 1e-7), (torch.float32, 2e-5), (torch.bfloat16, 3e-2)])
@pytest.mark.parametrize("attend", ["explicit", "fused", "window", "linear"])
def test_values_as_on_the_cpu(attend, dtype, allowed):
    functions = {
        "explicit": lambda *three: masked_attention(*three)[0],
        "fused": fused_attention,
        "window": lambda *three: sliding_window_attention(*three, 5),
        "linear": linear_attention,
    }
    rounded = [one.to(dtype) for one in drawn(2, 3, 37, 16)]
    here = functions[attend](*(one.double() for one in rounded))
    there = functions[attend](*(one.cuda() for one in rounded))
    assert there.dtype is dtype
    assert off(there, here) <= allowed


def test_gradients_as_on_the_cpu():
    three = drawn(2, 3, 37, 16)
    here = [one.double().requires_grad_() for one in three]
    there = [one.cuda().requires_grad_() for one in three]
    for inputs in (here, there):
        sliding_window_attention(*inputs, 5).square().sum().backward()
    assert max(off(two.grad, one.grad) for one, two in zip(here, there, strict=True)) <= 1e-4


def test_the_window_is_the_dense_mask():
    query, key, value = (one.cuda() for one in drawn(1, 2, 700, 16))
    dense = F.scaled_dot_product_attention(query, key, value, attn_mask=window_mask(700, 64, "cuda"))
    assert off(sliding_window_attention(query, key, value, 64), dense.cpu().double()) <= 2e-5


def test_the_layer_is_pytorchs_own():
    torch.manual_seed(0)
    ours = MultiHeadAttention(32, 4)
    theirs = nn.MultiheadAttention(32, 4, bias=False, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight]))
        theirs.out_proj.weight.copy_(ours.W_O.weight)
        tokens = torch.randn(2, 11, 32, device="cuda")
        expected = theirs.cuda()(tokens, tokens, tokens, average_attn_weights=False)
        for got, want in zip(ours.cuda()(tokens), expected, strict=True):
            assert off(got, want.cpu().double()) <= 2e-5


def test_lesson_3_begins_as_on_the_cpu():
    """Its data and its start are drawn on the CPU: the first losses agree, before rounding has grown."""
    pytest.importorskip("sklearn")
    from attention.experiments import recipe
    from attention.training import train_step
    from attention.vlm import MiniVLM

    losses = {}
    for device in ("cpu", "cuda"):
        model = MiniVLM(**recipe.MODEL).to(device)
        losses[device] = recipe.train(model, train_step, 0, steps=5, align_steps=5)["losses"]
    assert torch.allclose(losses["cpu"], losses["cuda"], rtol=1e-3)
