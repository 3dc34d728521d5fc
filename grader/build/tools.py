"""The cell of self-checks: helper, probes and fixed examples, generated from the declaration."""

from __future__ import annotations

import ast
import json

from grader.build.provided import extract, inline
from grader.build.selfcheck import fingerprint, pack, unpack
from grader.checks.judge import run_here
from grader.checks.plan import Planned, examples, source_of
from grader.exercise import Exercise, Lesson, Status


def tools(lesson: Lesson) -> str:
    """The source of the cell."""
    compare = inline("grader.checks.compare:difference flatten shape")
    helper = _without(inline("grader.build.selfcheck"), "EXAMPLES", "pack", "_short")
    data = {exercise.id: _examples(lesson, exercise) for exercise in lesson.exercises}
    used = {example["probe"] for entry in data.values() for example in entry["examples"]}
    probes = {one.check.probe for exercise in lesson.exercises for one in examples(exercise)}
    sources = [source_of(probe) for probe in probes if probe.__name__ in used]
    imports = (
        "import inspect\nimport json\nimport math\nfrom collections.abc import Callable, Iterator, Mapping\n"
        "from math import cos, isclose, pi\nfrom typing import Any\n\nimport torch\n"
        "from torch import Tensor, nn\nfrom torch.nn import functional as F"
    )
    return "\n".join(
        [
            "from __future__ import annotations",
            "",
            imports,
            "\n",
            _definitions(compare, helper),
            "\n",
            _definitions(*sources),
            "\n",
            "EXAMPLES = json.loads(r'''",
            json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace('},{"probe"', '},\n{"probe"'),
            "''')",
        ]
    )


def _examples(lesson: Lesson, exercise: Exercise) -> dict:
    return {
        "name": exercise.name,
        "defines": list(exercise.defines),
        "examples": [_example(lesson, exercise, one) for one in examples(exercise) if one.check.at is None],
    }


def _example(lesson: Lesson, exercise: Exercise, one: Planned) -> dict:
    inputs = pack(dict(one.inputs))
    # What the notebook will compute: from the rounded inputs, not from those that were drawn.
    given = unpack(inputs)
    right = run_here(one.check.probe, lesson.reference, given)
    if right.status is not Status.OK:
        raise RuntimeError(f"{one.key}: the reference raised {right.error}: {right.message}")
    mistakes = []
    for wrong in exercise.mistakes:
        got = run_here(one.check.probe, {**lesson.reference, **wrong.replaces}, given)
        if got.status is Status.OK:
            mistakes.append([wrong.hint, round(fingerprint(got.values), 4)])
        else:
            first = (got.message.strip().splitlines() or [""])[0]
            mistakes.append([wrong.hint, f"it raised {got.error}: {first}"])
    return {
        "probe": one.check.probe.__name__,
        "describe": one.trial.describe,
        "inputs": inputs,
        "expected": pack(dict(right.values)),
        "mistakes": mistakes,
    }


def _definitions(*sources: str) -> str:
    """The definitions of several sources, each once, without imports, in order."""
    found: dict[str, str] = {}
    for source in sources:
        for node in ast.parse(source).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            start = min([node.lineno, *(line.lineno for line in getattr(node, "decorator_list", []))])
            text = "\n".join(source.splitlines()[start - 1 : node.end_lineno])
            found.setdefault(getattr(node, "name", text), text)
    return "\n\n\n".join(found.values())


def _without(source: str, *names: str) -> str:
    """A source without some of its top-level names."""
    kept = [
        node.name
        for node in ast.parse(source).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name not in names
    ]
    return extract(source, tuple(kept))
