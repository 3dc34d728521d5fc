"""The recognised mistakes of exercise 2.6: multi-head attention with one of its steps wrong."""

from __future__ import annotations

from math import sqrt

import torch
from attention.heads import merge_heads, split_heads
from attention.multi_head import MultiHeadAttention
from torch import Tensor
from torch.nn import functional as F

from grader.course.lesson_2.heads import (
    every_other_feature,
    flatten_without_transpose,
    interleaved,
    reshape_without_transpose,
)
from grader.declaration.exercise import mistake


class Steps(MultiHeadAttention):
    """Right multi-head attention, a method for each step; the wrong answers below override some."""

    def project(self, tokens: Tensor, context: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.W_Q(tokens), self.W_K(context), self.W_V(context)

    def split(self, tokens: Tensor) -> Tensor:
        """Split queries, keys or values into heads."""
        return split_heads(tokens, self.num_heads)

    def scale(self, scores: Tensor, d_head: int) -> Tensor:
        return scores / sqrt(d_head)

    def for_all_heads(self, mask: Tensor) -> Tensor:
        """Give the mask an axis for the heads."""
        return mask.unsqueeze(-3)

    def weigh(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Apply mask and softmax; a query that may attend nowhere gets zeros."""
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()

    def drop(self, weights: Tensor) -> Tensor:
        """Apply dropout to the weights."""
        return F.dropout(weights, self.dropout, self.training)

    def merge(self, heads: Tensor) -> Tensor:
        return merge_heads(heads)

    def project_out(self, merged: Tensor) -> Tensor:
        return self.W_O(merged)

    def give_back(self, output: Tensor, weights: Tensor, dropped: Tensor) -> tuple[Tensor, Tensor]:
        """Choose what `forward` returns: the output, and the weights from before dropout."""
        return output, weights

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = (self.split(part) for part in self.project(tokens, context))
        scores = self.scale(query @ key.transpose(-2, -1), query.shape[-1])
        mask = None if mask is None else self.for_all_heads(mask)
        weights = self.weigh(scores, mask)
        dropped = self.drop(weights)
        return self.give_back(self.project_out(self.merge(dropped @ value)), weights, dropped)


@mistake(
    "MultiHeadAttention",
    "The scores are divided by the root of d_model. Each head works on d_head numbers: divide by √d_head.",
    name="scaled_by_d_model",
)
class HeadsScaledByDModel(Steps):
    def scale(self, scores, d_head):
        return scores / sqrt(d_head * self.num_heads)


@mistake("MultiHeadAttention", "The scores are not scaled. Divide them by √d_head.")
class Unscaled(Steps):
    def scale(self, scores, d_head):
        return scores


@mistake("MultiHeadAttention", "The heads' answers are joined but not mixed. W_O comes last.")
class NoOutputProjection(Steps):
    def project_out(self, merged):
        return merged


@mistake(
    "MultiHeadAttention",
    "Keys and values have changed places: weights come from W_K, what is brought back from W_V.",
)
class KeysAndValuesSwapped(Steps):
    def project(self, tokens, context):
        return self.W_Q(tokens), self.W_V(context), self.W_K(context)


@mistake(
    "MultiHeadAttention",
    "Queries and keys have changed places: the tokens ask with W_Q, the context answers with W_K.",
)
class QueriesAndKeysSwapped(Steps):
    def project(self, tokens, context):
        return self.W_K(tokens), self.W_Q(context), self.W_V(context)


@mistake("MultiHeadAttention", "The context is not looked at. With a context, keys and values come from it.")
class ContextIgnored(Steps):
    def forward(self, tokens, context=None, mask=None):
        return super().forward(tokens, None, mask)


@mistake(
    "MultiHeadAttention",
    "The values come from the tokens that ask. They describe the context, as the keys do.",
)
class ValuesFromTokens(Steps):
    def project(self, tokens, context):
        return self.W_Q(tokens), self.W_K(context), self.W_V(tokens)


@mistake(
    "MultiHeadAttention",
    "The heads mix the numbers of different tokens: a reshape alone is not a split. Use your split_heads.",
)
class ReshapedIntoHeads(Steps):
    def split(self, tokens):
        return reshape_without_transpose(tokens, self.num_heads)


@mistake("MultiHeadAttention", "The heads' answers are joined in the wrong order. Use your merge_heads.")
class MergedWithoutTranspose(Steps):
    def merge(self, heads):
        return flatten_without_transpose(heads)


@mistake(
    "MultiHeadAttention", "Each head takes d_head numbers that stand side by side. Use your split_heads."
)
class InterleavedHeads(Steps):
    def split(self, tokens):
        return every_other_feature(tokens, self.num_heads)

    def merge(self, heads):
        return interleaved(heads)


@mistake(
    "MultiHeadAttention",
    "There is one big head here: split queries, keys and values before you compare them.",
)
class OneBigHead(Steps):
    def split(self, tokens):
        return tokens.unsqueeze(-3)


@mistake(
    "MultiHeadAttention",
    "The softmax runs over the queries. Each query spreads its attention over the keys: dim=-1.",
)
class SoftmaxOverQueries(Steps):
    def weigh(self, scores, mask):
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(-2).nan_to_num()


@mistake(
    "MultiHeadAttention",
    "The softmax runs over the heads. Each head spreads its own attention over the keys: dim=-1.",
)
class SoftmaxOverHeads(Steps):
    def weigh(self, scores, mask):
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(-3).nan_to_num()


@mistake("MultiHeadAttention", "The weights of the heads were averaged. Return one map for each head.")
class AveragedWeights(Steps):
    def give_back(self, output, weights, dropped):
        return output, weights.mean(-3)


@mistake("MultiHeadAttention", "The mask is inverted: True means may attend.", name="mask_inverted")
class HeadMaskInverted(Steps):
    def for_all_heads(self, mask):
        return ~mask.unsqueeze(-3)


@mistake("MultiHeadAttention", "The mask is not used.")
class MaskIgnored(Steps):
    def forward(self, tokens, context=None, mask=None):
        return super().forward(tokens, context, None)


@mistake(
    "MultiHeadAttention",
    "The mask is applied after the softmax, so the weights no longer sum to 1. Set the scores to −∞ before it.",
)
class MaskAfterSoftmax(Steps):
    def weigh(self, scores, mask):
        return scores.softmax(-1) if mask is None else scores.softmax(-1) * mask


@mistake(
    "MultiHeadAttention",
    "The head axis was put into the mask counted from the front. Count from the end: mask.unsqueeze(-3).",
)
class MaskAxisFromTheFront(Steps):
    def for_all_heads(self, mask):
        return mask.unsqueeze(1) if mask.ndim > 2 else mask


@mistake(
    "MultiHeadAttention",
    "A mask of each batch meets the axis of the heads. Give it a head axis: mask.unsqueeze(-3).",
)
class MaskWithoutHeadAxis(Steps):
    def for_all_heads(self, mask):
        return mask


@mistake(
    "MultiHeadAttention", "A query that may attend nowhere gets NaN: 0 divided by 0. Set its weights to 0."
)
class NanRows(Steps):
    def weigh(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1)


@mistake(
    "MultiHeadAttention",
    "A query that may attend nowhere still attends, to all keys alike. Set its weights to 0.",
)
class LargeNegativeScores(Steps):
    def weigh(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(-1)


@mistake(
    "MultiHeadAttention",
    "Dropout acts on the weights on their way to the values; return those from before it.",
)
class DroppedWeightsReturned(Steps):
    def give_back(self, output, weights, dropped):
        return output, dropped


@mistake("MultiHeadAttention", "Dropout is never applied. In training mode some weights are dropped.")
class NoDropout(Steps):
    def drop(self, weights):
        return weights


@mistake(
    "MultiHeadAttention",
    "Dropout goes on in evaluation mode. Let nn.Dropout do it, or hand self.training to F.dropout.",
)
class DropoutAlways(Steps):
    def drop(self, weights):
        return F.dropout(weights, self.dropout)


@mistake("MultiHeadAttention", "Dropout acts on the output here. It belongs on the weights.")
class DropoutOnOutput(Steps):
    def drop(self, weights):
        return weights

    def project_out(self, merged):
        return F.dropout(self.W_O(merged), self.dropout, self.training)


@mistake(
    "MultiHeadAttention",
    "Dropout acts on what the heads bring back, after weights and values were multiplied. It belongs on the weights, before that.",
)
class DropoutOnHeads(Steps):
    def drop(self, weights):
        return weights

    def merge(self, heads):
        return merge_heads(F.dropout(heads, self.dropout, self.training))


@mistake(
    "MultiHeadAttention", "Dropout comes before the softmax here, on the scores. It belongs on the weights."
)
class DropoutOnScores(Steps):
    def drop(self, weights):
        return weights

    def weigh(self, scores, mask):
        return super().weigh(F.dropout(scores, self.dropout, self.training), mask)


@mistake(
    "MultiHeadAttention",
    "Seven numbers cannot be shared out among two heads. Raise a ValueError with both sizes.",
)
class AnyWidth(Steps):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__(d_model, num_heads if d_model % num_heads == 0 else 1, d_context, dropout)


@mistake(
    "MultiHeadAttention", "An assert disappears under python -O and says little. Raise a ValueError instead."
)
class AssertsTheWidth(Steps):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        assert d_model % num_heads == 0
        super().__init__(d_model, num_heads, d_context, dropout)
