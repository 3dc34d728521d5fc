"""Stand-ins: working definitions that replace a failed answer. They use PyTorch's own functions where there are any.

The student's notebook defines them by `carry_on("3.3")`, and the grader runs them while it judges
later exercises. Each source runs by itself, with the names that the lesson imports.
"""

import torch
from attention.multi_head import MultiHeadAttention
from torch import nn
from torch.nn import functional as F


def patchify(images, patch_size):
    return F.unfold(images.unsqueeze(1), patch_size, stride=patch_size).transpose(1, 2)


class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens):
        return tokens + F.embedding(torch.arange(tokens.shape[-2], device=tokens.device), self.embedding)


class VisionLanguageBlock(nn.TransformerDecoderLayer):  # PyTorch's own block, with lesson 2's attention plugged in
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__(d_model, num_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=True)
        self.self_attn, self.multihead_attn = MultiHeadAttention(d_model, num_heads), None
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm2 = self.norm2 if cross else nn.Identity()
        self.ffn, self.linear1, self.linear2 = nn.Sequential(self.linear1, nn.GELU(), self.linear2), None, None

    def _ff_block(self, tokens):
        return self.ffn(tokens)

    def _sa_block(self, tokens, *rest, **more):
        return self.self_attn(tokens, mask=self.mask)[0]

    def _mha_block(self, tokens, image_tokens, *rest, **more):
        if self.cross_attn is None:
            return torch.zeros_like(tokens)
        output, self.weights = self.cross_attn(tokens, image_tokens)
        return output

    def forward(self, text_tokens, image_tokens, mask=None):
        self.mask, self.weights = mask, None
        return super().forward(text_tokens, image_tokens), self.weights


def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    following = torch.cat([token_ids[:, 1:], torch.full_like(token_ids[:, :1], pad_id)], 1)
    place = torch.arange(token_ids.shape[1], device=token_ids.device)
    answers = (following != pad_id) & (place >= prompt_lengths[:, None] - 1)
    answers[:, -1] = False
    return torch.where(answers, following, ignore_index)
