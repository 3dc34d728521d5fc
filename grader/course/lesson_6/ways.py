"""Exercises 6.10 to 6.12: concatenation, gated cross-attention and learned queries."""

from collections.abc import Mapping

import torch
from attention.image_into_text import ConcatenatedAttention, GatedCrossAttention, LearnedQueries
from attention.masks import causal_mask
from torch import Tensor

from grader.course.common.model_state import make_with_nan
from grader.declare.authoring import CheckSpec, Exercise, InputSampler, Value, sizes, written_exercise
from grader.declare.drawn import Sizes, drawn, drawn_layer, given, weights_of
from grader.declare.probes import as_module, as_tensor, learned, pair

LAYER = dict(d_model="d_model", num_heads="heads")
TOKENS = dict(text_tokens="* words d_model", image_tokens="* patches d_model")


def draw_word_mask(sampler: InputSampler, sizes: Sizes) -> Tensor | None:
    """Draw the mask of the words for the trial's kind, "causal" or "random". Return None without a kind."""
    words, kind = sizes["words"], sizes.get("mask")
    return sampler.mask(words, words) if kind == "random" else causal_mask(words) if kind == "causal" else None


draw_joined = drawn_layer(ConcatenatedAttention, LAYER, **TOKENS, mask=draw_word_mask)


def draw_open_gate(sampler: InputSampler, sizes: Sizes) -> Mapping[str, Tensor]:
    """Draw the weights of a GatedCrossAttention. The gate is between 0.6 and 1.6, so it is clearly open."""
    weights = weights_of(GatedCrossAttention, LAYER)(sampler, sizes)
    return {**weights, "gate": 0.6 + sampler.uniform(1, dtype=sizes.get("dtype", torch.float32))}


draw_gated = drawn_layer(draw_open_gate, LAYER, **TOKENS)

draw_queries = drawn_layer(LearnedQueries, dict(num_queries="queries", **LAYER), image_tokens="* patches d_model")

draw_new_gate = drawn(
    d_model=given("d_model"), num_heads=given("heads"), text_tokens="2 words d_model", image_tokens="2 patches d_model"
)

draw_new_queries = drawn(num_queries=given("queries"), d_model=given("d_model"), num_heads=given("heads"))


def new_gate(GatedCrossAttention, d_model: int, num_heads: int, text_tokens, image_tokens) -> Mapping[str, Value]:
    """Return the change that a new layer makes to its text, its parameters, and whether its gate can open."""
    layer = as_module(GatedCrossAttention(d_model, num_heads)).to(text_tokens.device)
    output, _ = pair(layer(text_tokens, image_tokens), ("tokens", "weights"))
    output, gate = as_tensor(output, "tokens"), learned(layer, ["gate"])["gate"]
    came = torch.autograd.grad(output.sum(), gate, allow_unused=True)[0] if output.requires_grad else None
    return {
        "change of the text": (output - text_tokens).detach(),
        "gate": gate.detach(),
        "a gradient reaches the gate": came is not None and bool(came.any()),
        "parameters": sorted(name for name, _ in layer.named_parameters()),
    }


def new_queries(LearnedQueries, num_queries: int, d_model: int, num_heads: int) -> Mapping[str, Value]:
    """Return the parameters of a new layer, and facts about its learned queries.

    They are the number of different queries, and whether the queries are normally distributed.
    """
    layer = as_module(make_with_nan(lambda: LearnedQueries(num_queries, d_model, num_heads)))
    queries = learned(layer, ["queries"])["queries"].detach().nan_to_num()
    different = len(torch.unique(queries, dim=0))
    return {
        "parameters": {name: list(value.shape) for name, value in sorted(layer.named_parameters())},
        "different queries": different,
        "from a normal distribution": looks_normal(queries) if different == num_queries else None,
    }


def looks_normal(numbers: Tensor) -> bool | None:
    """Return True if numbers may be from a normal distribution around 0, or None for fewer than 1,000 numbers.

    The fourth moment is 3 for a normal distribution, 2.4 for a normal distribution that is cut off
    at two standard deviations, and 1.8 for a uniform distribution. For 1,920 normally distributed
    numbers, it is usually far above the threshold 2.1: the distance is 8 standard errors.
    """
    if numbers.numel() < 1000:
        return None
    spread = numbers.std()
    fourth = ((numbers - numbers.mean()) / spread).pow(4).mean()
    return bool(numbers.mean().abs() < 0.2 * spread and fourth > 2.1)


CONCATENATION = written_exercise("6.10 Concatenation: the image is in front of the text", ConcatenatedAttention, (
    CheckSpec("values", 4, "one self-attention over the image, then the words; the image sees no word",
        examples=[sizes(words=2, patches=3, d_model=4, heads=1)],
        trials=[sizes(batch_shape=(2,), words=5, patches=3, d_model=6, heads=2),
            sizes(batch_shape=(3,), words=2, patches=7, d_model=6, heads=3)], map="weights"),
    CheckSpec("mask", 2, "the mask holds among the words",
        examples=[sizes(words=3, patches=2, d_model=4, heads=1, mask="causal")],
        trials=[sizes(batch_shape=(2,), words=5, patches=3, d_model=6, heads=2, mask="causal"),
            sizes(batch_shape=(2,), words=7, patches=5, d_model=6, heads=2, mask="random")]),
    CheckSpec("batch", 1, "with and without batch dimensions",
        trials=[sizes(words=5, patches=7, d_model=6, heads=2, mask="causal"),
            sizes(batch_shape=(2, 3), words=3, patches=5, d_model=4, heads=2, mask="causal"),
            sizes(batch_shape=(1,), words=1, patches=1, d_model=6, heads=3)]),
    CheckSpec("conduct", 2,
        trials=[sizes(batch_shape=(2,), words=3, patches=5, d_model=6, heads=2, mask="causal", dtype=torch.float64)]),
),
    draw=draw_joined, returns=("tokens", "weights"),
    difficulty=2, minutes=8, review="Concatenation: who may see whom?",
    mistakes="""
    words_first: The words are before the image here. Put the image's tokens first, then the words.
        = (lambda order: (result[0][..., order, :], result[1][..., order, :][..., order]))([*range(S, S + T),
          *range(S)])
    words_in_front: The words are in front, but the mask is made for the image in front. Put the image's tokens first.
        [image_tokens, text_tokens], -2  →  [text_tokens, image_tokens], -2
    mask_over_the_image: The mask of the words is at the front, in the place of the image. The words come last:
        allowed[S:, S:].
        allowed[S:, S:] = mask  →  allowed[:T, :T] = mask
    closed_only_with_a_mask: In your code the image sees the words if no mask is given. Hide the words' columns
        from the image's rows, with or without a mask.
        allowed[:S, S:] = False  →  allowed[:S, S:] = mask is None
    nothing_masked: Your code passes no mask to the attention, so the image sees the words. Pass your mask on:
        self.self_attn(…, mask=…).
        , mask=allowed  →
    image_sees_words: The image sees the words here. Hide the words' columns from the image's rows.
        allowed[:S, S:] = False  →  pass
    causal_over_everything: One causal mask covers everything, so a patch sees only the patches before it. Let all
        patches see all patches.
        mask=allowed  →  mask=torch.ones_like(allowed).tril()
    words_unmasked: The mask of the words hides nothing: put it into the lower right of the large one.
        + mask = None
    word_mask_inverted: The mask of the words is inverted. True means that a word may attend: use the mask without ~.
        allowed[S:, S:] = mask  →  allowed[S:, S:] = ~mask
    other_corner_closed: In your mask the words do not see the image, but the patches see the words. Hide the
        other corner: the words' columns in the patches' rows.
        allowed[:S, S:] = False  →  allowed[S:, :S] = False
    causal_and_the_word_mask: Your causal mask also covers the patches, so a patch sees only the patches before
        it. Let all patches see all patches.
        allowed[:S, S:] = False  →  allowed = allowed.tril(); allowed[S:, S:] = True
    words_blind: In your mask the words do not see the image. Set the image's columns to True in the words' rows.
        allowed[:S, S:] = False  →  allowed[:S, S:] = allowed[S:, :S] = False
    patches_blind: In your mask the image's rows are all False, so no patch sees another. Let all patches see all
        patches.
        allowed[:S, S:] = False  →  allowed[:S] = False
    only_the_words_corner_open: Your mask is True only in the corner of the words. Let the patches see all
        patches, and let the words see the image.
        allowed[:S, S:] = False  →  allowed[:S] = False; allowed[S:, :S] = False
    causal_without_a_mask: If no mask is passed in, each of your words sees only itself and the words before it.
        In this case, each word must see all words.
        + mask = torch.ones(2 * text_tokens.shape[-2:-1], dtype=torch.bool).tril() if mask is None else mask
    only_words_ask: You return only the words' tokens and the words' rows of the weights. Return those of the
        image, too.
        = result[0][..., S:, :], result[1][..., S:, :]
    joined_residual: Your layer adds the tokens to the output, which is the block's work. Return only the
        attention's output.
        = result[0] + torch.cat([image_tokens, text_tokens], -2), result[1]
""")  # fmt: skip

GATED = written_exercise("6.11 Gated cross-attention: a door that begins closed", GatedCrossAttention, (
    CheckSpec("values", 4, "text + tanh(gate) · what the words see",
        examples=[sizes(words=2, patches=3, d_model=4, heads=1)],
        trials=[sizes(batch_shape=(2,), words=5, patches=3, d_model=6, heads=2),
            sizes(batch_shape=(3,), words=2, patches=7, d_model=6, heads=3)], map="weights"),
    CheckSpec("closed", 2, "a new layer leaves the text as it is",
        examples=[sizes(words=2, patches=3, d_model=4, heads=1)],
        trials=[sizes(words=5, patches=3, d_model=6, heads=2)], draw=draw_new_gate, probe=new_gate),
    CheckSpec("batch", 1, "with and without batch dimensions",
        trials=[sizes(words=5, patches=7, d_model=6, heads=2),
            sizes(batch_shape=(2, 3), words=3, patches=5, d_model=4, heads=2),
            sizes(batch_shape=(1,), words=1, patches=1, d_model=6, heads=3)]),
    CheckSpec("conduct", 2,
        trials=[sizes(batch_shape=(2,), words=3, patches=5, d_model=6, heads=2, dtype=torch.float64)]),
),
    draw=draw_gated, returns=("tokens", "weights"),
    difficulty=2, minutes=8, review="Gated cross-attention: a door that begins closed",
    mistakes="""
    gate_without_tanh: The gate is used as it is. Put it through tanh, so that it stays between −1 and 1.
        torch.tanh(self.gate)  →  self.gate
    sigmoid_gate: sigmoid(0) is ½, so the gate begins half open. Use tanh instead: tanh(0) is 0.
        torch.tanh  →  torch.sigmoid
    tanh_of_what_is_seen: tanh is taken of what the words see. Take tanh of the gate.
        torch.tanh(self.gate) * seen  →  self.gate * torch.tanh(seen)
    gate_on_both: The gate also multiplies the text. Multiply only what the words see.
        text_tokens + torch.tanh(self.gate) * seen  →  torch.tanh(self.gate) * (text_tokens + seen)
    gate_mixes: In your code the text is scaled down as the gate opens. Leave the text as it is, and add to it.
        text_tokens + torch.tanh(self.gate) * seen
            →  (1 - torch.tanh(self.gate)) * text_tokens + torch.tanh(self.gate) * seen
    gate_without_residual (slip): There is no residual: the output of the cross-attention replaces the text. Add it to
        the text.
        return text_tokens +  →  return
    gate_unused: The output of the cross-attention is added whole, without the gate. Multiply it by tanh(gate).
        torch.tanh(self.gate) * seen  →  seen + 0 * self.gate
    gate_without_norm: The text is not normalised before the cross-attention. Let the cross-attention read
        norm(text).
        self.norm(text_tokens)  →  text_tokens + 0 * self.norm(text_tokens)
    gate_norms_image: The image tokens are normalised here. Use them as they are: the norm is only for the text.
        (self.norm(text_tokens), image_tokens)  →  (self.norm(text_tokens), self.norm(image_tokens))
    gate_adds_to_norm (slip): The residual starts from the normalised text. Start it from the text before the norm.
        return text_tokens +  →  return self.norm(text_tokens) +
    gate_begins_open: Your gate begins open. Let it begin at 0, so that a new layer changes nothing:
        torch.zeros(1).
        torch.zeros(1)  →  torch.ones(1)
    gate_begins_anywhere: Your gate begins at a random number. Let it begin at 0, so that a new layer changes
        nothing: torch.zeros(1).
        torch.zeros(1)  →  torch.randn(1)
    gate_closed_at_every_call: Your code sets the gate back to 0 in each call, so nothing of the image is added.
        Take tanh of the gate, and do not change the gate.
        torch.tanh(self.gate)  →  torch.tanh(nn.init.zeros_(self.gate))
    gate_fixed: Your gate never learns, because only an nn.Parameter learns. Make self.gate an nn.Parameter.
        self.gate = nn.Parameter(torch.zeros(1))  →  self.register_buffer("gate", torch.zeros(1))
    skipped_while_closed: Your code computes nothing while the gate is 0, so no gradient reaches it and it never
        opens. Do not treat 0 as a special case: always multiply by tanh(gate).
        = result if self.gate.any() else (text_tokens, None)
    gate_on_weights: The weights are multiplied by the gate. Return them as they are: each row sums to 1.
        = result[0], torch.tanh(self.gate) * result[1]
""")  # fmt: skip

QUERIES = written_exercise("6.12 Learned queries: a summary of the image", LearnedQueries, (
    CheckSpec("values", 4, "the queries ask the image; the norm of queries + what they see",
        examples=[sizes(queries=2, patches=3, d_model=4, heads=1)],
        trials=[sizes(batch_shape=(2,), queries=3, patches=5, d_model=6, heads=2),
            sizes(batch_shape=(3,), queries=5, patches=2, d_model=6, heads=3)], map="weights"),
    CheckSpec("parts", 2, "the queries are learned, and begin apart",
        examples=[sizes(queries=3, d_model=4, heads=2), sizes(queries=40, d_model=48, heads=2)],
        trials=[sizes(queries=5, d_model=6, heads=3), sizes(queries=42, d_model=45, heads=3)],
        draw=draw_new_queries, probe=new_queries),
    CheckSpec("batch", 1, "with and without batch dimensions",
        trials=[sizes(queries=5, patches=7, d_model=6, heads=2),
            sizes(batch_shape=(2, 3), queries=4, patches=5, d_model=6, heads=3),
            sizes(batch_shape=(1,), queries=1, patches=1, d_model=6, heads=3)]),
    CheckSpec("conduct", 2,
        trials=[sizes(batch_shape=(2,), queries=3, patches=5, d_model=6, heads=2, dtype=torch.float64)]),
),
    draw=draw_queries, returns=("summary", "weights"),
    difficulty=2, minutes=10, review="Learned queries: a summary for every question",
    mistakes="""
    image_asks_queries: The image asks and the queries answer. Pass the queries first; the image is the context.
        (queries, image_tokens)  →  (image_tokens, queries)
        self.norm(queries + seen)  →  self.norm(image_tokens + seen)
    queries_without_residual (slip): The queries are not added to what they saw, so the summary contains nothing of
        the queries themselves. Return norm(queries + seen).
        queries + seen  →  seen
    queries_without_norm: The norm is missing. Return norm(queries + seen).
        self.norm(queries + seen)  →  queries + seen + 0 * self.norm(seen)
    image_normalised_first: The image is normalised, but the sum is not. Use the image as it is, and take the norm of
        the sum: norm(queries + seen).
        (queries, image_tokens)  →  (queries, self.norm(image_tokens))
        self.norm(queries + seen)  →  queries + seen
    norm_before_asking: The queries are normalised before they ask. Leave them as they are, and take the norm last,
        after the addition.
        (queries, image_tokens)  →  (self.norm(queries), image_tokens)
        self.norm(queries + seen)  →  queries + seen
    norm_before_adding: Only what was seen is normalised. Add the queries first, then take the norm of the sum.
        self.norm(queries + seen)  →  queries + self.norm(seen)
    queries_see_themselves: The queries look at themselves. Pass the image tokens as the context.
        (queries, image_tokens)  →  (queries)
    queries_in_the_image: The queries are among the tokens that they look at. Pass only the image tokens as the context.
        (queries, image_tokens)  →  (queries, torch.cat([image_tokens, queries], -2))
    queries_alike: All queries begin alike, so all get the same gradient and stay alike. Draw each one: torch.randn.
        torch.randn(num_queries, d_model)
            →  torch.zeros(num_queries, d_model) + torch.randn(1, d_model).repeat(num_queries, 1)
    queries_uniform: The queries are not drawn from a normal distribution around 0. Draw them with torch.randn.
        torch.randn  →  torch.rand
    queries_fixed: Your queries never learn, because only an nn.Parameter learns. Make self.queries an
        nn.Parameter.
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
            →  self.register_buffer("queries", torch.randn(num_queries, d_model))
    summary_averaged: The summary is only one token, the mean. Return all K tokens.
        = result[0].mean(-2, keepdim=True), result[1]
    query_heads_averaged: The weights are averaged over the heads. Return the weights of every head.
        = result[0], result[1].mean(-3)
""")  # fmt: skip

WAYS: tuple[Exercise, ...] = (CONCATENATION, GATED, QUERIES)
