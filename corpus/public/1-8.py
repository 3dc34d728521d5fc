# %% [right] einsum_and_max_neg_value | einsum 'i d, j d', ~mask with the largest negative number, after CompVis/stable-diffusion (ldm/modules/attention.py)
def _max_neg_value(t):
    return -torch.finfo(t.dtype).max


class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.scale = d_k**-0.5
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(text_tokens)
        k = self.W_K(image_tokens)
        v = self.W_V(image_tokens)
        sim = torch.einsum("...id,...jd->...ij", q, k) * self.scale
        if mask is not None:
            sim = sim.masked_fill(~mask, _max_neg_value(sim))
        attn = sim.softmax(dim=-1)
        if mask is not None:
            attn = attn * mask
        return torch.einsum("...ij,...jd->...id", attn, v), attn


# %% [right] kv_from_one_joined_product | keys and values from one F.linear with joined weights, chunk(2), after lucidrains/perceiver-pytorch (to_kv)
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(text_tokens)
        to_kv = torch.cat((self.W_K.weight, self.W_V.weight))
        k, v = F.linear(image_tokens, to_kv).chunk(2, dim=-1)
        return masked_attention(q, k, v, mask)


# %% [right] query_scaled_in_place_and_float_mask | q *= scaling, a float mask added, after facebookresearch/fairseq (MultiheadAttention)
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.scaling = d_k**-0.5
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.xavier_uniform_(self.W_Q.weight, gain=1 / math.sqrt(2))
        nn.init.xavier_uniform_(self.W_K.weight, gain=1 / math.sqrt(2))
        nn.init.xavier_uniform_(self.W_V.weight, gain=1 / math.sqrt(2))

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(text_tokens)
        q = q * self.scaling
        k, v = self.W_K(image_tokens), self.W_V(image_tokens)
        attn_weights = torch.matmul(q, k.transpose(-2, -1))
        if mask is not None:
            closed = ~mask
            attn_weights = attn_weights + torch.zeros_like(closed, dtype=q.dtype).masked_fill(closed, -1e8)
        attn_weights = F.softmax(attn_weights, dim=-1).type_as(attn_weights)
        if mask is not None:
            attn_weights = attn_weights.masked_fill(closed, 0)
        return torch.matmul(attn_weights, v), attn_weights


# %% [right] probs_kept_as_attribute | the map is also kept on the module, hidden scores set to -10000, after salesforce/BLIP (save_attention_map) (unsure: scores below -10,000)
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)
        self.attention_map = None

    def forward(self, text_tokens, image_tokens, mask=None):
        query_layer = self.W_Q(text_tokens)
        key_layer = self.W_K(image_tokens)
        value_layer = self.W_V(image_tokens)
        attention_scores_ = torch.matmul(query_layer, key_layer.transpose(-1, -2)) / math.sqrt(query_layer.size(-1))
        if mask is not None:
            attention_scores_ = attention_scores_.masked_fill(~mask, -10000.0)
        attention_probs = nn.Softmax(dim=-1)(attention_scores_)
        if mask is not None:
            attention_probs = torch.where(mask, attention_probs, attention_probs.new_zeros(()))
        self.attention_map = attention_probs.detach()
        return torch.matmul(attention_probs, value_layer), attention_probs


# %% [right] setattr_in_a_loop | layers made in a loop over names and widths, after config driven code
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        for name, width in zip(("W_Q", "W_K", "W_V"), (d_text, d_image, d_image)):
            setattr(self, name, nn.Linear(in_features=width, out_features=d_k, bias=False))

    def forward(self, text_tokens, image_tokens, mask=None):
        scores = self.W_Q(text_tokens) @ self.W_K(image_tokens).mT
        scores = scores / self.W_Q.out_features**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
            weights = scores.softmax(-1).masked_fill(~mask.any(-1, keepdim=True), 0.0)
        else:
            weights = scores.softmax(-1)
        return weights @ self.W_V(image_tokens), weights


# %% [right] subclass_of_a_base_layer | a base class with the attention, the cross layer only makes the projections, after PaddlePaddle/huggingface style class hierarchies
class _Attention(nn.Module):
    def attend(self, query, key, value, mask):
        scores = torch.matmul(query, key.transpose(-2, -1)).mul(query.size(-1) ** -0.5)
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            top = scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True)
            raised = torch.exp(scores - top).masked_fill(~mask, 0.0)
            total = raised.sum(-1, keepdim=True)
            weights = raised / torch.where(total == 0, torch.ones_like(total), total)
        return weights @ value, weights


class CrossAttention(_Attention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.attend(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)


# %% [right] context_default_and_projection_helpers | separate project methods, key mask shaped by hand, after lucidrains/x-transformers and HF Q-Former
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.d_k = d_k
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def _project(self, text_tokens, image_tokens):
        return self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens)

    def _weights(self, q, k, mask):
        raw = torch.matmul(q, torch.transpose(k, -2, -1)) / np.sqrt(self.d_k).item()
        if mask is None:
            return torch.softmax(raw, dim=-1)
        raw = torch.masked_fill(raw, ~mask, -9e15)
        return torch.softmax(raw, dim=-1) * mask.any(dim=-1, keepdim=True)

    def forward(self, text_tokens, image_tokens, mask=None):
        q, k, v = self._project(text_tokens, image_tokens)
        w = self._weights(q, k, mask)
        return torch.matmul(w, v), w


# %% [right] keys_and_queries_swapped_softmax_axis | image by text scores, softmax over the image axis, transposed, after SCAN image-text matching (kuanghuei/SCAN func_attention)
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        queryT = self.W_Q(text_tokens).transpose(-2, -1)  # (..., d_k, T)
        attn = torch.matmul(self.W_K(image_tokens), queryT) * queryT.shape[-2] ** -0.5  # (..., S, T)
        if mask is not None:
            attn = attn.masked_fill(~mask.transpose(-2, -1), -1e9)
        attn = F.softmax(attn, dim=-2).transpose(-2, -1)
        if mask is not None:
            attn = attn.masked_fill(~mask, 0.0)
        weightedContext = torch.matmul(attn, self.W_V(image_tokens))
        return weightedContext, attn


# %% [right] typing_optional_and_own_imports | imports repeated in the cell, Optional and Tuple annotations, softmax through float32 only for half types, after typed repositories (ESM, esm/multihead_attention style)
from typing import Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class CrossAttention(nn.Module):
    """Queries from the text, keys and values from the image."""

    def __init__(self, d_text: int, d_image: int, d_k: int) -> None:
        super().__init__()
        self.scale: float = d_k**-0.5
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(
        self,
        text_tokens: torch.Tensor,
        image_tokens: torch.Tensor,
        mask: Optional[torch.Tensor] = None,
    ) -> Tuple[torch.Tensor, torch.Tensor]:
        q = self.W_Q(text_tokens)
        k = self.W_K(image_tokens)
        v = self.W_V(image_tokens)
        logits: torch.Tensor = torch.einsum("...td,...sd->...ts", q, k) * self.scale
        if mask is not None:
            assert mask.dtype == torch.bool, "the mask has to be bool"
            logits = logits.masked_fill(torch.logical_not(mask), torch.finfo(logits.dtype).min)
        if logits.dtype in (torch.float16, torch.bfloat16):
            attn = F.softmax(logits.float(), dim=-1).to(logits.dtype)
        else:
            attn = F.softmax(logits, dim=-1)
        if mask is not None:
            attn = attn.masked_fill(torch.logical_not(mask), 0.0)
        return torch.einsum("...ts,...sd->...td", attn, v), attn
