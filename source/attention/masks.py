"""Masks: who may attend to whom. bool, True = may attend.

The meaning is that of `torch.nn.functional.scaled_dot_product_attention`. `nn.MultiheadAttention` means the
opposite: there, True in a bool mask forbids.
"""

import torch
from torch import Tensor


def causal_mask(n: int, device: torch.device | str | None = None) -> Tensor:
    """Position i may attend to positions 0…i: (n, n) bool, the diagonal included.

    Vaswani et al. 2017, section 3.2.3: https://arxiv.org/abs/1706.03762
    """
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


def padding_mask(lengths: Tensor, n: int) -> Tensor:
    """Every query may attend to the first lengths[b] keys of its sequence.

    Args:
        lengths: (B,) integers of 0…n.
        n: number of key positions.

    Returns:
        (B, 1, n) bool on the device of lengths; the middle axis broadcasts over the queries.
    """
    return (torch.arange(n, device=lengths.device) < lengths.unsqueeze(-1)).unsqueeze(-2)
