"""What several heads cost: time and memory beside PyTorch's own, in one run.

    python -m benchmarks.attention

With weights returned the measure is `nn.MultiheadAttention` (per head, not averaged); without, it is
`F.scaled_dot_product_attention` between the same four projections. Ours and theirs take turns, and each pair gives
one ratio; the median of the ratios is reported, so that a busy machine disturbs both sides alike. Memory is the
largest sum of live tensors that PyTorch's profiler saw, forward and backward.

The window's exponents: sliding-window attention at growing n and a fixed window; 1 is linear, dense attention is 2.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from statistics import median
from time import perf_counter

import torch
from attention.efficient import sliding_window_attention
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
    for size in SIZES:
        batch, n, d_model, heads = size
        tokens = torch.randn(batch, n, d_model)
        ours, theirs = pair_of_layers(d_model, heads)
        with_weights = (
            (lambda: ours(tokens)[0]),
            (lambda: theirs(tokens, tokens, tokens, average_attn_weights=False)[0]),
        )
        without = (lambda: ours(tokens, need_weights=False)[0]), (lambda: plain_sdpa(ours, tokens))
        times.append(time_ratio(*with_weights))
        memories.append(peak_bytes(with_weights[0]) / peak_bytes(with_weights[1]))
        fused.append(time_ratio(*without))
        rows.append(
            {"batch": batch, "tokens": n, "d_model": d_model, "heads": heads, "time / nn.MultiheadAttention": times[-1],
             "memory / nn.MultiheadAttention": memories[-1], "time / F.scaled_dot_product_attention": fused[-1]}
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


def plain_sdpa(layer: MultiHeadAttention, tokens: Tensor) -> Tensor:
    """The same layer written out around PyTorch's fused kernel, without anything that it does not need."""
    batch, n, d_model = tokens.shape
    query, key, value = (
        linear(tokens).view(batch, n, layer.num_heads, -1).transpose(1, 2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    heads = F.scaled_dot_product_attention(query, key, value)
    return layer.W_O(heads.transpose(1, 2).reshape(batch, n, d_model))


def step(forward: Callable[[], Tensor]) -> None:
    """Forward and backward, as in training."""
    forward().sum().backward()


def time_ratio(ours: Callable[[], Tensor], theirs: Callable[[], Tensor], rounds: int = ROUNDS) -> float:
    """The median of ours / theirs over pairs of runs that stand beside each other."""
    for forward in (ours, theirs, ours, theirs):
        step(forward)
    ratios = []
    for index in range(rounds):
        order = (ours, theirs) if index % 2 else (theirs, ours)
        taken = {}
        for forward in order:
            start = perf_counter()
            step(forward)
            taken[forward] = perf_counter() - start
        ratios.append(taken[ours] / taken[theirs])
    return median(ratios)


def peak_bytes(forward: Callable[[], Tensor]) -> int:
    """The most bytes of tensors alive at once during forward and backward, beyond what was there before."""
    step(forward)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        step(forward)
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
