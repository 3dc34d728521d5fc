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
    """Draw inputs as `draw_words` does, except that the first token is near a wrong word.

    The first token has the direction of the first word, and the second word as its label.
    """
    inputs = draw_words(sampler, **sizes)
    inputs["aligned"][0], inputs["labels"][0] = 2 * inputs["words"][0], 1
    return inputs


def alignment_loss_values(function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the loss at the default temperature and at another temperature."""
    *tensors, temperature = arguments.values()
    return {"loss": function(*tensors), "loss at another temperature": function(*tensors, temperature=temperature)}


def alignment_loss_conduct(function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return side effects of the loss, and its gradients. They need no direction, because the loss is one number."""

    temperature = arguments["temperature"]

    def call(aligned: Tensor, words: Tensor, labels: Tensor) -> dict[str, Tensor]:
        return {"loss": function(aligned=aligned, words=words, labels=labels, temperature=temperature)}

    tensors = {name: arguments[name] for name in ("aligned", "words", "labels")}
    direction = torch.ones((), dtype=tensors["aligned"].dtype, device=tensors["aligned"].device)
    return purity_and_gradients(call, tensors, {"loss": direction})


def clip_loss(aligned: Tensor, words: Tensor, labels: Tensor, temperature: float) -> Tensor:
    """Return CLIP's loss for the tokens and the words of their labels, which mistakes use."""
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
    dot_products: Your code uses plain dot products. Cosine similarity compares only directions: divide both
        vectors by their length first.
        F.normalize(aligned, dim=-1)  →  aligned
        F.normalize(words, dim=-1)  →  words
    distances: Your scores are distances between the vectors. Use their cosine similarities instead, which are dot
        products.
        F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
            →  -torch.cdist(F.normalize(aligned), F.normalize(words))
    only_words_normalised: Your code normalises the words, but not the aligned tokens. Cosine similarity needs
        both sides normalised.
        F.normalize(aligned, dim=-1)  →  aligned
    only_tokens_normalised: Your code normalises the aligned tokens, but not the words. Cosine similarity needs
        both sides normalised.
        F.normalize(words, dim=-1)  →  words
    scores_normalised: Your code divides each row of scores by the length of that row. First divide each vector by
        its own length, then multiply.
        F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T  →  F.normalize(aligned @ words.T, dim=-1)
    one_length_for_all: Your code divides all vectors by the length of the whole tensor. Divide each vector by its
        own length, taken along the last axis.
        F.normalize(aligned, dim=-1)  →  aligned / aligned.norm()
        F.normalize(words, dim=-1)  →  (words / words.norm())
    one_length_for_all_tokens: Your code divides all tokens by one length. Divide each token by its own length,
        taken along the last axis.
        F.normalize(aligned, dim=-1)  →  aligned / aligned.norm()
    squared_lengths: Your code divides the vectors by their squared lengths. Take the square root of these first.
        F.normalize(aligned, dim=-1)  →  aligned / aligned.square().sum(-1, keepdim=True)
        F.normalize(words, dim=-1)  →  (words / words.square().sum(-1, keepdim=True))
    times_temperature: The scores are multiplied by the temperature. Divide by it: a small temperature must make the
        scores larger and the choice sharper.
        / temperature  →  * temperature
    exp_of_temperature: The scores are multiplied by exp(temperature), as in CLIP, which learns the logarithm of a
        factor. Divide by the temperature.
        / temperature  →  * 2.718281828459045**temperature
    one_temperature: Your function does not use its argument temperature. Divide the scores by it.
        / temperature  →  / 0.1
    temperature_of_clip: If no temperature is given, your function takes 0.07, the start value of CLIP. The
        default must be 0.1.
        temperature: float = 0.1  →  temperature: float = 0.07
    no_temperature: Your code does not divide the scores by the temperature, so they stay close together, between
        −1 and 1. Divide them.
        / temperature  →
    softmax_twice: Your code takes a softmax before F.cross_entropy, which takes one itself. Pass the scores on
        without a softmax.
        similarity.reshape(-1, len(words)) / temperature
            →  (similarity.reshape(-1, len(words)) / temperature).softmax(-1)
    clip_in_both_directions: Your loss is CLIP's: each token picks among the words of the other tokens, and the
        other way round. Let each token only pick its word, among all words.
        = clip_loss(aligned, words, labels, temperature)
    clip_in_one_direction: In your code each token picks among the words of all tokens, as in CLIP, so a token of
        the same digit counts as wrong. Let each token pick its word among all words.
        labels.reshape(-1))
            →  labels.reshape(-1)) if len(labels.reshape(-1)) < 2 else F.cross_entropy(similarity.reshape(-1,
               len(words))[:, labels.reshape(-1)] / temperature, torch.arange(labels.numel(), device=labels.device))
    other_direction_too: This loss also contains the other direction, in which each word picks among the tokens. Leave
        that direction out: each token picks among the words.
        = (result + F.nll_loss((similarity / temperature).reshape(-1, len(words)).log_softmax(0), labels.flatten())) / 2
    summed: The losses of the tokens are added up here. Take their mean.
        = result * labels.numel()
    only_pulls: Your loss only pulls each token to its word. Use cross-entropy, which also pushes the token away
        from the other words.
        return F.cross_entropy(similarity.reshape(-1, len(words)) / temperature, labels.reshape(-1))
            →  return (1 - similarity.gather(-1, labels.unsqueeze(-1))).mean() / temperature
    no_negatives: Your loss uses only the similarity with the token's own word, so nothing pushes the token away
        from the other words. Use cross-entropy, which does this, too.
        return F.cross_entropy(similarity.reshape(-1, len(words)) / temperature, labels.reshape(-1))
            →  return -(similarity.gather(-1, labels.unsqueeze(-1)) / temperature).mean()
    chooses_among_tokens: Here each word picks among the tokens. It must be the other way round: each token picks among
        the words.
        return F.cross_entropy(similarity.reshape(-1, len(words)) / temperature, labels.reshape(-1))
            →  return F.nll_loss((similarity.reshape(-1, len(words)) / temperature).log_softmax(0),
               labels.reshape(-1))
    normalised_along_dim_1: Your code normalises along dim=1, the default of F.normalize, which is the wrong axis
        if there is a batch in front. Use dim=-1.
        F.normalize(aligned, dim=-1)  →  F.normalize(aligned)
        F.normalize(words, dim=-1)  →  F.normalize(words)
    exp_overflows: A small temperature makes your scores large, and exp of a large score is infinite. Use
        F.cross_entropy or log_softmax, which stay finite.
        return F.cross_entropy(similarity.reshape(-1, len(words)) / temperature, labels.reshape(-1))
            →  exps = (similarity / temperature).exp(); return -(exps.gather(-1, labels.unsqueeze(-1)).squeeze(-1) /
               exps.sum(-1)).log().mean()
""", clip_loss=clip_loss))  # fmt: skip
