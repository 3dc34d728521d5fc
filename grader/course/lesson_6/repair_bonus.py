"""Exercise 6.9: `looking_loss`, in the place of a loss that punishes what it was meant to reward."""

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
    """Draw logits, right answers and maps; with `zeros`, the first patch of each has a weight of exactly 0."""
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
    entropy_still_added: Training makes a loss smaller. The entropy is still added to it, so a map that looks around
        costs something, and a map that stays on one patch does not.
        - strength  →  + strength
    bonus_removed: This is the cross-entropy alone. The training would reach its threshold, but this does not fix
        the fault: a bonus for looking around has to be subtracted.
        - strength * entropy  →
    added_and_smaller: This only hides the symptom: looking around costs ten times less, but it still costs something.
        - strength  →  + 0.1 * strength
    whole_loss_turned: The whole loss has the opposite sign, so training now makes the answers worse. Only the entropy
        had the wrong sign.
        return F.cross  →  return -F.cross
    entropies_summed: The entropies of a batch are added up, so the bonus grows with the batch. Take their mean.
        .sum(-1).mean()  →  .sum()
    entropy_as_a_share: The entropy is divided by log S, as in lesson 2. The training would reach its threshold, but
        the bonus is smaller than was asked for: take the entropy itself.
        .sum(-1).mean()  →  .sum(-1).mean() / torch.tensor(float(weights.shape[-1])).log()
    mean_over_the_patches: The mean also runs over the patches, but an entropy is a sum over them: take the mean only
        over the maps. The training would reach its threshold, but the bonus is smaller than the task asks for.
        + strength = strength / weights.shape[-1]
    zero_weights_give_nan: A weight of exactly 0 gives NaN, because 0 · log 0 is NaN. The training would reach its
        threshold, because no weight in it becomes 0, but keep the weights above 0 inside the log.
        .clamp_min(torch.finfo(weights.dtype).tiny)  →
    softmax_of_the_weights: The weights go through a second softmax. The training would reach its threshold, but the
        weights already sum to 1: take the entropy of the weights themselves.
        + weights = weights.softmax(-1)
    strength_ignored: The strength is not used, so the bonus stays as large as it was at the beginning and never fades.
        + strength = 1.0
    clamped_at_zero: A loss that is clamped at 0 has no gradient where it would be below 0, as in this trial with its
        larger bonus. The training would still reach its threshold, because its loss stays above 0.
        = result.clamp_min(0.0)
    entropy_of_the_mean_map: This is the entropy of the mean map, which is large as soon as the maps differ. The
        training would reach its threshold, but take the entropy of each map, then their mean.
        + weights = weights.mean(0, keepdim=True)
    bonus_detached: No gradient gets from the bonus to the maps: the training would reach its threshold as if there
        were none. Leave out what stops gradients, such as torch.no_grad, detach or .data.
        + weights = weights.detach()
""")  # fmt: skip
