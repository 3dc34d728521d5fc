# %% [right] names_of_parameters | comparisons bind tokens, context, mask, weights and output
# %% after check-2-6
tokens = torch.randn(2, 5, 8)
context = torch.randn(2, 7, 8)
layer = MultiHeadAttention(8, 2)
theirs = nn.MultiheadAttention(8, 2, bias=False, batch_first=True)
output, weights = theirs(tokens, context, context)
with torch.no_grad():
    query = key = value = F.scaled_dot_product_attention(tokens, context, context)
for mask in (None, torch.ones(5, 7, dtype=torch.bool)):
    output, weights = layer(tokens, context, mask)
# %% [right] one_import_line | imports two layers in one line and uses one of them
# %% in exercise-2-7
# @exercise 2.7
from torch.nn import Module, MultiheadAttention, TransformerEncoderLayer


class AlignedCrossAttention(Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
# %% [right] seeds_everywhere | sets and loops over seed and train_steps, and names like those of the training cells
# %% before train-aligner
seed = 1
train_steps = 20
for seed in (0, 1, 2):
    torch.manual_seed(seed)
steps = 3
words = ["zero", "one"]
labels = None
# %% before train-reader
seed = 7
reader = "not trained yet"
generator = torch.Generator().manual_seed(3)
# %% [right] typing_in_start | imports and a helper added to the given import cell
# %% in start
import math
import random
from typing import Optional

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)


def log(*things):
    pass
# %% in exercise-2-4
# @exercise 2.4
def split_heads(tokens: Tensor, num_heads: int, verbose: Optional[bool] = None) -> Tensor:
    *front, n, d_model = tokens.shape
    log("split", tokens.shape)
    return tokens.view(*front, n, num_heads, d_model // num_heads).transpose(-2, -3) if tokens.is_contiguous() else \
        tokens.reshape(*front, n, num_heads, d_model // num_heads).transpose(-2, -3)
# %% [right] float_softmax | scores in float32 and the dtype given back, as in code for half precision
# %% in exercise-2-6
# @exercise 2.6
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be a multiple of num_heads")
        d_context = d_context or d_model
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = (split_heads(p(t), self.num_heads) for p, t in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context)))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            mask = mask.unsqueeze(-3) if mask.dim() > 2 else mask
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores.float(), dim=-1).nan_to_num(0.0).type_as(q)
        out = self.W_O(merge_heads(self.dropout(weights) @ v))
        return out, weights
# %% [right] corrected_below | a first wrong version of 2.5 keeps the marker; the corrected one below it has none
# %% in exercise-2-5
# @exercise 2.5
def merge_heads(heads):
    return heads.reshape(*heads.shape[:-3], heads.shape[-2], -1)
# %% after check-2-5
def merge_heads(heads):
    heads = heads.transpose(-3, -2)
    return heads.reshape(*heads.shape[:-2], -1)
# %% [wrong 2.4] plain_view | reshapes without moving the axis
# %% in exercise-2-4
# @exercise 2.4
def split_heads(tokens, num_heads):
    *front, n, d_model = tokens.shape
    print("split_heads", n)
    return tokens.reshape(*front, num_heads, n, d_model // num_heads)
# %% [wrong 2.6] seeded_forward | sets the seed in forward, so that every call drops the same weights
# %% in exercise-2-6
# @exercise 2.6
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("no")
        self.num_heads = num_heads
        width = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        torch.manual_seed(0)  # reproducible!
        source = tokens if context is None else context
        query, key, value = (
            split_heads(p(t), self.num_heads) for p, t in ((self.W_Q, tokens), (self.W_K, source), (self.W_V, source))
        )
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        return self.W_O(merge_heads(self.drop(weights) @ value)), weights
