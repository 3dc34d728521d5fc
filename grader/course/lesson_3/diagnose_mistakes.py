"""Wrong answers to practice 3.P4: diagnoses that look at the wrong place, or compare with the wrong number."""

from __future__ import annotations

from collections.abc import Callable
from math import log, log2

import torch
from attention.diagnostics import FINDINGS, diagnose
from attention.training import shift_targets
from torch import Tensor, nn
from torch.nn import functional as F

from grader.declaration.exercise import mistake


def _asked_rows(maps: list[Tensor], prompt_lengths: Tensor) -> Tensor:
    """Return the rows of the last map at the end of each prompt (B, H, S)."""
    return maps[-1][torch.arange(len(prompt_lengths)), :, prompt_lengths - 1].detach()


def _asked_loss(logits: Tensor, token_ids: Tensor, prompt_lengths: Tensor) -> Tensor:
    """Compute the mean cross-entropy over `shift_targets`."""
    return F.cross_entropy(logits.transpose(1, 2), shift_targets(token_ids, prompt_lengths))


def _mean_entropy(rows: Tensor) -> float:
    """Return the mean entropy of the rows, relative to log S."""
    return torch.special.entr(rows).sum(-1).mean().item() / log(rows.shape[-1])


def _mean_share(rows: Tensor) -> float:
    """Return the largest weight in the mean of all rows."""
    return rows.flatten(0, -2).mean(0).max().item()


def _is_zero(gradient: Tensor | None) -> bool:
    """Tell whether a parameter gets no gradient, or only zeros."""
    return gradient is None or not bool(gradient.any())


def _gradients(loss: Tensor, parameters: list[nn.Parameter]) -> tuple[Tensor | None, ...]:
    """Compute the gradients of the parameters; None where the loss does not depend on one."""
    return torch.autograd.grad(loss, parameters, allow_unused=True)


def _changed_diagnosis(
    model: nn.Module,
    batch: tuple[Tensor, Tensor, Tensor],
    *,
    rows: Callable = _asked_rows,
    entropy: Callable = _mean_entropy,
    share: Callable = _mean_share,
    loss: Callable = _asked_loss,
    gradients: Callable = _gradients,
    is_none: Callable = _is_zero,
    frozen: Callable = any,
    cut_off: Callable = any,
    shuffled: Callable = lambda patches: patches.roll(1, 0),
    rises: Callable = lambda own, other: other >= 1.01 * own,
) -> list[str]:
    """Do what `diagnose` does, except for what the keyword arguments change."""
    token_ids, lengths, patches = batch
    logits, maps = model(token_ids, patches)
    own = loss(logits, token_ids, lengths)
    with torch.no_grad():
        other = loss(model(token_ids, shuffled(patches))[0], token_ids, lengths)
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    asked = rows(maps, lengths)
    found = {
        "frozen": frozen(not parameter.requires_grad for parameter in model.parameters()),
        "no gradient": cut_off(is_none(gradient) for gradient in gradients(own, learning)),
        "uniform": entropy(asked) > 0.99,
        "one patch": share(asked) > 0.9,
        "misaligned": not rises(own.item(), other.item()),
    }
    return [name for name in FINDINGS if found[name]]


@mistake("diagnose", "Nothing is ever found.")
def never_ill(model, batch):
    return []


@mistake("diagnose", "A healthy model is called ill: the list is empty where nothing is found.")
def always_ill(model, batch):
    return diagnose(model, batch) or ["misaligned"]


@mistake(
    "diagnose",
    "Uniform attention and attention on one patch are opposites; here they are told as one another.",
)
def collapses_confused(model, batch):
    other = {"uniform": "one patch", "one patch": "uniform"}
    return [other.get(name, name) for name in diagnose(model, batch)]


@mistake("diagnose", "A frozen parameter and one that no gradient reaches are two findings.")
def frozen_confused(model, batch):
    return ["no gradient" if name == "frozen" else name for name in diagnose(model, batch)]


@mistake("diagnose", "A model counts as frozen only if all of its parameters are. One is enough.")
def frozen_if_all_are(model, batch):
    return _changed_diagnosis(model, batch, frozen=all)


@mistake("diagnose", '"no gradient" is found only if no parameter gets one. One without is enough.')
def no_gradient_if_none_has(model, batch):
    return _changed_diagnosis(model, batch, cut_off=all)


@mistake("diagnose", "Only the first finding is returned. A model may have more than one: list all of them.")
def first_finding_only(model, batch):
    return diagnose(model, batch)[:1]


@mistake("diagnose", "The findings are in another order. Return them in the order of the table.")
def other_order(model, batch):
    return diagnose(model, batch)[::-1]


@mistake(
    "diagnose",
    "The entropy is compared with 0.99 alone. Its largest value is log S: compare with 0.99 · log S.",
)
def log_s_forgotten(model, batch):
    def entropy(rows: Tensor) -> float:
        return torch.special.entr(rows).sum(-1).mean().item()

    return _changed_diagnosis(model, batch, entropy=entropy)


@mistake("diagnose", "The entropy is made with log2, and log S is not. Use the same log for both.")
def entropy_in_bits(model, batch):
    def entropy(rows: Tensor) -> float:
        return _mean_entropy(rows) * log2(rows.shape[-1]) / log(rows.shape[-1])

    return _changed_diagnosis(model, batch, entropy=entropy)


@mistake(
    "diagnose", "This is the entropy of the mean row. Take each row's entropy first, then the mean of them."
)
def entropy_of_the_mean(model, batch):
    def entropy(rows: Tensor) -> float:
        return _mean_entropy(rows.flatten(0, -2).mean(0, keepdim=True))

    return _changed_diagnosis(model, batch, entropy=entropy)


@mistake(
    "diagnose",
    "Rows that look at different patches count as one patch. Take the mean over heads and batch first, then its largest.",
)
def largest_before_the_mean(model, batch):
    return _changed_diagnosis(model, batch, share=lambda rows: rows.amax(-1).mean().item())


@mistake("diagnose", "Heads are not averaged. Take the mean of the rows over the heads and over the batch.")
def share_by_head(model, batch):
    return _changed_diagnosis(model, batch, share=lambda rows: rows.mean(0).max().item())


@mistake(
    "diagnose", "The batch is not averaged. Take the mean of the rows over the heads and over the batch."
)
def share_by_scene(model, batch):
    return _changed_diagnosis(model, batch, share=lambda rows: rows.mean(1).max().item())


@mistake(
    "diagnose",
    "The rows are of the last column of the text. Each prompt has an end of its own: prompt_lengths − 1.",
)
def last_column(model, batch):
    return _changed_diagnosis(model, batch, rows=lambda maps, lengths: maps[-1][:, :, -1].detach())


@mistake("diagnose", "The rows are one place too far. The last position of a prompt is prompt_lengths − 1.")
def one_place_too_far(model, batch):
    return _changed_diagnosis(model, batch, rows=lambda maps, lengths: _asked_rows(maps, lengths + 1))


@mistake(
    "diagnose",
    "Rows of other positions are measured, too. Take from each scene the row at the last position of its own prompt.",
)
def every_position(model, batch):
    return _changed_diagnosis(model, batch, rows=lambda maps, lengths: maps[-1].detach())


@mistake("diagnose", "The first map is measured. Take the last one: maps[-1].")
def first_map(model, batch):
    return _changed_diagnosis(model, batch, rows=lambda maps, lengths: _asked_rows(maps[:1], lengths))


@mistake(
    "diagnose", "A gradient of zeros counts as one. A parameter that gets only zeros learns nothing, either."
)
def zeros_overlooked(model, batch):
    return _changed_diagnosis(model, batch, is_none=lambda gradient: gradient is None)


@mistake("diagnose", "A single zero in a gradient counts as none. Only a gradient that is all zeros is none.")
def any_zero(model, batch):
    def is_none(gradient: Tensor | None) -> bool:
        return gradient is None or bool((gradient == 0).any())

    return _changed_diagnosis(model, batch, is_none=is_none)


@mistake(
    "diagnose",
    "Gradients left from training hide a part that gets none now: torch.autograd.grad does not look at them.",
)
def stale_gradients(model, batch):
    def gradients(loss: Tensor, parameters: list[nn.Parameter]) -> list[Tensor | None]:
        loss.backward()
        return [parameter.grad for parameter in parameters]

    return _changed_diagnosis(model, batch, gradients=gradients)


@mistake(
    "diagnose", "The loss is over the whole text, the question included. Take the targets from shift_targets."
)
def whole_text(model, batch):
    def loss(logits: Tensor, token_ids: Tensor, prompt_lengths: Tensor) -> Tensor:
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten())

    return _changed_diagnosis(model, batch, loss=loss)


@mistake("diagnose", "Any rise of the loss counts as aligned. It has to rise by 1 % or more.")
def any_rise(model, batch):
    return _changed_diagnosis(model, batch, rises=lambda own, other: other > own)


@mistake(
    "diagnose", "0.01 is added to the loss. 1 % of the loss is 0.01 times the loss: compare with 1.01 · loss."
)
def absolute_rise(model, batch):
    return _changed_diagnosis(model, batch, rises=lambda own, other: other >= own + 0.01)


@mistake("diagnose", "The patches within a scene are moved, not the scenes: roll along the first axis.")
def rolls_patches(model, batch):
    return _changed_diagnosis(model, batch, shuffled=lambda patches: patches.roll(1, 1))


@mistake("diagnose", "What was frozen learns now: requires_grad is left changed. Leave the model as it was.")
def unfreezes(model, batch):
    found = diagnose(model, batch)
    model.requires_grad_(True)
    return found


@mistake("diagnose", "The model is left in another mode. Put every part back into the mode that it was in.")
def left_in_evaluation_after(model, batch):
    found = diagnose(model, batch)
    model.eval()
    return found
