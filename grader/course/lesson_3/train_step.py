"""Exercise 3.6: `train_step`, one step of training. The probes use a small model."""

from collections.abc import Mapping

import torch
from attention.training import shift_targets, train_step
from torch import Tensor

from grader.course.lesson_3.small_model import draw_small_weights, small_model
from grader.course.lesson_3.targets import draw_sequences
from grader.declare.authoring import CheckSpec, Inputs, InputSampler, Value, sizes, written_exercise
from grader.declare.probes import side_effects


def draw_one_step(
    sampler: InputSampler, *, sequences: int, tokens: int, vocabulary: int = 51, dtype=torch.float64
) -> Inputs:
    """Draw a batch, its right targets, and weights for the small model."""
    batch = draw_sequences(sampler, sequences=sequences, tokens=tokens, vocabulary=vocabulary)
    weights = draw_small_weights(sampler, vocabulary, 5, 7, dtype)
    return {
        # Large weights make the norm of the gradients far larger than 1, so a step that clips them gives
        # other weights.
        "weights": {name: 3 * weight for name, weight in weights.items()},
        "batch": {**batch, "image_patches": sampler.normal(sequences, 3, 7, dtype=dtype)},
        "targets": shift_targets(**batch),
    }


def draw_training(sampler: InputSampler, *, steps: int, **sizes) -> Inputs:
    """Draw inputs as `draw_one_step` does, and add the number of steps."""
    return {**draw_one_step(sampler, **sizes), "steps": steps}


def with_right_targets(train_step, token_ids: Tensor, prompt_lengths: Tensor, targets: Tensor):
    """Return a `train_step` that uses the right targets for this batch.

    During a call, a `shift_targets` that returns them replaces the student's function. So a mistake
    in 3.5 costs no points here.
    """
    names = getattr(train_step, "__globals__", {})
    own = names.get("shift_targets")

    def shift_targets(ids, lengths, pad_id=0, ignore_index=-100):
        same = torch.is_tensor(ids) and ids.shape == token_ids.shape and torch.equal(ids, token_ids)
        if same and torch.is_tensor(lengths) and torch.equal(lengths, prompt_lengths) and pad_id == 0:
            return targets.masked_fill(targets == -100, ignore_index)
        return own(ids, lengths, pad_id, ignore_index)  # another batch, or arguments in another order

    def step(*args, **options):
        names["shift_targets"] = shift_targets
        try:
            return train_step(*args, **options)
        finally:
            names["shift_targets"] = own

    return step


def training_values(train_step, weights: Mapping, batch: Mapping, targets: Tensor, steps: int):
    """Return the loss of each step, and the weights after the last step."""
    model = small_model(weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    for parameter in model.parameters():  # as after somebody else's backward
        parameter.grad = torch.ones_like(parameter)
    step = with_right_targets(train_step, batch["token_ids"], batch["prompt_lengths"], targets)
    losses = [step(model, optimizer, tuple(batch.values())) for _ in range(steps)]
    return {
        "losses": torch.tensor([float(loss) for loss in losses], dtype=batch["image_patches"].dtype),
        "weights": {name: parameter.detach().clone() for name, parameter in model.named_parameters()},
    }


def training_purity(train_step, weights: Mapping, batch: Mapping, targets: Tensor) -> Mapping[str, Value]:
    """Return whether the loss is a float, the model runs in training mode, and the batch stays unchanged."""
    model = small_model(weights)
    model.eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    given = {name: tensor.clone() for name, tensor in batch.items()}
    step = with_right_targets(train_step, batch["token_ids"], batch["prompt_lengths"], targets)
    loss = step(model=model, optimizer=optimizer, batch=tuple(given.values()))
    return {
        "the loss is a float": isinstance(loss, float),
        "in training mode": all(training for training, _, _ in model.calls),
        **side_effects(batch, given),
    }


STEP = written_exercise("3.6 One training step", train_step, (
    CheckSpec("values", 8, "loss and weights, over a few steps",
        examples=[sizes(sequences=3, tokens=5, steps=1, vocabulary=7, dtype=torch.float32),
            sizes(sequences=2, tokens=5, steps=3, vocabulary=7, dtype=torch.float32)],
        trials=[sizes(sequences=5, tokens=7, steps=1), sizes(sequences=3, tokens=11, steps=3)],
        probe=training_values),
    CheckSpec("conduct", 2, "training mode, a float, and the batch stays as it is",
        examples=[sizes(sequences=3, tokens=5, vocabulary=7)], trials=[sizes(sequences=3, tokens=5)],
        draw=draw_one_step, probe=training_purity),
),
    # float32 in public: a notebook keeps five digits of each number, and the self-check tolerates
    # less than that for float64.
    draw=draw_training,
    builds_on=("3.5",), difficulty=2, minutes=8, review="One step",
    mistakes="""
    stays_in_evaluation: The model is not put into training mode: call model.train() first.
        model.train()  →  pass
    returns_a_tensor: The returned loss is not a float. Return loss.item().
        loss.item()  →  loss
    no_update: The weights never change. Call loss.backward(), then optimizer.step(), without zero_grad() between the
        two.
        loss.backward()  →  pass
        optimizer.step()  →  pass
    no_zero_grad: Gradients pile up from step to step: call optimizer.zero_grad() before loss.backward().
        optimizer.zero_grad()  →  pass
    clears_after_the_step: Your code clears the gradients only after the step, so gradients from before the call
        change the first update. Call optimizer.zero_grad() before loss.backward().
        optimizer.zero_grad()  →  pass
        optimizer.step()  →  optimizer.step(); optimizer.zero_grad()
    summed_loss: The loss is a sum over the targets. Take their mean.
        ignore_index=-100  →  reduction="sum"
    mean_over_all_places: In your mean, positions without a target count with a loss of 0. Take the mean only over
        the targets.
        ignore_index=-100)  →  ignore_index=-100, reduction="none").mean()
    mean_over_questions: The losses of all targets are divided by the number of questions here. Divide by the number of
        targets, as cross_entropy does by default.
        ignore_index=-100)  →  ignore_index=-100, reduction="sum") / len(token_ids)
    learns_the_prompt: The model also learns the prompt here. Take the targets from shift_targets(token_ids,
        prompt_lengths).
        shift_targets(token_ids, prompt_lengths)  →  shift_targets(token_ids, torch.ones_like(prompt_lengths))
    learns_to_copy: Your code compares the logits with the tokens at the same position. Compare them with the next
        tokens, which shift_targets returns.
        shift_targets(token_ids, prompt_lengths)  →  shift_targets(token_ids, prompt_lengths).roll(1, -1)
    learns_every_token: The targets are the tokens themselves, also those of the question. Use shift_targets.
        shift_targets(token_ids, prompt_lengths)  →  token_ids
    learns_every_next_token: Every next token is a target here, even in the question and the padding. Use
        shift_targets.
        shift_targets(token_ids, prompt_lengths)  →  F.pad(token_ids[..., 1:], (0, 1), value=-100)
    shifted_once_more: The targets are shifted twice. shift_targets has already shifted them: compare logits and targets
        as they are.
        logits.flatten(0, -2), targets.flatten()  →  logits[:, :-1].flatten(0, -2), targets[:, 1:].flatten()
    reshapes_the_logits: A reshape to (B, vocabulary, T) mixes up words and positions. Swap the axes, or flatten
        batch and positions together.
        logits.flatten(0, -2), targets.flatten()  →  logits.reshape(len(logits), logits.shape[-1], -1), targets
    update_for_each_question: There is one update for each question. Make a single update, from the loss of the whole
        batch.
        + questions = list(zip(*(part.split(1) for part in batch)))
        + if len(questions) > 1: return sum(train_step(model, optimizer, one) for one in questions) / len(questions)
    clips: The gradients are clipped. The task asks for the update without clipping.
        optimizer.step()  →  nn.utils.clip_grad_norm_(model.parameters(), 1.0); optimizer.step()
    loss_after_the_update: You return a loss that was computed after the update. Return the loss that the update
        was made from.
        return loss.item()
            →  return F.cross_entropy(model(token_ids, image_patches)[0].flatten(0, -2), targets.flatten()).item()
    mean_of_means: In your loss every sequence counts equally. Take one mean over all targets of the batch.
        F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=-100)
            →  F.cross_entropy(logits.transpose(1, 2), targets, reduction="none").sum(1); loss = (loss / (targets !=
               -100).sum(1)).mean()
""")  # fmt: skip
