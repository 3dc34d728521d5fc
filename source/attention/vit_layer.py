"""The weights of one layer of a vision transformer, under this course's names.

DINOv2's layers have these parts (Oquab et al. 2023: https://arxiv.org/abs/2304.07193). What is computed with them is not
here: exercises 5.2 and 5.3 ask for it.
"""

import torch
from torch import nn


class ViTLayer(nn.Module):
    """Weights without a `forward`: `norm_1`, `W_Q`, `W_K`, `W_V`, `W_O`, `scale_1`, then `norm_2`, `expand`, `contract`, `scale_2`.

    Every Linear has a bias. `scale_1` and `scale_2` are (d_model,), `expand` widens d_model to 4 · d_model.

    Raises:
        ValueError: d_model is no multiple of num_heads.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model = {d_model} is no multiple of num_heads = {num_heads}")
        self.num_heads = num_heads
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model, eps=1e-6), nn.LayerNorm(d_model, eps=1e-6)
        self.W_Q, self.W_K = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_V, self.W_O = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.expand, self.contract = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)
        self.scale_1, self.scale_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
