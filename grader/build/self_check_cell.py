"""The cell of self-checks: helper, probes and fixed examples, generated from the declaration."""

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


def tools(lesson: Lesson) -> str:
    """The source of the cell."""
    compare = inline("grader.checks.compare:difference flatten shape")
    helper = inline("grader.build.self_check")
    data = {exercise.id: _examples(lesson, exercise) for exercise in lesson.exercises}
    used = {example["probe"] for entry in data.values() for example in entry["examples"]}
    probes = dict.fromkeys(one.check.probe for exercise in lesson.exercises for one in examples(exercise))
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
    return {
        "name": exercise.name,
        "defines": list(exercise.defines),
        "examples": [_example(lesson, exercise, one) for one in examples(exercise) if one.check.at is None],
    }


def _example(lesson: Lesson, exercise: Exercise, one: PlannedTrial) -> dict:
    inputs = pack(dict(one.inputs))
    # What the notebook will compute: from the rounded inputs, not from those that were drawn.
    given = unpack(inputs)
    right, expected = steady(one, lesson.reference, given)
    if right.status is not Status.OK:
        raise RuntimeError(f"{one.key}: the reference raised {right.error}: {right.message}")
    mistakes = []
    for wrong in exercise.mistakes:
        got, _ = steady(one, {**lesson.reference, **wrong.replaces}, given)
        if got.status is Status.OK:
            mistakes.append([wrong.hint, round(fingerprint(got.values), 4)])
        else:
            first = (got.message.strip().splitlines() or [""])[0]
            mistakes.append([wrong.hint, f"it raised {got.error}: {first}"])
    return {
        "probe": one.check.probe.__name__,
        "names": dict(one.check.names),
        "describe": one.trial.describe,
        "inputs": inputs,
        "expected": expected,
        "mistakes": mistakes,
    }


def steady(one: PlannedTrial, names: Mapping[str, Any], given: Inputs) -> tuple[Evidence, Value]:
    """What a probe returns, and the same as JSON, with digits that are the same on every processor.

    Sums in float32 differ in their last digits from one processor to the next, and rounding can make that visible;
    so the values are those of float64, under the dtypes that came back.
    """
    plain = run_here(one.check, names, given)
    exact = run_here(one.check, names, _double(given))
    packed = pack(dict(plain.values))
    if plain.status is not Status.OK or exact.status is not Status.OK:
        return plain, packed
    values = _steadier(dict(plain.values), dict(exact.values))
    return replace(plain, values=values), _labelled(pack(values), packed)


def _labelled(packed: Value, plain: Value) -> Value:
    """JSON of tensors under the dtypes of the other's."""
    if isinstance(packed, dict) and "tensor" in packed:
        return {**packed, "tensor": plain["tensor"]}
    if isinstance(packed, dict):
        return {name: _labelled(value, plain[name]) for name, value in packed.items()}
    return (
        [_labelled(*pair) for pair in zip(packed, plain, strict=True)] if isinstance(packed, list) else packed
    )


def _double(value: Value) -> Value:
    if isinstance(value, Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, Mapping):
        return {name: _double(inner) for name, inner in value.items()}
    return [_double(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _steadier(plain: Value, exact: Value) -> Value:
    """The exact value, in float64, where it is the plain one but for rounding."""
    if isinstance(plain, Mapping) and isinstance(exact, Mapping):
        return {name: _steadier(value, exact.get(name)) for name, value in plain.items()}
    if isinstance(plain, (list, tuple)) and isinstance(exact, (list, tuple)) and len(plain) == len(exact):
        return [_steadier(*pair) for pair in zip(plain, exact, strict=True)]
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
    """The definitions of several sources, each once and in order, without imports and without some names."""
    found: dict[str, str] = {}
    for source in sources:
        for node in ast.parse(source).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            start = min([node.lineno, *(line.lineno for line in getattr(node, "decorator_list", []))])
            text = "\n".join(source.splitlines()[start - 1 : node.end_lineno])
            name = getattr(getattr(node, "target", node), "id", getattr(node, "name", text))
            if name not in without:
                found.setdefault(name, text)
    return "\n\n\n".join(found.values())
