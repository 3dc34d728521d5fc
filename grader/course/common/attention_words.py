"""What students call things in a course on attention, and the slips that are made in it and nowhere else."""

from functools import partial

from grader.course.common.scaled_scores import scaled_otherwise
from grader.declare.subject import Instead, Subject
from grader.declare.written_exercise import written_exercise

# Local variables of the reference that a student knows by the field's word, whatever they are called in the answer.
NOUNS = {
    "scores": "the scores", "weights": "the weights", "targets": "the targets", "logits": "the logits",
    "heads": "the heads", "loss": "the loss", "value": "the values", "key": "the keys", "query": "the queries",
    "tokens": "the tokens", "context": "the context", "similarity": "the similarities", "output": "the output",
    "token_ids": "the token ids", "ended": "the rows that have ended", "maps": "the maps", "slices": "the slices of W_O",
    "position": "the positions", "following": "the next tokens", "entropy": "the entropy", "total": "the total",
    "exps": "the exponentials", "largest": "the largest score", "answers": "the choice of the answer",
    "before": "the tokens", "after": "the aligned tokens", "dropout": "the dropout rate", "mask": "the mask",
    "real": "the padding", "near": "the window", "neighbour": "the positions of the neighbours",
    "somewhere": "the queries that may attend nowhere", "nowhere": "the queries that may attend nowhere",
    "seen": "what cross_attn returns", "image_tokens": "the image tokens", "update": "the update",
}  # fmt: skip

SLIPS = """
1* X.unflatten(N, (H, -1)) → X.unflatten(N, (-1, H)).transpose(-2, -1)  # the features were dealt out one by one: each head gets every H-th feature, not a block of its own
1* X.unflatten(N, (H, -1)) → X.unflatten(N, (-1, H))  # the number of heads were taken for the width of a head
1 X.flatten(-2) → X.transpose(-2, -1).flatten(-2)  # the features of the heads were interleaved, where each head's features have to stay together
1 NAME(X).shape[-1] → X.shape[-1] * X.shape[-3] if num_heads  # the width of all heads together (d_model) stood where the width of one head is due

2 softmax(X, *Z) → softmax(X.masked_fill(torch.ones(X.shape[-2:]).triu(1).bool(), -1e309), *Z)  # no query saw a key behind its own place (a causal mask), which nobody asked for
2 softmax(X, *Z) → X.sigmoid()  # a sigmoid stood where the softmax is due
2 softmax(X, *Z) → X / X.sum(-1, keepdim=True)  # the scores were divided by their sum, without the exponential
2 softmax(X, *Z) → torch.nn.functional.one_hot(X.argmax(-1), X.shape[-1]).to(X)  # all the weight went to the largest score
1 PARAMETER(weights) → weights.softmax(-1)  # weights went through a softmax once more

2 scaled_dot_product_attention(*Z) → scaled_dot_product_attention(*Z, scale=1.0)  # the scores were not divided by the root of the width
2 scaled_dot_product_attention(Q, K, V, M, *Z) → scaled_dot_product_attention(Q, K, V, M, *Z, is_causal=True)  # every query saw only the keys up to its own place (a causal mask), which nobody asked for
2 scaled_dot_product_attention(*Z, attn_mask=M, **K) → scaled_dot_product_attention(*Z, **K, is_causal=True)  # every query saw only the keys up to its own place (a causal mask), which nobody asked for
2 scaled_dot_product_attention(Q, *Z) → scaled_dot_product_attention(Q / Q.shape[-1] ** 0.5, *Z)  # the queries were divided by the root of the width, which the kernel does itself
1 COMPARED(head) → head - 1  # head were counted from 1, not from 0
"""

FORMULAS = """
3 X / ROOT(W) → X / key.norm(dim=-1).unsqueeze(-2)  # it were divided by the length of each key, not by the root of the width
3 X / ROOT(W) → X / query.norm(dim=-1, keepdim=True)  # it were divided by the length of each query, not by the root of the width
2 X / QUANTITY(R) → X / key.shape[-2]  # it were divided by the number of keys
2 cross_entropy(S, T, *Z) → (F.cross_entropy(S, T) + F.cross_entropy(S[:, T].T, torch.arange(len(S), device=S.device))) / 2  # the loss of the other direction were added and the mean of both taken; one is asked for
2 cross_entropy(S, T, *Z) → cross_entropy(S, T, *Z, reduction='sum') / T.numel()  # the losses were divided by the number of all places, the ignored ones included
2 X.transpose(*Z).flatten(-2) → X.mean(-3).repeat_interleave(X.shape[-3], -1)  # the mean of the heads were repeated (number by number), where their numbers have to stand side by side
2 X.transpose(*Z).flatten(-2) → torch.cat([X.mean(-3)] * X.shape[-3], -1)  # the mean of the heads were repeated (number by number), where their numbers have to stand side by side
2 X.transpose(*Z).flatten(-2) → torch.cat(tuple(X), -1)  # the heads were looked for along the first axis, which is the batch where there is one
2? range(NAME(N)) → range(N - prompt_ids.shape[-1])  # {N:public} counted the tokens of prompt_ids, too, not the new ones alone
"""

HIDDEN_AS = "scores = scores.masked_fill(scores == -float('inf'), {})"
HIDDEN_SAYS = "the −∞ of the hidden scores were replaced by {}"
UP_TO_EACH = (
    "return __import__('torch').cat([inner(*(x[..., : i + 1, :] for x in (query, key, value)), REST)[..., -1:, :]"
    " for i in range(query.shape[-2])], -2)"
)
IN_A_RING = """
n = query.shape[-2]
ring = __import__('torch').arange(-window, n + window, device=query.device) % n
return inner(*(x[..., ring, :] for x in (query, key, value)), window)[..., window : window + n, :]
"""
ONE_BY_ONE = """
losses = [inner(model, optimizer, tuple(x[i : i + 1] for x in batch)) for i in range(len(batch[0]))]
return sum(losses) / len(losses)
"""

SUBJECT = Subject(
    nouns=NOUNS,
    alike={"stable_softmax": "softmax"},
    layers=frozenset({"MultiHeadAttention", "PositionEmbedding"}),
    seldom=frozenset({"W_O"}),
    roles=(("query", "key", "value"), ("W_Q", "W_K", "W_V")),
    typed_in={"num_heads": (2, 4, 8), "_id": (0, 1, 2)},  # where an argument is due
    slips=SLIPS,
    formulas=FORMULAS,
    otherwise=scaled_otherwise,
    instead=(
        Instead(("scores",), HIDDEN_AS.format(0.0), HIDDEN_SAYS.format("0, and e⁰ = 1 still counts"), 1, True),
        Instead(
            ("scores",), HIDDEN_AS.format(-1e9), HIDDEN_SAYS.format("−1e9, and a row of −∞ is no longer seen"), 1, True
        ),
        Instead(
            ("query", "key", "value"),
            UP_TO_EACH,
            "each position saw only those up to itself (a causal form), where all are to be seen",
            returns="Tensor",
        ),
        Instead(
            ("query", "key", "value", "window"),
            IN_A_RING,
            "the ends met, as in a circle: the first positions saw the last ones",
        ),
        Instead(
            ("model", "optimizer", "batch"),
            ONE_BY_ONE,
            "there were an update for each question, where one update on the whole batch is due",
        ),
    ),
)

attention_exercise = partial(written_exercise, subject=SUBJECT)
