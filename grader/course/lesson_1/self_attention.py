"""Exercise 1.7 SelfAttention: queries, keys and values are made from the same tokens."""

from collections.abc import Mapping

import torch
from attention.single_head import SelfAttention

from grader.course.lesson_1 import stand_ins
from grader.course.lesson_1.layers import draw_layer_sizes, layer_edits, layer_parameters, mask_first, projections
from grader.declare.authoring import CheckSpec, Value, drawn_layer, sizes, written_exercise
from grader.declare.probes import load_alone, named, pair

SELF_WEIGHTS = projections(W_Q="d_model", W_K="d_model", W_V="d_model")
draw_self_attention = mask_first(
    drawn_layer(SELF_WEIGHTS, dict(d_model="d_model", d_k="d_k"), tokens="* tokens d_model"), "tokens", "tokens"
)


def attend_with_mask_and_without(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> Mapping[str, Value]:
    """Return the results of a layer for its arguments, and its output for a second call without the mask."""
    layer = load_alone(layer_class(*sizes.values()), weights)
    seen = named(layer(*arguments.values()), returns)
    return {**seen, "output of a second call, without a mask": pair(layer(arguments["tokens"]))[0]}


SELF_ATTENTION = written_exercise("1.7 Self-attention", SelfAttention, (
    CheckSpec("values", 6, "tokens ask, and the same tokens answer", examples=[sizes(tokens=3, d_model=4, d_k=2)],
        trials=[sizes(tokens=5, d_model=7, d_k=3), sizes(tokens=7, d_model=3, d_k=11)], map="weights"),
    CheckSpec("mask", 3, "the mask is obeyed", examples=[sizes(tokens=3, d_model=4, d_k=2, mask="causal")],
        trials=[sizes(tokens=7, d_model=5, d_k=3, mask="causal"),
            sizes(batch_shape=(3,), tokens=5, d_model=7, d_k=2, mask="padding"),
            sizes(batch_shape=(2,), tokens=5, d_model=3, d_k=7, mask="each")],
        map="weights", probe=attend_with_mask_and_without),
    CheckSpec("nowhere", 1, "a token that may look nowhere gets zeros",
        examples=[sizes(tokens=3, d_model=4, d_k=2, mask="blank")],
        trials=[sizes(batch_shape=(3,), tokens=5, d_model=7, d_k=2, mask="blank"),
            sizes(batch_shape=(2,), tokens=5, d_model=3, d_k=7, mask="empty"),
            # An empty mask has no True at all.
            sizes(batch_shape=(1,), tokens=5, d_model=3, d_k=7, mask="empty")], needs=("values", "mask")),
    CheckSpec("batch", 1,
        trials=[sizes(batch_shape=(3,), tokens=5, d_model=7, d_k=2),
            sizes(batch_shape=(2, 3), tokens=5, d_model=11, d_k=7),
            sizes(batch_shape=(1,), tokens=1, d_model=5, d_k=5)]),
    CheckSpec("parameters", 2, "W_Q, W_K and W_V without bias are the only parameters",
        examples=[sizes(d_model=4, d_k=2)], trials=[sizes(d_model=7, d_k=3)],
        probe=layer_parameters, draw=draw_layer_sizes),
    CheckSpec("conduct", 2, "gradients reach every parameter, float64 stays float64, inputs stay as they are",
        examples=[sizes(tokens=3, d_model=4, d_k=2, mask="causal", dtype=torch.float32)],
        trials=[sizes(batch_shape=(2,), tokens=5, d_model=7, d_k=3, mask="causal", dtype=torch.float64)]),
),
    draw=draw_self_attention, returns=("output", "weights"), zero_others=True,
    builds_on=("1.1", "1.2", "1.3", "1.4", "1.6"), bans={"fused attention"}, difficulty=2, minutes=10,
    review="Self-attention", stand_in=stand_ins.SelfAttention,
    mistakes=layer_edits(SelfAttention, """
    keys_from_w_q: Your code makes the keys with the projection of the queries. Make the keys with their own
        projection, W_K.
        self.W_K(tokens)  →  self.W_Q(tokens)
    values_from_w_k: Your code makes the values with W_K. Make them with their own projection, W_V.
        self.W_V(tokens)  →  self.W_K(tokens)
    roles_swapped: Queries and keys are swapped. Make the queries with W_Q, and the keys with W_K.
        self.W_Q(tokens), self.W_K(tokens)  →  self.W_K(tokens), self.W_Q(tokens)
    values_not_projected: Your output averages the tokens themselves. Average the values instead: W_V(tokens).
        self.W_V(tokens)  →  tokens
    nothing_projected: The tokens are compared without projections. Project them first: W_Q for queries, W_K for
        keys.
        self.W_Q(tokens), self.W_K(tokens)  →  tokens, tokens
    one_layer_for_all: W_Q, W_K and W_V are the same layer here. Make a separate layer for each.
        self.W_K = nn.Linear(d_model, d_k, bias=False)  →  self.W_K = self.W_Q
        self.W_V = nn.Linear(d_model, d_k, bias=False)  →  self.W_V = self.W_Q
    scaled_by_d_model: Your code divides the scores by √d_model. Divide by √d_k: d_k is the width after the
        projection.
        self.W_Q(tokens)  →  self.W_Q(tokens) * (self.W_Q.out_features / self.W_Q.in_features) ** 0.5
    mask_kept: The layer keeps the mask of one call for the next. If a call gets no mask, every token may look
        everywhere.
        + self.kept = mask = getattr(self, "kept", None) if mask is None else mask
""", "tokens", "tokens", "d_model", "d_model"))  # fmt: skip
