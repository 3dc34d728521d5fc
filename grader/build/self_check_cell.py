"""Generates the cell of self-checks: code and probes, and what each exercise's check knows, compressed to a text.

`read_self_checks` reads it again: numbers that are in the committed notebook stay as they are until what they are computed from
changes, so that they do not depend on the processor of whoever builds.
"""

import bz2
import json
import lzma
from base64 import b85decode, b85encode
from collections.abc import Mapping, Sequence
from inspect import getsource
from itertools import pairwise
from types import FunctionType
from typing import NamedTuple

from grader.build.bundle import Part, bundle
from grader.build.provided import in_lines
from grader.build.self_check_pack import Packed
from grader.build.slim import slim
from grader.declare.exercise import Check, Exercise
from grader.declare.lesson import Lesson
from grader.judge.planned_trial import sent_with

PROBES = "probes"
EXERCISES = "\n#: exercises\n"  # between the code and what is known of the exercises
CELL = """\
from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import cos, isclose, pi
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# check("{example}") tries your answer on small examples and says what is off, and why. Its code and its numbers stand below,
# compressed to keep the notebook short; print(self_check_source()) shows the code.
# carry_on("{example}") lets you go on without an answer of your own; it earns no points.
SELF_CHECK = '''
{text}
'''


@cache
def self_check_texts():  # what it needs is imported here: `from torch import *` in a cell gives `int` another meaning
    import bz2, json, lzma
    from base64 import b85decode
    from builtins import int

    packed = b85decode("".join(SELF_CHECK.split()))
    end = 4 + int.from_bytes(packed[:4], "big")
    code, _, exercises = bz2.decompress(packed[4:end]).decode().partition("\\n#: exercises\\n")
    return code, json.loads(exercises), lzma.decompress(packed[end:])


def self_check_source():
    return self_check_texts()[0]


@cache
def self_check_modules():
    import json, linecache
    from builtins import compile, exec, len

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


def make_tools(names):
    def check(exercise):
        _, exercises, data = self_check_texts()
        modules = self_check_modules()
        self_check = modules["grader.build.self_check"]
        self_check["check"](self_check["Notebook"](names, exercises, data, modules["probes"]), exercise)

    def carry_on(exercise):
        self_check_modules()["grader.build.self_check"]["carry_on"](names, self_check_texts()[1], exercise)

    return check, carry_on


check, carry_on = make_tools(globals())"""


class SelfChecks(NamedTuple):
    """What a cell of self-checks holds."""

    code: str
    exercises: Mapping[str, Packed]
    stand_ins: Mapping[str, str]  # the sources that `carry_on` runs, by exercise id; "" if there is none


def self_checks(lesson: Lesson, exercises: Mapping[str, Packed]) -> SelfChecks:
    """Put a lesson's self-checks together: their code, and what is packed of each exercise."""
    checks = [
        check
        for exercise in lesson.exercises
        for check in exercise.checks
        if check.name in {told["name"] for told in exercises[exercise.id].told["checks"]}
    ]
    parts = (*bundle("grader.build.self_check", "grader.records:Finding"), probes_part(checks))
    code = "\n".join(f"#: {part.module} {json.dumps(part.imports)}\n{part.source}" for part in parts)
    stand_ins = {exercise.id: exercise.stand_in_source for exercise in lesson.exercises}
    read = {exercise.id: _with_other_checks(lesson, exercise, exercises[exercise.id]) for exercise in lesson.exercises}
    return SelfChecks(code, read, stand_ins)


def _with_other_checks(lesson: Lesson, exercise: Exercise, packed: Packed) -> Packed:
    """Say what the grade also looks at: the checks that the notebook lacks, without the steps of a training.

    Steps are worth no points by themselves. Titles are those of the declaration, whenever the numbers were computed.
    """
    here = {told["name"] for told in packed.told["checks"]}
    left_out = here | lesson.step_checks(exercise.id)
    also = [check.title for check in exercise.checks if check.name not in left_out]
    return packed._replace(told={**packed.told, "also": also})


def self_check_source(checks: SelfChecks) -> str:
    """Return the source of the cell of self-checks; it ends by defining `check` and `carry_on`."""
    told, data = {}, b""
    for id, packed in checks.exercises.items():
        told[id] = {**packed.told, "start": len(data), "stand-in": checks.stand_ins[id]}
        data += packed.data
    exercises = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    compressed = bz2.compress(f"{checks.code}{EXERCISES}{exercises}".encode())
    bytes_of_data = lzma.compress(data, lzma.FORMAT_ALONE, preset=9 | lzma.PRESET_EXTREME)
    packed_text = b85encode(len(compressed).to_bytes(4, "big") + compressed + bytes_of_data).decode()
    return CELL.format(example=next(iter(checks.exercises)), text="\n".join(in_lines(packed_text)))


def read_self_checks(source: str) -> SelfChecks | None:
    """Read what a cell of self-checks holds; None if it is no such cell, or of a form that is not known any more."""
    try:
        packed = b85decode("".join(source.split("'''")[1].split()))
        end = 4 + int.from_bytes(packed[:4], "big")
        code, _, exercises = bz2.decompress(packed[4:end]).decode().partition(EXERCISES)
        told, data = json.loads(exercises), lzma.decompress(packed[end:])
        stand_ins = {id: one.pop("stand-in") for id, one in told.items()}
        starts = [*(one.pop("start") for one in told.values()), len(data)]
    except (IndexError, KeyError, ValueError, OSError, EOFError, lzma.LZMAError):
        return None
    parts = [data[start:end] for start, end in pairwise(starts)]
    return SelfChecks(code, dict(zip(told, map(Packed, told.values(), parts), strict=True)), stand_ins)


def probes_part(checks: Sequence[Check]) -> Part:
    """Return the source of the checks' probes and judges, and of the functions that they call, as one part."""
    sent: dict[str, FunctionType | type] = {}
    for check in checks:
        for function in filter(None, (check.probe, check.judge)):
            for name, definition in sent_with(function).items():
                sent.setdefault(name, definition)
    imports = {"Finding": ("grader.records", "Finding"), "difference": ("grader.judge.compare", "difference")}
    head = (
        "import math\nfrom collections.abc import *\nimport torch\nfrom torch import Tensor, nn\n"
        "from torch.nn import functional as F"
    )
    return Part(PROBES, slim("\n\n\n".join([head, *map(getsource, sent.values())])), imports)
