"""What several heads cost: time and memory beside PyTorch's own, in one run.

    python -m benchmarks.attention

With weights returned the measure is `nn.MultiheadAttention` (per head, not averaged); without, it is
`F.scaled_dot_product_attention` between the same four projections. Ours and theirs take turns, and each pair gives
one ratio; the median of the ratios is reported, so that a busy machine disturbs both sides alike. Memory is the
largest sum of live tensors that PyTorch's profiler saw. Without backward no gradients are kept.

The window's exponents: sliding-window attention at growing n and a fixed window; 1 is linear, dense attention is 2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log
from statistics import median
from time import perf_counter

import torch
from attention.efficient import sliding_window_attention
from attention.masks import causal_mask
from attention.multi_head import MultiHeadAttention
from torch import Tensor, nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

from benchmarks import publish

SIZES = ((8, 256, 128, 4), (4, 512, 256, 8), (1, 1024, 256, 8))  # batch, tokens, d_model, heads
LENGTHS = (1024, 2048, 4096, 8192)
WINDOW, ROUNDS = 64, 15


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rows, times, memories, fused = [], [], [], []
    for batch, n, d_model, heads in SIZES:
        tokens = torch.randn(batch, n, d_model)
        ours, theirs = pair_of_layers(d_model, heads)
        for name, mask in (("none", None), ("causal", causal_mask(n))):
            returning = partial(with_weights, ours, tokens, mask), partial(pytorchs, theirs, tokens, mask)
            fusing = partial(without_weights, ours, tokens, mask), partial(plain_sdpa, ours, tokens, mask)
            for training in (True, False):
                times.append(time_ratio(*returning, training))
                memories.append(peak_bytes(returning[0], training) / peak_bytes(returning[1], training))
                fused.append(time_ratio(*fusing, training))
                rows.append(
                    {"batch": batch, "tokens": n, "d_model": d_model, "heads": heads, "mask": name,
                     "backward": training, "time / nn.MultiheadAttention": times[-1],
                     "memory / nn.MultiheadAttention": memories[-1],
                     "time / F.scaled_dot_product_attention": fused[-1]}
                )  # fmt: skip
    window_time, window_memory = window_exponents()
    figures = {
        "vs_nn_mha_time": max(times),
        "vs_nn_mha_memory": max(memories),
        "vs_sdpa_time": max(fused),
        "window_time_exponent": window_time,
        "window_memory_exponent": window_memory,
    }
    publish("attention", figures, rows)


def pair_of_layers(d_model: int, heads: int) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Ours and PyTorch's, with the same weights."""
    ours = MultiHeadAttention(d_model, heads)
    theirs = nn.MultiheadAttention(d_model, heads, bias=False, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight]))
        theirs.out_proj.weight.copy_(ours.W_O.weight)
    return ours, theirs


def with_weights(layer: MultiHeadAttention, tokens: Tensor, mask: Tensor | None) -> Tensor:
    return layer(tokens, mask=mask)[0]


def without_weights(layer: MultiHeadAttention, tokens: Tensor, mask: Tensor | None) -> Tensor:
    return layer(tokens, mask=mask, need_weights=False)[0]


def pytorchs(layer: nn.MultiheadAttention, tokens: Tensor, mask: Tensor | None) -> Tensor:
    """nn.MultiheadAttention, with the weights of every head; True in its mask forbids."""
    forbidden = None if mask is None else ~mask
    return layer(tokens, tokens, tokens, attn_mask=forbidden, average_attn_weights=False)[0]


def plain_sdpa(layer: MultiHeadAttention, tokens: Tensor, mask: Tensor | None) -> Tensor:
    """The same layer written out around PyTorch's fused kernel, without anything that it does not need."""
    batch, n, d_model = tokens.shape
    query, key, value = (
        linear(tokens).view(batch, n, layer.num_heads, -1).transpose(1, 2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(heads.transpose(1, 2).reshape(batch, n, d_model))


def step(forward: Callable[[], Tensor], training: bool = True) -> None:
    """Forward, and in training backward too."""
    with torch.set_grad_enabled(training):
        output = forward()
        if training:
            output.sum().backward()


def time_ratio(ours: Callable[[], Tensor], theirs: Callable[[], Tensor], training: bool) -> float:
    """The median of ours / theirs over pairs of runs that stand beside each other."""
    for forward in (ours, theirs, ours, theirs):
        step(forward, training)
    ratios = []
    for index in range(ROUNDS):
        order = (ours, theirs) if index % 2 else (theirs, ours)
        taken = {}
        for forward in order:
            start = perf_counter()
            step(forward, training)
            taken[forward] = perf_counter() - start
        ratios.append(taken[ours] / taken[theirs])
    return median(ratios)


def peak_bytes(forward: Callable[[], Tensor], training: bool = True) -> int:
    """The most bytes of tensors alive at once while it runs, beyond what was there before."""
    step(forward, training)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        step(forward, training)
    events = [event for event in seen.profiler.kineto_results.events() if event.name() == "[memory]"]
    events.sort(key=lambda event: event.start_ns())
    alive = peak = 0
    for event in events:
        alive += event.nbytes()
        peak = max(peak, alive)
    return peak


def window_exponents() -> tuple[float, float]:
    """The slope of log cost over log n, in time and in memory, from the shortest sequence to the longest."""
    times, peaks = [], []
    for n in LENGTHS:
        query, key, value = (torch.randn(1, n, 64, requires_grad=True) for _ in range(3))

        def forward(query=query, key=key, value=value) -> Tensor:
            return sliding_window_attention(query, key, value, WINDOW)

        step(forward)
        taken = []
        for _ in range(7):
            start = perf_counter()
            step(forward)
            taken.append(perf_counter() - start)
        times.append(min(taken))
        peaks.append(peak_bytes(forward))
    octaves = log(LENGTHS[-1] / LENGTHS[0])
    return log(times[-1] / times[0]) / octaves, log(peaks[-1] / peaks[0]) / octaves


if __name__ == "__main__":
    main()
