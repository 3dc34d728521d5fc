"""Exercise 2.3, alignment_loss: the cross-entropy of each token's similarities with all words."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.alignment import alignment_loss
from torch import Tensor
from torch.nn import functional as F

from grader.course.lesson_2 import stand_ins
from grader.course.lesson_2.verified_trainings import ALIGNER_CHECKS
from grader.declare.authoring import (
    CheckSpec,
    Inputs,
    InputSampler,
    drawn,
    edits,
    given,
    integers,
    normal,
    sizes,
    written_exercise,
)
from grader.declare.probes import purity_and_gradients

# Aligned tokens, word vectors, for each token the index of its word, and the temperature.
draw_words = drawn(
    aligned=normal("* d", scale=2.0),
    words=normal("words d", scale=0.7),
    labels=integers(0, "words", "*"),
    temperature=given("temperature"),
)


def draw_near_words(sampler: InputSampler, **sizes: Any) -> Inputs:
    """Draw as `draw_words` does, but with a token that is near a wrong word.

    The first token has the direction of the first word, and the second word as its label.
    """
    inputs = draw_words(sampler, **sizes)
    inputs["aligned"][0], inputs["labels"][0] = 2 * inputs["words"][0], 1
    return inputs


def alignment_loss_values(function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the loss at the default temperature and at another."""
    *tensors, temperature = arguments.values()
    return {"loss": function(*tensors), "loss at another temperature": function(*tensors, temperature=temperature)}


def alignment_loss_conduct(function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Report side effects of the loss, and its gradients; it is one number, so they need no direction."""

    temperature = arguments["temperature"]

    def call(aligned: Tensor, words: Tensor, labels: Tensor) -> dict[str, Tensor]:
        return {"loss": function(aligned=aligned, words=words, labels=labels, temperature=temperature)}

    tensors = {name: arguments[name] for name in ("aligned", "words", "labels")}
    direction = torch.ones((), dtype=tensors["aligned"].dtype, device=tensors["aligned"].device)
    return purity_and_gradients(call, tensors, {"loss": direction})


def clip_loss(aligned: Tensor, words: Tensor, labels: Tensor, temperature: float) -> Tensor:
    """CLIP's loss on the tokens and the words of their labels, for the mistakes."""
    tokens, own = F.normalize(aligned.flatten(0, -2), dim=-1), F.normalize(words, dim=-1)[labels.flatten()]
    pairs, diagonal = tokens @ own.T / temperature, torch.arange(labels.numel(), device=labels.device)
    return (F.cross_entropy(pairs, diagonal) + F.cross_entropy(pairs.T, diagonal)) / 2


LOSS = written_exercise("2.3 Learning the rate of exchange", alignment_loss, (
    CheckSpec("values", 5, "cross-entropy over the similarities with all words",
        examples=[sizes(batch_shape=(3,), words=4, d=2, temperature=0.5)],
        trials=[sizes(batch_shape=(7,), words=11, d=5, temperature=0.3),
            sizes(batch_shape=(13,), words=5, d=3, temperature=1.7)]),
    CheckSpec("batch", 1, "any leading dimensions",
        examples=[sizes(batch_shape=(2, 3), words=4, d=2, temperature=0.5)],
        trials=[sizes(batch_shape=(2, 7), words=11, d=5, temperature=0.3),
            sizes(batch_shape=(3, 2, 5), words=7, d=11, temperature=0.7)]),
    CheckSpec("sharp", 1, "a small temperature gives no NaN",
        examples=[sizes(batch_shape=(3,), words=4, d=2, temperature=0.005)],
        trials=[sizes(batch_shape=(7,), words=11, d=5, temperature=0.005)], draw=draw_near_words),
    CheckSpec("conduct", 1, trials=[sizes(batch_shape=(2, 5), words=7, d=3, temperature=0.2, dtype=torch.float64)],
        probe=alignment_loss_conduct),
),
    draw=draw_words, returns=("loss",), probe=alignment_loss_values,
    builds_on=("2.1",), difficulty=2, minutes=10, review="Learning the rate", stand_in=stand_ins.alignment_loss,
    also=ALIGNER_CHECKS,
    mistakes=edits(alignment_loss, """
    dot_products: Cosine similarity compares directions: divide both vectors by their length first.
        F.normalize(aligned, dim=-1)  →  aligned
        F.normalize(words, dim=-1)  →  words
    distances: These scores say how far apart the vectors are. Take their cosines, the dot products.
        F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
            →  -torch.cdist(F.normalize(aligned), F.normalize(words))
    only_words_normalised: The words are normalised, but the aligned tokens are not. Cosine similarity needs both.
        F.normalize(aligned, dim=-1)  →  aligned
    only_tokens_normalised: The aligned tokens are normalised, but the words are not. Cosine similarity needs both.
        F.normalize(words, dim=-1)  →  words
    scores_normalised: Each row of scores is divided by its length. First divide each vector by its own length, then
        multiply.
        F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T  →  F.normalize(aligned @ words.T, dim=-1)
    one_length_for_all: All vectors are divided by one length, that of the whole tensor. Each vector has its own length:
        take it along the last axis.
        F.normalize(aligned, dim=-1)  →  aligned / aligned.norm()
        F.normalize(words, dim=-1)  →  (words / words.norm())
    one_length_for_all_tokens: All tokens are divided by one length. Each token has its own length: take it along the
        last axis.
        F.normalize(aligned, dim=-1)  →  aligned / aligned.norm()
    squared_lengths: The vectors are divided by their squared lengths: a root is missing.
        F.normalize(aligned, dim=-1)  →  aligned / aligned.square().sum(-1, keepdim=True)
        F.normalize(words, dim=-1)  →  (words / words.square().sum(-1, keepdim=True))
    times_temperature: The scores are multiplied by the temperature. Divide by it: a small temperature must make the
        scores larger and the choice sharper.
        / temperature  →  * temperature
    exp_of_temperature: The scores are multiplied by exp(temperature), as in CLIP, which learns the logarithm of a
        factor. Divide by the temperature.
        / temperature  →  * 2.718281828459045**temperature
    one_temperature: The argument temperature is not used.
        / temperature  →  / 0.1
    temperature_of_clip: If no temperature is given, this takes 0.07, as CLIP does at first. The task asks for 0.1.
        temperature: float = 0.1  →  temperature: float = 0.07
    no_temperature: Without a temperature, the scores are between −1 and 1, too close together. Divide by the
        temperature.
        / temperature  →
    softmax_twice: F.cross_entropy takes the scores and does the softmax itself. Here the softmax is done twice.
        similarity.reshape(-1, len(words)) / temperature
            →  (similarity.reshape(-1, len(words)) / temperature).softmax(-1)
    clip_in_both_directions: This is CLIP's loss in both directions, each token against the words of the other tokens.
        Let each token pick its word among all words, and leave out the other direction.
        = clip_loss(aligned, words, labels, temperature)
    clip_in_one_direction: Each token picks among the words of the other tokens here, as in CLIP, and those of its own
        digit count as wrong. Let it pick its word among all words.
        labels.reshape(-1))
            →  labels.reshape(-1)) if len(labels.reshape(-1)) < 2 else F.cross_entropy(similarity.reshape(-1,
               len(words))[:, labels.reshape(-1)] / temperature, torch.arange(labels.numel(), device=labels.device))
    other_direction_too: This loss also contains the other direction, in which each word picks among the tokens. Leave
        that direction out: each token picks among the words.
        = (result + F.nll_loss((similarity / temperature).reshape(-1, len(words)).log_softmax(0), labels.flatten())) / 2
    summed: The losses of the tokens are added up here. Take their mean.
        = result * labels.numel()
    only_pulls: This only pulls each token to its word. Cross-entropy also pushes it away from the other words.
        return F.cross_entropy(similarity.reshape(-1, len(words)) / temperature, labels.reshape(-1))
            →  return (1 - similarity.gather(-1, labels.unsqueeze(-1))).mean() / temperature
    no_negatives: Only the similarity with the token's own word counts here, so nothing pushes the other words away.
        Cross-entropy does both.
        return F.cross_entropy(similarity.reshape(-1, len(words)) / temperature, labels.reshape(-1))
            →  return -(similarity.gather(-1, labels.unsqueeze(-1)) / temperature).mean()
    chooses_among_tokens: Here each word picks among the tokens. It must be the other way round: each token picks among
        the words.
        return F.cross_entropy(similarity.reshape(-1, len(words)) / temperature, labels.reshape(-1))
            →  return F.nll_loss((similarity.reshape(-1, len(words)) / temperature).log_softmax(0),
               labels.reshape(-1))
    normalised_along_dim_1: The vectors are divided by their lengths along dim=1, the default of F.normalize. With a
        batch in front, use dim=-1.
        F.normalize(aligned, dim=-1)  →  F.normalize(aligned)
        F.normalize(words, dim=-1)  →  F.normalize(words)
    exp_overflows: exp of a large score is infinite, and a small temperature makes scores large. F.cross_entropy and
        log_softmax stay finite.
        return F.cross_entropy(similarity.reshape(-1, len(words)) / temperature, labels.reshape(-1))
            →  exps = (similarity / temperature).exp(); return -(exps.gather(-1, labels.unsqueeze(-1)).squeeze(-1) /
               exps.sum(-1)).log().mean()
""", clip_loss=clip_loss))  # fmt: skip
