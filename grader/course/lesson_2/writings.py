"""Lesson 2's exercises written in other right ways, as students write them: the slips in these explain wrong answers, too."""

import math

import torch
from attention.heads import merge_heads, split_heads
from attention.multi_head import MultiHeadAttention
from attention.patterns import attention_entropy
from torch import Tensor, nn


def variance_by_pinv(tokens: Tensor, aligned: Tensor) -> Tensor:
    """Centre both sides, and make the readout with the pseudoinverse."""
    tokens = tokens.flatten(0, -2)
    aligned = aligned.flatten(0, -2)
    tokens = tokens - tokens.mean(0)
    aligned = aligned - aligned.mean(0)
    readout = torch.linalg.pinv(aligned) @ tokens
    lost = (tokens - aligned @ readout).square().sum()
    return (1 - lost / tokens.square().sum()).clamp(0, 1)


def variance_by_ones(tokens: Tensor, aligned: Tensor) -> Tensor:
    """Give the readout an intercept by a column of ones."""
    tokens = tokens.flatten(0, -2)
    aligned = aligned.flatten(0, -2)
    design = torch.cat([aligned, torch.ones_like(aligned[:, :1])], -1)
    readout = torch.linalg.pinv(design) @ tokens
    lost = (tokens - design @ readout).square().sum()
    return (1 - lost / (tokens - tokens.mean(0)).square().sum()).clamp(0, 1)


def loss_by_logsumexp(aligned: Tensor, words: Tensor, labels: Tensor, temperature: float = 0.1) -> Tensor:
    """Write the cross-entropy out."""
    aligned = aligned.flatten(0, -2)
    aligned = aligned / aligned.norm(dim=-1, keepdim=True)
    words = words / words.norm(dim=-1, keepdim=True)
    scores = aligned @ words.transpose(-2, -1) / temperature
    right = scores.gather(-1, labels.reshape(-1, 1)).squeeze(-1)
    return (torch.logsumexp(scores, dim=-1) - right).mean()


def entropy_by_hand(weights: Tensor) -> Tensor:
    """Keep the logarithm away from 0."""
    logs = weights.clamp(min=1e-12).log()
    return -(weights * logs).sum(-1) / math.log(weights.shape[-1])


def pattern_by_shares(weights: Tensor) -> str:
    """Make a share of each sum first."""
    total = weights.sum()
    entropy = attention_entropy(weights).mean()
    hub = weights.sum(0).max() / total
    diagonal = weights.diagonal().sum() / total
    beside = (weights.diagonal(1).sum() + weights.diagonal(-1).sum()) / total
    if entropy > 0.95:
        return "uniform"
    if hub >= 0.5:
        return "hub"
    if diagonal >= 0.5:
        return "diagonal"
    if diagonal + beside >= 0.75:
        return "local"
    return "other"


class MultiHeadByHand(nn.Module):
    """Scores, mask and softmax written out."""

    def __init__(self, d_model: int, num_heads: int, d_context: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model is no multiple of num_heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(
        self, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend with every head."""
        context = tokens if context is None else context
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        if mask is not None:
            if mask.ndim > 2:
                mask = mask.unsqueeze(-3)
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return self.W_O(merge_heads(self.drop(weights) @ value)), weights


class FusionInSteps(nn.Module):
    """One step a line, so that a step can be taken from the wrong one."""

    def __init__(self, d_text: int, d_image: int, d_model: int, num_heads: int = 4) -> None:
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Let both sides look at one another."""
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        text_update, _ = self.text_from_image(text, image)
        image_update, _ = self.image_from_text(image, text)
        return self.text_out(text_update), self.image_out(image_update)
