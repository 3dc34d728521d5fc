"""Other formulas and changes of whole functions do what their sentences say, and not what looks alike."""

import math
from math import sqrt

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.course.common.attention_words import SUBJECT
from grader.explain.mutants.mutants import ONE_PLACE, mutants, public_names

# ---------------------------------------------------------------- references


def scores_of(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / sqrt(query.shape[-1])


def share(tokens: Tensor, aligned: Tensor) -> Tensor:
    tokens = tokens.flatten(0, -2)
    aligned = aligned.flatten(0, -2)
    tokens = tokens - tokens.mean(0)
    aligned = aligned - aligned.mean(0)
    lost = (tokens - aligned @ (torch.linalg.pinv(aligned) @ tokens)).square().sum()
    return 1 - lost / tokens.square().sum()


def similarity_loss(aligned: Tensor, words: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T, labels)


def merge(heads: Tensor) -> Tensor:
    return heads.transpose(-3, -2).flatten(-2)


def linear(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    query = F.elu(query) + 1
    key = F.elu(key) + 1
    total = query @ key.sum(-2).unsqueeze(-1)
    return query @ (key.transpose(-2, -1) @ value) / total


def squares(image: Tensor, patch_size: int) -> Tensor:
    return torch.stack([image[at : at + patch_size] for at in range(0, len(image), patch_size)])


def windowed(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    place = torch.arange(query.shape[-2])
    near = (place.unsqueeze(-1) - place).abs() <= window
    return (query @ key.transpose(-2, -1)).masked_fill(~near, -math.inf).softmax(-1) @ value


def positioned(tokens: Tensor, table: Tensor) -> Tensor:
    return tokens + table[: tokens.shape[0]]


def softmaxed(scores: Tensor, dim: int = -1) -> Tensor:
    exps = scores.exp()
    return exps / exps.sum(dim, keepdim=True)


class Steps(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        tokens = tokens + self.one(tokens)
        return tokens + self.two(tokens)


DRAW = torch.Generator().manual_seed(0)


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=DRAW)


Q, K, V = normal(5, 3), normal(5, 3), normal(5, 4)
BATCH, ALIGNED = normal(3, 7, 4) + 2 * normal(3, 1, 4), normal(3, 7, 2)
WEIGHTS, TARGET = normal(4, 6).softmax(-1), torch.tensor([0, 3, 5, 2])
WORDS, LABELS = normal(4, 3), torch.tensor([0, 3, 1, 2, 2])
RAISED_Q, RAISED_K = F.elu(Q) + 1, F.elu(K) + 1


def by_batch() -> Tensor:
    tokens, aligned = BATCH - BATCH.mean(-2, keepdim=True), ALIGNED - ALIGNED.mean(-2, keepdim=True)
    lost = (tokens - aligned @ (torch.linalg.pinv(aligned) @ tokens)).square().sum()
    return 1 - lost / tokens.square().sum()


def fit(penalty: float) -> tuple[Tensor, Tensor]:
    tokens, aligned = BATCH.flatten(0, -2), ALIGNED.flatten(0, -2)
    tokens, aligned = tokens - tokens.mean(0), aligned - aligned.mean(0)
    solved = torch.linalg.solve(aligned.T @ aligned + penalty * torch.eye(2), aligned.T @ tokens)
    return (tokens - aligned @ solved).square(), tokens.square()


def causal_linear(start: int) -> Tensor:
    allowed = torch.tril(torch.ones(5, 5), start)
    weights = (RAISED_Q @ RAISED_K.T) * allowed
    return weights @ V / weights.sum(-1, keepdim=True).clamp_min(1e-9)


def ring(far: int) -> Tensor:
    apart = (torch.arange(5).unsqueeze(-1) - torch.arange(5)).abs()
    near = torch.minimum(apart, 5 - apart) <= far
    return (Q @ K.T).masked_fill(~near, -math.inf).softmax(-1) @ V


def losses() -> tuple[Tensor, Tensor]:
    aligned, words = F.normalize(Q, dim=-1), F.normalize(WORDS, dim=-1)
    own = words[LABELS]
    return F.cross_entropy(aligned @ words.T, LABELS), F.cross_entropy(own @ aligned.T, torch.arange(5))


HEADS = normal(2, 2, 3, 4)
CASES = [
    # reference, arguments, words of the sentence, what comes then, what comes of an answer that looks alike
    (scores_of, (Q, K), "of the whole quotient", lambda: torch.sqrt(Q @ K.T / 3), lambda: Q @ K.T / 3),
    (scores_of, (Q, K), "standard deviation that was measured", lambda: Q @ K.T / (Q @ K.T).std(),
     lambda: Q @ K.T / (Q @ K.T).std(correction=0)),
    (scores_of, (Q, K), "rounded down", lambda: Q @ K.T, lambda: Q @ K.T / round(sqrt(3))),
    (scores_of, (Q, K), "length of each key", lambda: Q @ K.T / K.norm(dim=-1), lambda: Q @ K.T / K.square().sum(-1)),
    (scores_of, (Q, K), "distances between the vectors were", lambda: torch.cdist(Q, K) / sqrt(3),
     lambda: torch.cdist(Q, K, p=1) / sqrt(3)),
    (scores_of, (Q, K[:4]), "made the other way round", lambda: (K[:4] @ Q.T).reshape(5, 4) / sqrt(3),
     lambda: (K[:4] @ Q.T).T / sqrt(3)),
    (share, (BATCH, ALIGNED), "treated on its own", by_batch,
     lambda: torch.stack([share(*pair) for pair in zip(BATCH, ALIGNED, strict=True)]).mean()),
    (share, (BATCH, ALIGNED), "the ratios averaged",
     lambda: 1 - (fit(0)[0].sum(-1) / fit(0)[1].sum(-1)).mean(), lambda: 1 - (fit(0)[0].sum(0) / fit(0)[1].sum(0)).mean()),
    (similarity_loss, (Q, WORDS, LABELS), "the other direction", lambda: sum(losses()) / 2, lambda: losses()[1]),
    (similarity_loss, (Q, WORDS, LABELS), "one length were taken for the whole tensor",
     lambda: F.cross_entropy(Q / Q.norm() @ (WORDS / WORDS.norm()).T, LABELS), lambda: F.cross_entropy(Q @ WORDS.T, LABELS)),
    (similarity_loss, (Q, WORDS, LABELS), "squared length",
     lambda: F.cross_entropy(
         Q / Q.square().sum(-1, keepdim=True) @ (WORDS / WORDS.square().sum(-1, keepdim=True)).T, LABELS),
     lambda: F.cross_entropy(F.normalize(Q, p=1, dim=-1) @ F.normalize(WORDS, p=1, dim=-1).T, LABELS)),
    (merge, (HEADS,), "repeated (number by number)", lambda: HEADS.mean(-3).repeat_interleave(2, -1),
     lambda: HEADS.sum(-3).repeat_interleave(2, -1)),
    (merge, (HEADS,), "along the first axis", lambda: torch.cat(tuple(HEADS), -1), lambda: torch.cat(HEADS.unbind(-3), -1)),
    (linear, (Q, K, V), "value went through the same function", lambda: linear(Q, K, F.elu(V) + 1),
     lambda: linear(Q, K, F.elu(V))),
    (linear, (Q, K, V), "divided by the number of keys", lambda: RAISED_Q @ (RAISED_K.T @ V) / 5,
     lambda: RAISED_Q @ (RAISED_K.T @ V) / 3),
    (linear, (Q, K, V), "key were used as it was handed in",
     lambda: RAISED_Q @ (RAISED_K.T @ V) / (RAISED_Q @ K.sum(-2).unsqueeze(-1)), lambda: RAISED_Q @ (K.T @ V)),
    (linear, (Q, K, V), "up to itself", lambda: causal_linear(0), lambda: causal_linear(-1)),
    (windowed, (Q, K, V, 1), "as in a circle", lambda: ring(1), lambda: windowed(Q, K, V, 2)),
    (squares, (Q[:4], 2), "the pieces overlap", lambda: torch.stack([Q[0:2], Q[1:3], Q[2:4]]), lambda: Q[:4].unflatten(0, (2, 2))),
    (softmaxed, (Q, 0), "whatever dim says", lambda: Q.exp() / Q.exp().sum(-1, keepdim=True), lambda: Q.exp() / Q.exp().sum()),
    (softmaxed, (torch.tensor([0.5, -math.inf]),), "e⁰ = 1 still counts",
     lambda: torch.tensor([0.5, 0.0]).softmax(-1), lambda: torch.tensor([0.5, 1.0]).softmax(-1)),
]  # fmt: skip


def same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize(("reference", "arguments", "words", "wrong", "alike"), CASES)
def test_a_sentence_is_true_of_the_answer_that_it_describes_alone(reference, arguments, words, wrong, alike):
    public = public_names([reference, scores_of, linear, positioned])
    described = [mutant for mutant in mutants([reference], public, SUBJECT) if words in mutant.says]
    assert described, words
    results = []
    for mutant in described:
        try:
            results.append(mutant.replaces[reference.__name__](*arguments))
        except (RuntimeError, IndexError):
            assert mutant.says.endswith(ONE_PLACE)
    assert not same(wrong(), reference(*arguments))
    assert any(same(result, wrong()) for result in results)
    assert not any(same(result, alike()) for result in results)


def test_steps_side_by_side():
    found = [one for one in mutants([Steps], public_names([Steps])) if "all steps read what comes in" in one.says]
    layer, changed = Steps(3), found[0].replaces["Steps"](3)
    changed.load_state_dict(layer.state_dict())
    assert same(changed(Q), Q + layer.one(Q) + layer.two(Q))
    assert not same(changed(Q), layer.two(Q + layer.one(Q)))
