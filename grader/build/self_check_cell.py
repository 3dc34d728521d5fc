"""Generates the cell of self-checks from the declaration: helper functions, probes and fixed examples."""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from math import isclose
from typing import Any

import torch
from torch import Tensor

from grader.build.provided import inline
from grader.build.self_check import fingerprint, pack, unpack
from grader.checks.plan import examples
from grader.checks.planned_trial import PlannedTrial, source_of
from grader.checks.reference_results import run_here
from grader.declaration.exercise import Exercise
from grader.declaration.lesson import Lesson
from grader.records import Evidence, Inputs, Status, Value


def self_check_source(lesson: Lesson) -> str:
    """Return the source of a lesson's cell of self-checks; it ends by defining `check`."""
    compare = inline("grader.checks.compare:difference flatten shape")
    helper = inline("grader.build.self_check")
    data = {exercise.id: _examples(lesson, exercise) for exercise in lesson.exercises}
    used = {example["probe"] for entry in data.values() for example in entry["examples"]}
    probes = dict.fromkeys(trial.check.probe for exercise in lesson.exercises for trial in examples(exercise))
    sources = [source_of(probe) for probe in probes if probe.__name__ in used]
    imports = (
        "import inspect\nimport json\nimport math\nfrom collections.abc import Callable, Iterator, Mapping\n"
        "from math import cos, isclose, pi\nfrom typing import Any\n\nimport torch\n"
        "from torch import Tensor, nn\nfrom torch.nn import functional as F"
    )
    table = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace('},{"probe"', '},\n{"probe"')
    body = [
        _definitions(compare, helper, without=("EXAMPLES", "PROBES", "NAMES", "pack", "_short")),
        _definitions(*sources),
        f"PROBES = {{probe.__name__: probe for probe in ({''.join(f'{name}, ' for name in sorted(used))})}}",
        f"EXAMPLES = json.loads(r'''\n{table}\n''')",
        "return check",
    ]
    inside = textwrap.indent("\n\n".join(body), "    ", lambda line: bool(line.strip()))
    return (
        f"from __future__ import annotations\n\n{imports}\n\n\n"
        f"def make_check(NAMES):\n{inside}\n\n\ncheck = make_check(globals())"
    )


def _examples(lesson: Lesson, exercise: Exercise) -> dict:
    """Collect what the self-check of one exercise needs, as JSON values."""
    return {
        "name": exercise.name,
        "defines": list(exercise.defines),
        "examples": [
            _example(lesson, exercise, trial) for trial in examples(exercise) if trial.check.at is None
        ],
    }


def _example(lesson: Lesson, exercise: Exercise, trial: PlannedTrial) -> dict:
    """Compute one example: its inputs, what the reference returns, and how each mistake is recognised."""
    inputs = pack(dict(trial.inputs))
    # `pack` rounded the drawn inputs. The notebook computes with the rounded ones; do the same here.
    rounded = unpack(inputs)
    right, expected = run_reproducibly(trial, lesson.reference, rounded)
    if right.status is not Status.OK:
        raise RuntimeError(f"{trial.key}: the reference raised {right.error}: {right.message}")
    mistakes = []
    for wrong in exercise.mistakes:
        got, _ = run_reproducibly(trial, {**lesson.reference, **wrong.replaces}, rounded)
        if got.status is Status.OK:
            mistakes.append([wrong.hint, round(fingerprint(got.values), 4)])
        else:
            first = (got.message.strip().splitlines() or [""])[0]
            mistakes.append([wrong.hint, f"it raised {got.error}: {first}"])
    return {
        "probe": trial.check.probe.__name__,
        "names": dict(trial.check.names),
        "describe": trial.trial.describe,
        "inputs": inputs,
        "expected": expected,
        "mistakes": mistakes,
    }


def run_reproducibly(trial: PlannedTrial, names: Mapping[str, Any], inputs: Inputs) -> tuple[Evidence, Value]:
    """Run a probe; return its evidence, and its values as JSON, with the same digits on every processor.

    The last digits of sums in float32 differ between processors, and rounding can make the difference
    visible. So run the probe with the given inputs and again with float64 inputs, and take the float64 values
    where both results agree up to rounding. The JSON keeps the dtypes of the first run. If either run fails,
    return the first run's results alone.
    """
    plain = run_here(trial.check, names, inputs)
    exact = run_here(trial.check, names, _in_float64(inputs))
    packed = pack(dict(plain.values))
    if plain.status is not Status.OK or exact.status is not Status.OK:
        return plain, packed
    values = _prefer_exact(dict(plain.values), dict(exact.values))
    return replace(plain, values=values), _with_dtypes(pack(values), packed)


def _with_dtypes(packed: Value, plain: Value) -> Value:
    """Return the JSON value `packed`, but with the dtypes that its tensors have in the JSON value `plain`."""
    if isinstance(packed, dict) and "tensor" in packed:
        return {**packed, "tensor": plain["tensor"]}
    if isinstance(packed, dict):
        return {name: _with_dtypes(value, plain[name]) for name, value in packed.items()}
    return (
        [_with_dtypes(*pair) for pair in zip(packed, plain, strict=True)]
        if isinstance(packed, list)
        else packed
    )


def _in_float64(value: Value) -> Value:
    """Return a value whose tensors of floats are converted to float64."""
    if isinstance(value, Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, Mapping):
        return {name: _in_float64(inner) for name, inner in value.items()}
    return [_in_float64(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _prefer_exact(plain: Value, exact: Value) -> Value:
    """Return `plain`, with the parts of `exact`, in float64, where the two agree up to rounding."""
    if isinstance(plain, Mapping) and isinstance(exact, Mapping):
        return {name: _prefer_exact(value, exact.get(name)) for name, value in plain.items()}
    if isinstance(plain, (list, tuple)) and isinstance(exact, (list, tuple)) and len(plain) == len(exact):
        return [_prefer_exact(*pair) for pair in zip(plain, exact, strict=True)]
    if isinstance(plain, Tensor) and isinstance(exact, Tensor) and plain.shape == exact.shape:
        close = plain.is_floating_point() and torch.allclose(
            plain.double(), exact.double(), 1e-3, 1e-5, equal_nan=True
        )
        return exact.double() if close else plain
    if (
        isinstance(plain, float)
        and isinstance(exact, float)
        and isclose(plain, exact, rel_tol=1e-3, abs_tol=1e-5)
    ):
        return float(f"{exact:.6g}")
    return plain


def _definitions(*sources: str, without: tuple[str, ...] = ()) -> str:
    """Join the definitions of several sources, each name once; leave out imports and the names `without`."""
    definitions: dict[str, str] = {}
    for source in sources:
        for node in ast.parse(source).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            start = min([node.lineno, *(line.lineno for line in getattr(node, "decorator_list", []))])
            text = "\n".join(source.splitlines()[start - 1 : node.end_lineno])
            name = getattr(getattr(node, "target", node), "id", getattr(node, "name", text))
            if name not in without:
                definitions.setdefault(name, text)
    return "\n\n\n".join(definitions.values())
