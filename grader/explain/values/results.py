"""Explains mistakes in several results together: their order, repetition, or a list instead of a tensor.

Also explains how the parameters of a layer, which a probe returns as a list,
differ from those that the task asks for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.explain.values.structure import structure
from grader.explain.values.wording import NEAR, BySize, ObservedTrial, Phrase, agree, leaf, the_leaf

Shapes = Mapping[str, tuple[int, ...]]

NAME_AND_SHAPE = re.compile(r"^([\w.]+)(?: \(([\d, ]*)\))?$")


def of_parameters(got: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """Return a sentence on how a layer's parameters differ from the expected ones.

    Return "" if the results contain no lists of parameters, or if the lists are the same.

    A probe returns the parameters as ["linear.weight (3, 7)", …], as ["linear.weight", …], or as
    {"linear.weight": [3, 7], …}.
    """
    has, wants = _parameters(got), _parameters(expected)
    if not wants or not has or has == wants:
        return ""
    extra, missing = sorted(has.keys() - wants.keys()), sorted(wants.keys() - has.keys())
    if len(extra) == len(missing) and extra and sorted(has[n] for n in extra) == sorted(wants[n] for n in missing):
        return f"Your layer has {_listed(extra)}, but the task asks for {_listed(missing)}."
    kinds = {(name.rpartition(".")[2], has[name]) for name in extra}
    if missing and all((name.rpartition(".")[2], wants[name]) in kinds for name in missing):
        return f"Your layer has {_listed(extra)}, but the task asks only for {_listed(missing)}."
    if missing:
        why = " Does __init__ create every layer (nn.Module) and parameter (nn.Parameter), and store it in self?"
        return f"Your layer lacks the parameter{'s' * (len(missing) > 1)} {_listed(missing)}.{why}"
    if extra:
        if all(name.endswith("bias") for name in extra):
            return f"Your layer has {_listed(extra)}, which the task does not ask for: pass bias=False."
        return f"Your layer has {_listed(extra)}, which the task does not ask for."
    if says := _of_roles(has, wants):
        return says
    wrong = next(name for name in sorted(wants) if has[name] != wants[name])
    if has[wrong] == tuple(reversed(wants[wrong])):
        turned = " nn.Linear takes the input width first, then the output width."
        return f"The two widths of `{wrong}` are swapped: expected {wants[wrong]}, but got {has[wrong]}.{turned}"
    return f"`{wrong}` has the shape {has[wrong]}, expected {wants[wrong]}."


def _of_roles(has: Shapes, wants: Shapes) -> str:
    """Return a sentence that names the layers which have the input width of another layer.

    Return "" if this does not explain all wrong shapes.
    """
    wrong = [name for name in sorted(wants) if has[name] != wants[name]]
    owners = {name: [other for other in sorted(wants) if wants[other] == has[name] != wants[name]] for name in wrong}
    layers = _listed([name.rpartition(".")[0] for name in wrong])
    if not all(name.endswith(".weight") and len(wants[name]) == 2 for name in wrong) or not all(owners.values()):
        return ""
    if all(wants[name][0] == has[name][0] for name in wrong):
        others = sorted({owner.rpartition(".")[0] for found in owners.values() for owner in found})
        if all(other in wrong for found in owners.values() for other in found):
            return f"The input widths of {layers} are swapped. Which input does each layer read?"
        has_width = "has the input width" if len(wrong) == 1 else "have the input widths"
        return f"{layers} {has_width} of {_listed(others)}. Which input does each layer read?"
    return ""


def _parameters(values: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters by name. A shape is () if it is not known."""
    found: dict[str, tuple[int, ...]] = {}
    for name, value in values.items():
        if name == "parameters" and isinstance(value, list):
            for text in value:
                if match := NAME_AND_SHAPE.match(text) if isinstance(text, str) else None:
                    found[match[1]] = tuple(int(size) for size in (match[2] or "").split(",") if size.strip())
        elif name.startswith("parameters.") and isinstance(value, list):
            found[name.removeprefix("parameters.")] = tuple(value)
    return found


def _listed(names: list[str]) -> str:
    shown = [f"`{name}`" for name in names[:6]] + ["…"] * (len(names) > 6)
    return ", ".join(shown)


OTHER, SHAPE, RIGHT = 0, 1, 2  # how much a tensor looks like another


def of_all(got: Mapping[str, Any], want: Mapping[str, Any], sizes: Mapping[str, Any] | None = None) -> list[str]:
    """Return the phrases that apply to several results together; [] if no phrase does.

    They describe two results that are swapped, a result that is returned twice, a missing result, a list instead
    of a tensor, and a tensor instead of a list.
    """
    if got.get("inputs unchanged") is False:
        return []  # the probe looks at nothing else then
    found = [*_lists(got, want), *_places(got, want)]
    if not found:
        found = [
            f"Your function does not return {the_leaf(name)}."
            for name, value in want.items()
            if name not in got and got and isinstance(value, Tensor) and "[" not in name
        ]
    return list(dict.fromkeys(found))


def form_of(trials: Sequence[ObservedTrial], sure: bool = False) -> str:
    """Return the first phrase about the form that is true in all failing trials of a check, or "" if no phrase is.

    Phrases about several values are tried before those about a single value.

    Args:
        trials: the trials of one check.
        sure: leave out phrases that follow only from shapes and that the numbers do not confirm.
    """
    failing = [trial for trial in trials if not trial.passed]
    if not failing or any(trial.error for trial in failing):
        return ""
    if says := _in_all([of_all(trial.got, trial.expected, trial.sizes) for trial in failing]):
        return says
    # Where an axis has length 1, several forms look alike.
    plain = [not _has_ones(trial) for trial in failing]
    for name in failing[0].expected:
        if all(name in trial.got and name in trial.expected for trial in failing):
            found = [structure(name, trial.got[name], trial.expected[name], trial.sizes, sure) for trial in failing]
            # Where the trial that is shown has its shape, the shape of another explains it only if the numbers
            # confirm it.
            has_form = _has_form(failing[0], name)
            off = [
                structure(name, trial.got[name], trial.expected[name], trial.sizes, sure or has_form)
                for trial in failing
                if not _has_form(trial, name)
            ]
            telling = [one for one, is_plain in zip(found, plain, strict=True) if is_plain]
            if says := _in_all(found) or _in_all(telling) or _in_all(off):
                return says
    return ""


def _has_form(trial: ObservedTrial, name: str) -> bool:
    """Return True if a tensor has the expected shape. A wrong tensor may have it if two sizes are the same."""
    return getattr(trial.got[name], "shape", None) == getattr(trial.expected[name], "shape", ())


def _has_ones(trial: ObservedTrial) -> bool:
    return any(isinstance(value, Tensor) and 1 in value.shape for value in trial.expected.values())


def _in_all(lists: Sequence[Sequence[Phrase]]) -> str:
    """Return the text of the first phrase that is in all lists, or "" if no phrase is.

    A phrase that names sizes is accepted only if there are several lists and its rule yields no other phrase.
    """
    shared = [phrase for phrase in (lists[0] if lists else []) if all(phrase in other for other in lists)]
    by_size = {(phrase.rule, phrase.sizes) for phrase in shared if isinstance(phrase, BySize)}
    rules = [rule for rule, _ in by_size]
    for phrase in shared:
        if isinstance(phrase, str):
            return phrase
        if rules.count(phrase.rule) == 1 < len(lists):
            return phrase.says
    return ""


def _places(got: Mapping[str, Any], want: Mapping[str, Any]) -> Iterator[str]:
    """Yield messages about two results that are swapped, or a result that is returned twice."""
    names = [name for name, value in want.items() if isinstance(value, Tensor) and isinstance(got.get(name), Tensor)]
    # What another call gave ("loss at another temperature", "without head 1") is no second result of one call.
    names = [name for name in names if re.fullmatch(r"[a-z_ ]+", name) and not re.search(r" of |without", name)]
    names = [name for name in names if not any(name.startswith(f"{other} ") for other in names)]
    for index, one in enumerate(names):
        for other in names[index + 1 :]:
            crossed = _looks_like(got[one], want[other]), _looks_like(got[other], want[one])
            straight = _looks_like(got[one], want[one]), _looks_like(got[other], want[other])
            guess = want[one].shape == want[other].shape and RIGHT not in crossed
            if max(straight) < RIGHT and not guess and min(crossed) >= SHAPE:
                yield f"The two results are swapped: return {the_leaf(one)} first, then {the_leaf(other)}."
                continue
            if got[one].shape == got[other].shape and torch.equal(got[one], got[other]):
                if not (want[one].shape == want[other].shape and torch.equal(want[one], want[other])):
                    yield f"Your function returns the same tensor twice, as {the_leaf(one)} and as {the_leaf(other)}."
            elif max(straight) < RIGHT and RIGHT in crossed:
                first, second = (one, other) if crossed[0] == RIGHT else (other, one)
                yield f"Your function returns {the_leaf(second)} instead of {the_leaf(first)}."


def _looks_like(one: Tensor, other: Tensor) -> int:
    if one.shape != other.shape or one.dtype != other.dtype:
        return OTHER
    near = NEAR.get(other.dtype, 1e-9)
    return RIGHT if agree(one.detach().cpu().double(), other.detach().cpu().double(), near) else SHAPE


def _lists(got: Mapping[str, Any], want: Mapping[str, Any]) -> Iterator[str]:
    """Yield messages about a list instead of a tensor, a tensor instead of a list, and lists of the wrong length."""
    for name, value in want.items():
        if isinstance(value, Tensor) and name not in got and f"{name} (number)" in got:
            parts = [got.get(f"{name}[{index}]") for index in range(got[f"{name} (number)"])]
            first = parts[0] if parts else None
            if isinstance(first, Tensor) and first.shape == value.shape and len(parts) > 1:
                yield f"Your function returns several values: return only {the_leaf(name)}."
            says = f"Expected one tensor for {the_leaf(name)}, but got a list or tuple of tensors"
            yield f"{says}: {_stacked(parts, value)}."
            yield f"{says}."
        elif name.endswith(" (number)") and name not in got:
            plain = name.removesuffix(" (number)")
            if isinstance(got.get(plain), Tensor):
                yield f"Expected a list of tensors for {the_leaf(plain)}, but got one tensor."
        elif name.endswith(" (number)") and got[name] != value and isinstance(got[name], int):
            plain = leaf(name.removesuffix(" (number)"))
            entries = [got.get(f"{name.removesuffix(' (number)')}[{index}]", got) for index in range(got[name])]
            if any(entry is None for entry in entries):
                yield f"The list of {plain} contains None: leave such entries out."
            else:
                yield f"The list of {plain} has too {'many' if got[name] > value else 'few'} entries."


def _stacked(parts: list[Any], want: Tensor) -> str:
    """Return a phrase that states how to combine a list of tensors to the expected tensor.

    The phrase is a general one if no combination gives the expected tensor.
    """
    tensors = [part for part in parts if isinstance(part, Tensor)]
    if len(tensors) == len(parts) > 0 and len({(part.shape, part.dtype) for part in tensors}) == 1:
        for axis in range(tensors[0].ndim + 1):
            if _looks_like(torch.stack(tensors, axis), want) == RIGHT:
                return f"stack them along axis −{want.ndim - axis}"
        for axis in range(tensors[0].ndim):
            if _looks_like(torch.cat(tensors, axis), want) == RIGHT:
                return f"join them along axis −{want.ndim - axis}"
    return "make one tensor of them with torch.stack or torch.cat"
