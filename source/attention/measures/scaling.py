"""What an attention costs: time and memory against the number of positions.

Figures have a white background of their own, so that they can be read on a dark page too.
"""

import os
from collections.abc import Callable, Mapping
from math import log
from time import process_time
from typing import NamedTuple

import matplotlib.pyplot as plt
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile


class Cost(NamedTuple):
    """What one call takes: time, and the most memory at once beyond what was there before."""

    seconds: float
    megabytes: float


def dense_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute attention step by step, with all n × n weights in memory."""
    return (query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).softmax(-1) @ value


def cost_of(attend: Callable[[Tensor, Tensor, Tensor], Tensor], n: int, width: int = 64) -> Cost:
    """Measure one attention on n positions without gradients: the processor's time, the best of three runs.

    What other programs do meanwhile hardly changes that time.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else PyTorch's profiler writes into the notebook
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(1, n, width, generator=generator) for _ in range(3))
    taken = []
    with torch.no_grad():
        for _ in range(3):
            began = process_time()
            attend(query, key, value)
            taken.append(process_time() - began)
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
            attend(query, key, value)
    alive = most = 0
    events = [event for event in seen.profiler.kineto_results.events() if event.name() == "[memory]"]
    for event in sorted(events, key=lambda event: event.start_ns()):
        alive += event.nbytes()
        most = max(most, alive)
    return Cost(min(taken), most / 1e6)


def slope(values: Mapping[int, float]) -> float:
    """Return the slope of log value over log n over the last four lengths or fewer: 1 is linear, 2 quadratic."""
    lengths = sorted(values)[-4:]
    x = torch.tensor([log(n) for n in lengths])
    y = torch.tensor([log(values[n]) for n in lengths])
    return (((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()).item()


def show_scaling(costs: Mapping[str, Mapping[int, Cost]]) -> None:
    """Time and memory against n, both axes logarithmic: the slope of each line in the legend, and slopes 1 and 2 to compare."""
    _, axes = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained", facecolor="white")
    styles = (("#d55e00", "o"), ("#0072b2", "s"), ("#009e73", "^"), ("#cc79a7", "D"))
    for ax, what, unit in zip(axes, Cost._fields, ("seconds", "megabytes"), strict=True):
        for (name, by_length), (colour, marker) in zip(costs.items(), styles, strict=False):
            values = {n: getattr(cost, what) for n, cost in by_length.items()}
            label = f"{name}: slope {slope(values):.1f}"
            ax.plot(list(values), list(values.values()), color=colour, marker=marker, markersize=5, label=label)
        ax.set(xscale="log", yscale="log", xlabel="positions n", ylabel=unit)
        ax.set_xticks(list(values), [f"{n:,}" for n in values], fontsize=9)
        ax.minorticks_off()
        ax.grid(color="0.9")
        first, last = min(values), max(values)
        low, high = ax.get_ylim()
        for steepness, dash in ((1, ":"), (2, "--")):
            start = low * (high / low) ** 0.03  # in the lower left corner
            end = start * (last / first) ** steepness
            ax.plot([first, last], [start, end], color="0.5", linestyle=dash, linewidth=1)
            ax.text(last, end, f" {steepness}", color="0.4", fontsize=8, va="center")
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2, frameon=False)
    axes[0].set_title("time of one call", fontsize=10)
    axes[1].set_title("memory at its peak", fontsize=10)
    plt.show()
