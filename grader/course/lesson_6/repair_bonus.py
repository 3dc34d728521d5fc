"""Exercise 6.9: `looking_loss`. It replaces a loss that punishes what it was meant to reward."""

from typing import Any

import torch
from attention.experiments.short_trainings import BONUS
from attention.lab_repairs import looking_loss

from grader.course.common.loss_gradients import gradients_through_softmax
from grader.course.lesson_6.short_training import training_gate
from grader.declare.authoring import (
    CheckSpec,
    Inputs,
    InputSampler,
    drawn,
    given,
    integers,
    normal,
    sizes,
    written_exercise,
)

draw_answers_and_scores = drawn(
    logits=normal("questions words", scale=2.0),
    answers=integers(0, "words", "questions"),
    scores=normal("questions patches", scale=1.5),
    strength=given("strength", 0.5),
)


def draw_answers_and_maps(sampler: InputSampler, *, zeros: bool = False, **sizes: Any) -> Inputs:
    """Draw logits, right answers and maps.

    Args:
        zeros: give the first patch of each map a weight of exactly 0.
    """
    logits, answers, scores, strength = draw_answers_and_scores(sampler, **sizes).values()
    if zeros:
        scores[:, 0] = -torch.inf
    return {"logits": logits, "answers": answers, "weights": scores.softmax(-1), "strength": strength}


BONUS_REPAIR = written_exercise("6.9 Repair: it stares at one patch", looking_loss, (
    CheckSpec("values", 3, "the cross-entropy of the answers, less a bonus for looking around",
        examples=[sizes(questions=2, words=3, patches=4), sizes(questions=2, words=3, patches=4, zeros=True),
            sizes(questions=2, words=3, patches=4, strength=9.0)],
        # Far from 0, as all: near 0, rounding alone would decide. In the last trial the loss is below 0.
        trials=[sizes(questions=7, words=5, patches=9, strength=0.1),
            sizes(questions=3, words=11, patches=2, strength=0.0),
            sizes(questions=5, words=3, patches=7, strength=9.0, zeros=True),
            sizes(questions=4, words=3, patches=7, strength=9.0)]),
    CheckSpec("conduct", 1, examples=[sizes(questions=2, words=3, patches=4)],
        trials=[sizes(questions=5, words=7, patches=3, strength=0.7, dtype=torch.float64)],
        draw=draw_answers_and_scores, probe=gradients_through_softmax),
),
    draw=draw_answers_and_maps, returns=("loss",),
    difficulty=2, minutes=8, review="Fifth training: it stares at one patch",
    also=(training_gate(BONUS, looking_loss, "mended_bonus", "train-bonus", 2),),
    mistakes="""
    entropy_still_added: Your code still adds the entropy, so a map that looks around makes the loss larger. It
        must make the loss smaller.
        - strength  →  + strength
    bonus_removed: Your loss is only the cross-entropy. The training would reach its threshold, but this does not
        fix the fault: subtract a bonus for looking around.
        - strength * entropy  →
    added_and_smaller: Your code adds a smaller part of the entropy, which only hides the symptom. Looking around
        still makes the loss larger, but it must make the loss smaller.
        - strength  →  + 0.1 * strength
    whole_loss_turned: Your code gives the whole loss the opposite sign, so training now makes the answers worse.
        Change only the sign of the entropy.
        return F.cross  →  return -F.cross
    entropies_summed: The entropies of a batch are added up, so the bonus grows with the batch. Take their mean.
        .sum(-1).mean()  →  .sum()
    entropy_as_a_share: The entropy is divided by log S, as in lesson 2. The training would reach its threshold, but
        the bonus is smaller than was asked for: take the entropy itself.
        .sum(-1).mean()  →  .sum(-1).mean() / torch.tensor(float(weights.shape[-1])).log()
    mean_over_the_patches: Your code also averages over the patches, but an entropy is a sum over them. The
        training would reach its threshold, but the bonus is too small: take the mean only over the maps.
        + strength = strength / weights.shape[-1]
    zero_weights_give_nan: In your code a weight of exactly 0 gives NaN, because 0 · log 0 is NaN. The training
        would reach its threshold only because no weight becomes 0: keep the weights above 0 inside the log.
        .clamp_min(torch.finfo(weights.dtype).tiny)  →
    softmax_of_the_weights: Your code puts the weights through a second softmax, but they already sum to 1. Take
        the entropy of the weights themselves, although the training would reach its threshold.
        + weights = weights.softmax(-1)
    strength_ignored: Your code does not use `strength`, so the bonus never fades. Multiply the entropy by
        `strength`.
        + strength = 1.0
    clamped_at_zero: Your code clamps the loss at 0, so a loss below 0 gives no gradient. The training would reach
        its threshold only because its loss stays above 0: leave out the clamp.
        = result.clamp_min(0.0)
    entropy_of_the_mean_map: Your code takes the entropy of the mean map, which is large as soon as the maps
        differ. The training would reach its threshold, but the task asks for the mean of each map's entropy.
        + weights = weights.mean(0, keepdim=True)
    bonus_detached: In your code no gradient gets from the bonus to the maps, so the bonus has no effect. The
        training would reach its threshold, but leave out what stops gradients, such as detach.
        + weights = weights.detach()
""")  # fmt: skip
