"""Wrong answers to exercises 4.15 to 4.17."""

from __future__ import annotations

import torch
from attention.fusion_ways import ConcatenatedAttention, GatedCrossAttention, LearnedQueries
from torch import Tensor, nn

from grader.declaration.exercise import mistake

# ---------------------------------------------------------------- 4.15


class _OwnMask(ConcatenatedAttention):
    """The right layer around the mask that `widen` makes."""

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        words = torch.ones(T, T, dtype=torch.bool, device=text_tokens.device) if mask is None else mask
        allowed = torch.zeros(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[S:, S:] = words
        return self.self_attn(torch.cat([image_tokens, text_tokens], -2), mask=self.widen(allowed, S))

    def widen(self, allowed: Tensor, S: int) -> Tensor:
        """Fill in who sees the image, and whom the image sees."""
        allowed[:, :S] = True
        return allowed


@mistake("ConcatenatedAttention", "The words stand in front here. Put the image's tokens first, then the words.")
class WordsFirst(ConcatenatedAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        tokens, weights = super().forward(text_tokens, image_tokens, mask)
        order = [*range(S, S + T), *range(S)]
        return tokens[..., order, :], weights[..., order, :][..., order]


@mistake("ConcatenatedAttention", "The image sees the words here: their columns are closed to the image's rows.")
class ImageSeesWords(_OwnMask):
    def widen(self, allowed, S):
        allowed[:, :S] = True
        allowed[:S] = True
        return allowed


@mistake(
    "ConcatenatedAttention",
    "One causal mask lies over everything, so a patch sees only the patches before it. All patches see all patches.",
)
class CausalOverEverything(ConcatenatedAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        both = torch.cat([image_tokens, text_tokens], -2)
        n = both.shape[-2]
        return self.self_attn(both, mask=torch.ones(n, n, dtype=torch.bool, device=both.device).tril())


@mistake("ConcatenatedAttention", "The mask of the words is not used: put it into the lower right of the large one.")
class WordsUnmasked(ConcatenatedAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return super().forward(text_tokens, image_tokens)


@mistake("ConcatenatedAttention", "The mask of the words is turned around. True = may attend: take it without ~.")
class WordMaskInverted(ConcatenatedAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return super().forward(text_tokens, image_tokens, None if mask is None else ~mask)


@mistake("ConcatenatedAttention", "The words do not see the image: open the image's columns to the words' rows.")
class WordsBlind(_OwnMask):
    def widen(self, allowed, S):
        allowed[:S, :S] = True
        return allowed


@mistake(
    "ConcatenatedAttention",
    "The image's rows are False from end to end, so no patch sees another. All patches see all patches.",
)
class PatchesBlind(_OwnMask):
    def widen(self, allowed, S):
        allowed[S:, :S] = True
        return allowed


@mistake(
    "ConcatenatedAttention", "Only the words ask here. The image's tokens take part, too: return the tokens of both."
)
class OnlyWordsAsk(ConcatenatedAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        S = image_tokens.shape[-2]
        tokens, weights = super().forward(text_tokens, image_tokens, mask)
        return tokens[..., S:, :], weights[..., S:, :]


@mistake(
    "ConcatenatedAttention", "The tokens are added to the output. The block adds them: return the attention's output."
)
class JoinedResidual(ConcatenatedAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        tokens, weights = super().forward(text_tokens, image_tokens, mask)
        return tokens + torch.cat([image_tokens, text_tokens], -2), weights


# ---------------------------------------------------------------- 4.16


class _GateSteps(GatedCrossAttention):
    """The right layer, with a method for each step; the wrong answers override some of them."""

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.look(text_tokens, image_tokens)
        return self.let_in(text_tokens, seen), weights

    def look(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        return self.cross_attn(self.norm(text_tokens), image_tokens)

    def let_in(self, text_tokens: Tensor, seen: Tensor) -> Tensor:
        return text_tokens + torch.tanh(self.gate) * seen


@mistake("GatedCrossAttention", "The gate is used as it is. Put it through tanh, so that it stays between −1 and 1.")
class GateWithoutTanh(_GateSteps):
    def let_in(self, text_tokens, seen):
        return text_tokens + self.gate * seen


@mistake("GatedCrossAttention", "This gate is ½ where tanh is 0, so it begins half open. Put it through tanh.")
class SigmoidGate(_GateSteps):
    def let_in(self, text_tokens, seen):
        return text_tokens + torch.sigmoid(self.gate) * seen


@mistake(
    "GatedCrossAttention", "The gate closes on the text, too. It stands before what the words see, and only there."
)
class GateOnBoth(_GateSteps):
    def let_in(self, text_tokens, seen):
        return torch.tanh(self.gate) * (text_tokens + seen)


@mistake("GatedCrossAttention", "The text gets less as the gate opens. Add to the text; do not mix.")
class GateMixes(_GateSteps):
    def let_in(self, text_tokens, seen):
        gate = torch.tanh(self.gate)
        return (1 - gate) * text_tokens + gate * seen


@mistake("GatedCrossAttention", "There is no residual: what is seen replaces the text. Add it to the text.")
class GateWithoutResidual(_GateSteps):
    def let_in(self, text_tokens, seen):
        return torch.tanh(self.gate) * seen


@mistake("GatedCrossAttention", "The gate is not used: what is seen comes in whole.")
class GateUnused(_GateSteps):
    def let_in(self, text_tokens, seen):
        return text_tokens + seen + 0 * self.gate


@mistake("GatedCrossAttention", "The words ask without a norm: the cross-attention reads norm(text).")
class GateWithoutNorm(_GateSteps):
    def look(self, text_tokens, image_tokens):
        return self.cross_attn(text_tokens + 0 * self.norm(text_tokens), image_tokens)


@mistake("GatedCrossAttention", "The image tokens are normalised here. Take them as they come; the norm is the text's.")
class GateNormsImage(_GateSteps):
    def look(self, text_tokens, image_tokens):
        return self.cross_attn(self.norm(text_tokens), self.norm(image_tokens))


@mistake("GatedCrossAttention", "The residual carries the normalised text. Add to the text as it was before the norm.")
class GateAddsToNorm(_GateSteps):
    def let_in(self, text_tokens, seen):
        return self.norm(text_tokens) + torch.tanh(self.gate) * seen


@mistake("GatedCrossAttention", "The gate begins open. At 0 a new layer changes nothing: torch.zeros(1).")
class GateBeginsOpen(GatedCrossAttention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        nn.init.ones_(self.gate)


@mistake("GatedCrossAttention", "The gate never learns. Only an nn.Parameter does: make self.gate one.")
class GateFixed(GatedCrossAttention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        del self.gate
        self.register_buffer("gate", torch.zeros(1))


@mistake("GatedCrossAttention", "The weights are multiplied by the gate. Return them as they are: each row sums to 1.")
class GateOnWeights(GatedCrossAttention):
    def forward(self, text_tokens, image_tokens):
        tokens, weights = super().forward(text_tokens, image_tokens)
        return tokens, torch.tanh(self.gate) * weights


# ---------------------------------------------------------------- 4.17


class _QuerySteps(LearnedQueries):
    """The right layer, with a method for each step; the wrong answers override some of them."""

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.look(queries, image_tokens)
        return self.sum_up(queries, seen), weights

    def look(self, queries: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        return self.cross_attn(queries, image_tokens)

    def sum_up(self, queries: Tensor, seen: Tensor) -> Tensor:
        return self.norm(queries + seen)


@mistake("LearnedQueries", "The image asks and the queries answer. The queries come first, the image is the context.")
class ImageAsksQueries(_QuerySteps):
    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(image_tokens, queries)
        return self.norm(image_tokens + seen), weights


@mistake("LearnedQueries", "The queries are not added: without them the summary does not say who looked.")
class QueriesWithoutResidual(_QuerySteps):
    def sum_up(self, queries, seen):
        return self.norm(seen)


@mistake("LearnedQueries", "The norm is missing. Return norm(queries + seen).")
class QueriesWithoutNorm(_QuerySteps):
    def sum_up(self, queries, seen):
        return queries + seen + 0 * self.norm(seen)


@mistake("LearnedQueries", "The queries are normalised before they ask. Here the norm comes last, after the addition.")
class NormBeforeAsking(_QuerySteps):
    def look(self, queries, image_tokens):
        return self.cross_attn(self.norm(queries), image_tokens)

    def sum_up(self, queries, seen):
        return queries + seen


@mistake("LearnedQueries", "Only what was seen is normalised. Add the queries first, then take the norm of the sum.")
class NormBeforeAdding(_QuerySteps):
    def sum_up(self, queries, seen):
        return queries + self.norm(seen)


@mistake("LearnedQueries", "The queries look at themselves. Hand the image tokens on as the context.")
class QueriesSeeThemselves(_QuerySteps):
    def look(self, queries, image_tokens):
        return self.cross_attn(queries)


@mistake("LearnedQueries", "The queries are among the tokens that they look at. The image alone answers.")
class QueriesInTheImage(_QuerySteps):
    def look(self, queries, image_tokens):
        return self.cross_attn(queries, torch.cat([image_tokens, queries], -2))


@mistake(
    "LearnedQueries", "All queries begin alike. Then all get the same gradient and stay alike: begin with torch.randn."
)
class QueriesAlike(LearnedQueries):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__(num_queries, d_model, num_heads)
        nn.init.zeros_(self.queries)


@mistake(
    "LearnedQueries", "The queries come from another distribution than the normal one: torch.randn, not torch.rand."
)
class QueriesUniform(LearnedQueries):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__(num_queries, d_model, num_heads)
        nn.init.uniform_(self.queries)


@mistake("LearnedQueries", "The queries never learn. Only an nn.Parameter does: make self.queries one.")
class QueriesFixed(LearnedQueries):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__(num_queries, d_model, num_heads)
        fixed = self.queries.detach()
        del self.queries
        self.register_buffer("queries", fixed)


@mistake("LearnedQueries", "The summary is one token, the mean. Hand on all K of them.")
class SummaryAveraged(LearnedQueries):
    def forward(self, image_tokens):
        summary, weights = super().forward(image_tokens)
        return summary.mean(-2, keepdim=True), weights


@mistake("LearnedQueries", "The weights are averaged over the heads. Return those of every head.")
class QueryHeadsAveraged(LearnedQueries):
    def forward(self, image_tokens):
        summary, weights = super().forward(image_tokens)
        return summary, weights.mean(-3)
