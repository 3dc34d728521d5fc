"""Generates the cell of self-checks from the declaration: code, probes and small examples, compressed to a text."""

from __future__ import annotations

import ast
import bz2
import json
import lzma
from base64 import b85encode
from collections.abc import Sequence
from typing import Any

import torch

from grader.build.bundle import Part, bundle
from grader.build.reproducible import ReproducibleResults
from grader.build.self_check_answers import wrong_answers
from grader.build.self_check_pack import Writer
from grader.build.self_check_trials import PackedInputs, chosen_trials, expected_of
from grader.checks.planned_trial import PlannedTrial, source_of
from grader.declaration.builtin_names import banned_names
from grader.declaration.exercise import Check, Exercise
from grader.declaration.lesson import Lesson
from grader.diagnosis.fingerprint import fingerprint
from grader.diagnosis.mutants.defaults import asked_defaults

LINE = 10_000  # characters of a line of the compressed text: few lines, and no editor stumbles over one
PROBES = "probes"
CELL = """\
from __future__ import annotations

import bz2
import inspect
import json
import linecache
import lzma
import math
from base64 import b85decode
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import cos, isclose, pi
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# check("{example}") tries your answer on small examples and says what is off, and why. Its code and its numbers stand below,
# compressed to keep the notebook short; print(self_check_source()) shows the code. There is no solution in it.
SELF_CHECK = '''
{text}
'''


@cache
def self_check_texts():
    packed = b85decode("".join(SELF_CHECK.split()))
    end = 4 + int.from_bytes(packed[:4], "big")
    code, _, exercises = bz2.decompress(packed[4:end]).decode().partition("\\n#: exercises\\n")
    return code, json.loads(exercises), lzma.decompress(packed[end:])


def self_check_source():
    return self_check_texts()[0]


@cache
def self_check_modules():
    modules = {{}}
    for part in self_check_source().split("\\n#: "):
        head, _, source = part.partition("\\n")
        module, _, imports = head.removeprefix("#: ").partition(" ")
        names = {{name: modules[there][origin] for name, (there, origin) in json.loads(imports).items()}}
        modules[module] = {{"__name__": "__main__", **names}}
        file = f"<self-check: {{module}}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), modules[module])
    return modules


def make_check(names):
    def check(exercise):
        _, exercises, data = self_check_texts()
        modules = self_check_modules()
        modules["grader.build.self_check"]["make_check"](names, exercises, data, modules["probes"])(exercise)

    return check


check = make_check(globals())"""


def self_check_source(lesson: Lesson) -> str:
    """Return the source of a lesson's cell of self-checks; it ends by defining `check`."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the tensors are so small that more threads take ten times as long
    try:
        text, data = _code_and_data(lesson)
    finally:
        torch.set_num_threads(threads)
    compressed = bz2.compress(text)
    bytes_of_data = lzma.compress(data, lzma.FORMAT_ALONE, preset=9 | lzma.PRESET_EXTREME)
    packed = b85encode(len(compressed).to_bytes(4, "big") + compressed + bytes_of_data).decode()
    lines = [packed[start : start + LINE] for start in range(0, len(packed), LINE)]
    return CELL.format(example=lesson.exercises[0].id, text="\n".join(lines))


def _code_and_data(lesson: Lesson) -> tuple[bytes, bytes]:
    """Return the code of the self-checks, with what they know as JSON below it, and the bytes that belong to it."""
    writer = Writer()
    exercises: dict[str, Any] = {}
    checks: list[Check] = []
    for exercise in lesson.exercises:
        results = ReproducibleResults(lesson.reference)
        chosen = chosen_trials(lesson, exercise, results)
        exercises[exercise.id] = exercise_data(exercise, chosen, results, writer)
        checks += [trial.check for trial, _ in chosen]
    parts = (*bundle("grader.build.self_check"), probes_part(checks))
    code = "\n".join(f"#: {part.module} {json.dumps(part.imports)}\n{part.source}" for part in parts)
    told = json.dumps(exercises, ensure_ascii=False, separators=(",", ":"))
    return f"{code}\n#: exercises\n{told}".encode(), bytes(writer.data)


def probes_part(checks) -> Part:
    """Return the probes and judges as one part."""
    functions: dict[str, str] = {}
    for check in checks:
        for function in filter(None, (check.probe, check.judge)):
            functions.setdefault(function.__name__, source_of(function))
    imports = {
        "Finding": ("grader.build.self_check", "Finding"),
        "difference": ("grader.checks.compare", "difference"),
    }
    head = (
        "from __future__ import annotations\nimport math\nfrom collections.abc import *\nfrom typing import Any\n"
        "import torch\nfrom torch import Tensor, nn\nfrom torch.nn import functional as F"
    )
    return Part(PROBES, f"{head}\n\n\n{_definitions(*functions.values())}", imports)


def exercise_data(
    exercise: Exercise,
    chosen: Sequence[tuple[PlannedTrial, PackedInputs]],
    results: ReproducibleResults,
    writer: Writer,
) -> dict[str, Any]:
    """Pack what the self-check of one exercise needs."""
    trials = [trial for trial, _ in chosen]
    checks = list(dict.fromkeys(trial.check.name for trial in trials))
    start = len(writer.data)
    packed = [
        _trial_data(trial, checks.index(trial.check.name), inputs, results, writer)
        for trial, inputs in chosen
    ]
    wrong = wrong_answers(exercise, trials, results)
    right = [fingerprint(expected_of(trial, results)) for trial in trials]
    return {
        "name": exercise.name,
        "defines": list(exercise.defines),
        "bans": sorted(banned_names(exercise.bans)),
        "also": [check.title for check in exercise.checks if check.name not in checks],
        "defaults": asked_defaults(exercise.reference),
        "start": start,
        "checks": [_check_data(check) for check in exercise.checks if check.name in checks],
        "trials": packed,
        "wrong answers": [
            [known.kind, "" if known.name == known.says else known.name, known.says] for known, _ in wrong
        ],
        "forms": writer.briefs([[own.get(index) for index in range(len(trials))] for _, own in wrong], right),
    }


def _check_data(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "probe": check.probe.__name__,
        "names": dict(check.names),
        "rtol": check.rtol,
        "judge": check.judge.__name__ if check.judge else "",
    }


def _trial_data(
    trial: PlannedTrial, check: int, inputs: PackedInputs, results: ReproducibleResults, writer: Writer
) -> list:
    """Pack one trial: its check, its sizes in words and as values, its inputs, and what is expected."""
    sizes = {
        name: value
        for name, value in trial.trial.sizes.items()
        if isinstance(value, (int, float, str, tuple))
    }
    writer.data += inputs.data
    expected = writer.expected(expected_of(trial, results))
    return [check, trial.key.split("/", 1)[1], trial.trial.describe, sizes, inputs.told, expected]


def _definitions(*sources: str) -> str:
    """Join the definitions of several sources, each name once, without imports."""
    definitions: dict[str, str] = {}
    for source in sources:
        for node in ast.parse(source).body:
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                start = min([node.lineno, *(line.lineno for line in getattr(node, "decorator_list", []))])
                text = "\n".join(source.splitlines()[start - 1 : node.end_lineno])
                definitions.setdefault(getattr(node, "name", text), text)
    return "\n\n\n".join(definitions.values())
