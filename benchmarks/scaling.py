"""What four attentions cost as sequences grow, the figure of lesson 3's practice: python -m benchmarks.scaling.

Slopes of time and of memory at its peak over log n, for 512 to 4,096 positions. The time is the processor's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from attention.efficient import linear_attention, sliding_window_attention
from attention.measures.scaling import Cost, cost_of, dense_attention, slope
from torch import Tensor
from torch.nn import functional as F

from benchmarks import publish

LENGTHS = (512, 1024, 2048, 4096)
WINDOW = 64
ATTENTIONS: Mapping[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "dense": dense_attention,
    "window": lambda query, key, value: sliding_window_attention(query, key, value, WINDOW),
    "linear": linear_attention,
    "fused": lambda *tensors: F.scaled_dot_product_attention(*(tensor[None] for tensor in tensors)),
}


def main() -> None:
    """Measure each attention at each length, and print the slopes."""
    torch.set_num_threads(1)
    costs = {name: {n: cost_of(attend, n) for n in LENGTHS} for name, attend in ATTENTIONS.items()}
    slopes = {
        name: {
            what: round(slope({n: getattr(cost, what) for n, cost in by_length.items()}), 2) for what in Cost._fields
        }
        for name, by_length in costs.items()
    }
    rows = [
        {"attention": name, "positions": n, **cost._asdict()}
        for name, by_length in costs.items()
        for n, cost in by_length.items()
    ]
    publish("scaling", slopes, rows)


if __name__ == "__main__":
    main()
