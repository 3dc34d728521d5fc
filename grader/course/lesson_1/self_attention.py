"""Exercise 1.7 SelfAttention: tokens ask, and the same tokens answer."""

from collections.abc import Mapping

from attention.single_head import SelfAttention

from grader.course.lesson_1 import stand_ins
from grader.course.lesson_1.layers import draw_layer_sizes, layer_edits, layer_parameters, mask_first, projections
from grader.declare.authoring import Value, drawn_layer, written_exercise
from grader.declare.probes import load_alone, named, pair

SELF_WEIGHTS = projections(W_Q="d_model", W_K="d_model", W_V="d_model")
draw_self_attention = mask_first(
    drawn_layer(SELF_WEIGHTS, dict(d_model="d_model", d_k="d_k"), tokens="* tokens d_model"), "tokens", "tokens"
)


def attend_with_mask_and_without(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> Mapping[str, Value]:
    """Call a layer with its arguments, and once more without the mask."""
    layer = load_alone(layer_class(*sizes.values()), weights)
    seen = named(layer(*arguments.values()), returns)
    return {**seen, "output of a second call, without a mask": pair(layer(arguments["tokens"]))[0]}


SELF_ATTENTION = written_exercise("1.7 Self-attention", SelfAttention, """
    values 6: tokens ask, and the same tokens answer
        e.g. 3 tokens, d_model = 4, d_k = 2
        5 tokens, d_model = 7, d_k = 3; 7 tokens, d_model = 3, d_k = 11
    mask 3: the mask is obeyed
        e.g. 3 tokens, d_model = 4, d_k = 2, mask = causal
        7 tokens, d_model = 5, d_k = 3, mask = causal
        batch 3, 5 tokens, d_model = 7, d_k = 2, mask = padding
        batch 2, 5 tokens, d_model = 3, d_k = 7, mask = each
    nowhere 1 after values, mask: a token that may look nowhere gets zeros
        e.g. 3 tokens, d_model = 4, d_k = 2, mask = blank
        batch 3, 5 tokens, d_model = 7, d_k = 2, mask = blank
        batch 2, 5 tokens, d_model = 3, d_k = 7, mask = empty
        batch 1, 5 tokens, d_model = 3, d_k = 7, mask = empty  # no True in the whole mask
    batch 1
        batch 3, 5 tokens, d_model = 7, d_k = 2
        batch 2 × 3, 5 tokens, d_model = 11, d_k = 7
        batch 1, 1 token, d_model = 5, d_k = 5
    parameters 2: W_Q, W_K and W_V without bias are the only parameters
        e.g. d_model = 4, d_k = 2
        d_model = 7, d_k = 3
    conduct 2: gradients reach every parameter, float64 stays float64, inputs stay as they are
        e.g. 3 tokens, d_model = 4, d_k = 2, mask = causal, float32
        batch 2, 5 tokens, d_model = 7, d_k = 3, mask = causal, float64
""",
    draw=draw_self_attention, returns=("output", "weights"), zero_others=True,
    details=dict(
        values=dict(map="weights"),
        mask=dict(map="weights", probe=attend_with_mask_and_without),
        parameters=dict(probe=layer_parameters, draw=draw_layer_sizes),
    ),
    builds_on=("1.1", "1.2", "1.3", "1.4", "1.6"), bans={"fused attention"}, difficulty=2, minutes=10,
    review="Self-attention", stand_in=stand_ins.SelfAttention,
    mistakes=layer_edits(SelfAttention, """
    keys_from_w_q: Keys and queries come from one projection. Each has its own: W_K makes the keys.
        self.W_K(tokens)  →  self.W_Q(tokens)
    values_from_w_k: The values come from W_K. They have a projection of their own: W_V.
        self.W_V(tokens)  →  self.W_K(tokens)
    roles_swapped: Queries and keys have changed places. Make the queries with W_Q, and the keys with W_K.
        self.W_Q(tokens), self.W_K(tokens)  →  self.W_K(tokens), self.W_Q(tokens)
    values_not_projected: The output averages the tokens as they came in. The values are W_V(tokens).
        self.W_V(tokens)  →  tokens
    nothing_projected: Tokens are compared as they came in. Project them first: W_Q for queries, W_K for keys.
        self.W_Q(tokens), self.W_K(tokens)  →  tokens, tokens
    one_layer_for_all: W_Q, W_K and W_V are one and the same layer here. Make a layer of its own for each.
        self.W_K = nn.Linear(d_model, d_k, bias=False)  →  self.W_K = self.W_Q
        self.W_V = nn.Linear(d_model, d_k, bias=False)  →  self.W_V = self.W_Q
    scaled_by_d_model: The scores are divided by √d_model. d_k is the width after the projection.
        self.W_Q(tokens)  →  self.W_Q(tokens) * (self.W_Q.out_features / self.W_Q.in_features) ** 0.5
    mask_kept: The layer keeps the mask of one call for the next. Where none is given, every token may look everywhere.
        + self.kept = mask = getattr(self, "kept", None) if mask is None else mask
""", "tokens", "tokens", "d_model", "d_model"))  # fmt: skip
