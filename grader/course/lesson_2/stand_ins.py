"""Stand-ins: working definitions that replace a failed answer. They use PyTorch's own functions where there are any.

The student's notebook defines them by `carry_on("2.4")`, and the grader runs them while it judges
later exercises. Each source runs by itself, with the names that the lesson imports.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


class TokenAligner(nn.Sequential):
    def __init__(self, d_vision, d_text, method="linear"):
        parts = [nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)]
        chosen = {"linear": parts[0], "mlp": nn.Sequential(*parts), "identity": nn.Identity()}[method]
        super().__init__()
        self.add_module("proj", chosen)


def explained_variance(tokens, aligned):
    from sklearn.linear_model import LinearRegression
    from sklearn.metrics import r2_score

    x, z = (side.detach().cpu().flatten(0, -2).numpy() for side in (tokens, aligned))
    return r2_score(x, LinearRegression().fit(z, x).predict(z), multioutput="variance_weighted")


def alignment_loss(aligned, words, labels, temperature=0.1):
    own = words[labels.flatten()]
    return F.cosine_embedding_loss(aligned.reshape(own.shape), own, torch.ones(len(own), device=own.device))


def split_heads(tokens, num_heads):
    return torch.stack(tokens.chunk(num_heads, dim=-1), dim=-3)


def merge_heads(heads):
    return torch.cat(heads.unbind(-3), dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        for name, width in zip("QKVO", (d_model, d_context or d_model, d_context or d_model, d_model), strict=True):
            setattr(self, f"W_{name}", nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        *lead, n, d_model = tokens.shape
        count, heads = context.shape[-2], self.num_heads
        mask = torch.ones(n, count, dtype=torch.bool, device=tokens.device) if mask is None else mask
        mask = mask.expand(*lead, n, count).reshape(-1, n, count)
        nowhere = ~mask.any(-1)  # PyTorch's own gives NaN there
        forbidden = ~(mask | nowhere.unsqueeze(-1)).repeat_interleave(heads, 0)  # and True means "may not" in it
        query, key = (side.reshape(-1, *side.shape[-2:]).transpose(0, 1) for side in (tokens, context))

        def attend(dropout):
            return F.multi_head_attention_forward(
                query,
                key,
                key,
                d_model,
                heads,
                None,
                None,
                None,
                None,
                False,
                dropout,
                self.W_O.weight,
                None,
                attn_mask=forbidden,
                use_separate_proj_weight=True,
                q_proj_weight=self.W_Q.weight,
                k_proj_weight=self.W_K.weight,
                v_proj_weight=self.W_V.weight,
                average_attn_weights=False,
            )

        output, weights = attend(0.0)
        output = attend(self.dropout)[0] if self.training and self.dropout else output
        output = output.transpose(0, 1).masked_fill(nowhere.unsqueeze(-1), 0)
        weights = weights.masked_fill(nowhere[:, None, :, None], 0)
        return output.reshape(*lead, n, d_model), weights.reshape(*lead, heads, n, count)


def attention_entropy(weights):
    return torch.distributions.Categorical(probs=weights).entropy() / math.log(weights.shape[-1])
