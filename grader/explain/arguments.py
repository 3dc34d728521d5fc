"""The reference on other arguments: what comes out if an argument is ignored, swapped, scaled or taken from another."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, permutations
from typing import Any, get_args

import torch
from torch import Tensor, nn

from grader.declare.exercise import Exercise
from grader.judge.planned_trial import PlannedTrial

# Inputs of a probe that are no arguments of the student's definition.
NO_ARGUMENTS = ("sizes", "weights", "arguments", "returns", "grad_outputs")
NOT_USED = "It comes out as if `{}` were not used."
OTHER_DEFAULT = "It comes out as if `{}` were always {}, whatever it is given."


def other_arguments(exercise: Exercise, trial: PlannedTrial) -> dict[str, Mapping[str, Any]]:
    """Return changed inputs of a trial's probe, by the phrase that says what was changed; the simplest first."""
    found: dict[str, Mapping[str, Any]] = {}
    for says, inputs in _variations(exercise, trial):
        found.setdefault(says, inputs)
    return found


def _variations(exercise: Exercise, trial: PlannedTrial) -> Iterator[tuple[str, Mapping[str, Any]]]:
    inputs = trial.inputs
    nested = isinstance(inputs.get("arguments"), Mapping)
    arguments = inputs["arguments"] if nested else {name: inputs[name] for name in inputs if name not in NO_ARGUMENTS}

    def put(changed: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**inputs, "arguments": changed} if nested else {**inputs, **changed}

    defaults = _defaults(exercise)
    for says, changed in (
        *_ignored(arguments, defaults, nested),
        *_masks(arguments),
        *_swapped(arguments),
        *_constants(arguments, exercise, trial),
    ):
        yield says, put(changed)
    for says, changed in exercise.otherwise(inputs, arguments, any(map(_takes_root, exercise.reference))):
        yield says, {**inputs, **changed} if "weights" in changed else put({**arguments, **changed})
    if any(map(_meets_layers, exercise.reference)) and isinstance(weights := inputs.get("weights"), Mapping):
        for says, changed in _weights(weights):
            yield says, {**inputs, "weights": changed}


def _defaults(exercise: Exercise) -> dict[str, Any]:
    """Collect the defaults of the parameters of an exercise's definitions, and of a layer's call."""
    found: dict[str, Any] = {}
    for definition in exercise.reference:
        for call in (
            (vars(definition)["__init__"], vars(definition)["forward"])
            if inspect.isclass(definition)
            else (definition,)
        ):
            for parameter in inspect.signature(call).parameters.values():
                if parameter.default is not inspect.Parameter.empty:
                    found[parameter.name] = parameter.default
    return found


Changes = Iterator[tuple[str, Mapping[str, Any]]]


def _ignored(arguments: Mapping[str, Any], defaults: Mapping[str, Any], nested: bool) -> Changes:
    """Leave an argument at its default."""
    for name, value in arguments.items():
        if name not in defaults:
            continue
        default = defaults[name]
        same = value is default or (not isinstance(value, Tensor) and value == default)
        if not same:
            says = NOT_USED.format(name) if default is None else OTHER_DEFAULT.format(name, default)
            yield says, {**arguments, name: default}


def _masks(arguments: Mapping[str, Any]) -> Changes:
    """Turn a bool mask around, transpose it, or use that of the first sequence for all."""
    for name, value in arguments.items():
        if not isinstance(value, Tensor):
            continue
        if value.is_floating_point() and value.ndim > 2 and len(value) > 1:
            says = f"It comes out as if the `{name}` of the first one were used for the whole batch."
            yield says, {**arguments, name: value[:1].expand_as(value).clone()}
        if value.dtype != torch.bool:
            continue
        yield NOT_USED.format(name), {**arguments, name: torch.ones_like(value)}
        means = "True = may attend" if "mask" in name else "True where it should be False"
        yield f"It comes out as if `{name}` were turned around: {means}.", {**arguments, name: ~value}
        if value.ndim >= 2:
            yield (
                f"It comes out as if `{name}` hid queries in place of keys: its last axis belongs to the keys.",
                {**arguments, name: value.transpose(-1, -2)},
            )
        if value.ndim > 2:
            yield (
                f"It comes out as if all sequences had the `{name}` of the first one.",
                {**arguments, name: value[:1].expand_as(value)},
            )


def _swapped(arguments: Mapping[str, Any]) -> Changes:
    """Let two tensors change places, or one serve in the other's place."""
    tensors = [name for name, value in arguments.items() if isinstance(value, Tensor)]
    for one, other in combinations(tensors, 2):
        if arguments[one].dtype == arguments[other].dtype:
            changed = {**arguments, one: arguments[other], other: arguments[one]}
            yield f"It comes out as if `{one}` and `{other}` had changed places.", changed
    for one, other in permutations(tensors, 2):
        if arguments[one].dtype == arguments[other].dtype:
            yield (
                f"It comes out as if `{other}` were used where `{one}` belongs.",
                {**arguments, one: arguments[other]},
            )


def _constants(arguments: Mapping[str, Any], exercise: Exercise, trial: PlannedTrial) -> Changes:
    """Yield the arguments with a number replaced by one that the examples of the lesson have for it."""
    for name, value in arguments.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        for other in _example_values(exercise, name):
            if other != value:
                yield OTHER_DEFAULT.format(name, f"{other:g}"), {**arguments, name: other}


def _example_values(exercise: Exercise, name: str) -> list[float]:
    """List the values that an argument has among the sizes of an exercise's public examples."""
    values = [trial.sizes.get(name) for check in exercise.checks for trial in check.examples]
    return sorted({value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)})


@cache
def _meets_layers(definition: Any) -> bool:
    """Tell whether a definition is a layer or may be given one: another cannot mix up the weights of the probe's model."""
    if inspect.isclass(definition):
        return True
    annotations = [parameter.annotation for parameter in inspect.signature(definition).parameters.values()]
    unknown = (inspect.Parameter.empty, Any)
    return any(
        one in unknown or isinstance(one, str) or (inspect.isclass(one) and issubclass(one, nn.Module))
        for annotation in annotations
        for one in (annotation, *get_args(annotation))
    )


@cache
def _takes_root(definition: Any) -> bool:
    """Tell whether a function or class, or a function that it calls, takes a root."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(definition)))
    space, package = vars(sys.modules[definition.__module__]), definition.__module__.partition(".")[0]
    for node in ast.walk(tree):
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name in ("sqrt", "rsqrt", "scaled_dot_product_attention"):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and ast.unparse(node.right) in ("0.5", "-0.5"):
            return True
        found = space.get(name)
        own = inspect.isfunction(found) and found.__module__.partition(".")[0] == package
        if own and found is not definition and _takes_root(found):
            return True
    return False


def _weights(weights: Mapping[str, Tensor]) -> Changes:
    """Let parts of a layer change places, leave one out, or leave out its bias."""
    parts: dict[str, dict[str, str]] = {}
    for name in weights:
        owner, _, kind = name.rpartition(".")
        if owner:
            parts.setdefault(owner, {})[kind] = name
    for one, other in combinations(parts, 2):
        if _same_form(weights, parts[one], parts[other]):
            changed = dict(weights)
            for kind, name in parts[one].items():
                changed[name], changed[parts[other][kind]] = weights[parts[other][kind]], weights[name]
            yield f"It comes out as if `{one}` and `{other}` had changed places.", changed
    for one, other in permutations(parts, 2):
        if _same_form(weights, parts[one], parts[other]):
            changed = {**weights, **{parts[one][kind]: weights[name] for kind, name in parts[other].items()}}
            yield f"It comes out as if `{other}` served in the place of `{one}`.", changed
    for owner, kinds in parts.items():
        matrix = weights.get(kinds.get("weight", ""))
        if isinstance(matrix, Tensor) and matrix.ndim == 2:
            bias = {kinds["bias"]: torch.zeros_like(weights[kinds["bias"]])} if "bias" in kinds else {}
            if matrix.shape[0] == matrix.shape[1]:
                eye = torch.eye(len(matrix), dtype=matrix.dtype)
                yield (f"It comes out as if `{owner}` were left out.", {**weights, kinds["weight"]: eye, **bias})
                yield (
                    f"It comes out as if the matrix of `{owner}` were transposed.",
                    {**weights, kinds["weight"]: matrix.T},
                )
            if bias:
                yield f"It comes out as if `{owner}` had no bias.", {**weights, **bias}
            zero = {name: torch.zeros_like(weights[name]) for name in kinds.values()}
            yield f"It comes out as if what `{owner}` makes were never added or used.", {**weights, **zero}


def _same_form(weights: Mapping[str, Tensor], one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return one.keys() == other.keys() and all(weights[one[kind]].shape == weights[other[kind]].shape for kind in one)
