"""Generates the cell of self-checks: an archive of the modules that check and explain, of the probes, and of all data.

`read_self_checks` reads the content of the cell again. Numbers in the committed notebook stay as
they are until something that they are computed from changes. So they do not depend on the processor
on which an author builds.
"""

import json
import re
import tarfile
from collections.abc import Mapping, Sequence
from functools import cache
from inspect import getsource
from types import FunctionType
from typing import Any, NamedTuple

from nbformat import NotebookNode

from grader.build.built import module_file, reached_modules
from grader.build.provided import in_lines
from grader.build.run_all import go_on_where_unfinished
from grader.build.self_check_archive import self_check_files, self_check_modules, self_check_text
from grader.build.slim import slim
from grader.declare import probes as probes_of
from grader.declare.exercise import Check, Exercise
from grader.declare.lesson import Lesson
from grader.judge.planned_trial import sent_with
from grader.submission.cells import TOOLS_CELL

SELF_CHECK, SUBMIT, PROBES = "grader.build.self_check", "grader.build.submit", "grader.probes"
TENSORS = "grader.build.tensors_of_numpy"  # stands in for PyTorch in the cell of a lesson that does not use it
PYTORCH = re.compile(r"^\s*(?:import|from) torch\b", re.MULTILINE)
# Probes of functions of arrays, numbers, texts and lists: they need no more of PyTorch than TENSORS has.
PLAIN_PROBES = (
    probes_of.call_function,
    probes_of.call_with_arrays,
    probes_of.arrays_unchanged,
    probes_of.inputs_unchanged,
)
EXERCISES = "exercises.json"  # the file of what is known of the exercises
STAND_IN, ALSO, POINTS = "stand-in", "also", "points"  # what is known of an exercise without computing anything
FUNCTIONS = (self_check_files, self_check_modules, go_on_where_unfinished)  # which the cell has outside of the archive
HEAD = """\
import math
from collections.abc import *

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.judge.compare import difference
from grader.records import Finding
"""
CELL = """\
from __future__ import annotations

from functools import cache

# check("{example}") tries your answer on small examples and says what is off, and why. Its code and its numbers are
# below, compressed to keep the notebook short; print(self_check_source()) shows the code.
# carry_on("{example}") lets you go on without an answer of your own; it earns no points.
SELF_CHECK = '''
{text}
'''


{functions}


@cache
def self_check_tools():
    import json

    files = self_check_files(SELF_CHECK)
    self_check, probes = self_check_modules(files, ["{self_check}", "{probes}"])
    return self_check, json.loads(files["{exercises}"]), probes.__dict__


def self_check_source():
    files = self_check_files(SELF_CHECK)
    return "\\n\\n".join(f"# {{name}}\\n{{files[name]}}" for name in files if name.endswith(".py"))


def make_tools(names):
    def check(exercise):
        self_check, exercises, probes = self_check_tools()
        self_check.check(self_check.Notebook(names, exercises, probes), exercise)

    def carry_on(exercise):
        self_check, exercises, _ = self_check_tools()
        self_check.carry_on(names, exercises, exercise)

    def where_you_stand():
        self_check, exercises, probes = self_check_tools()
        self_check.where_you_stand(self_check.Notebook(names, exercises, probes))

    def submit(assignment, server="", file=""):
        (module,) = self_check_modules(self_check_files(SELF_CHECK), ["{submit}"])
        module.submit(names, assignment, server, file)

    return check, carry_on, where_you_stand, submit


check, carry_on, where_you_stand, submit = make_tools(globals())
go_on_where_unfinished(globals())"""

Known = Mapping[str, Any]  # what the notebook knows of an exercise, as JSON


class SelfChecks(NamedTuple):
    """The content of a cell of self-checks."""

    modules: Mapping[str, str]  # the sources, by file name
    exercises: Mapping[str, Known]  # by exercise id


def self_checks(lesson: Lesson, exercises: Mapping[str, Known], script: str | None = None) -> SelfChecks:
    """Return a lesson's self-checks: their code, and the data of each exercise.

    Args:
        exercises: the data of each exercise's self-check, by id.
        script: the text of the lesson's script. If it does not use PyTorch, the self-checks work
            without PyTorch, too. None means that the self-checks use PyTorch.
    """
    checks = [
        check
        for exercise in lesson.exercises
        for check in exercise.checks
        if check.name in {known["name"] for known in exercises[exercise.id]["checks"]}
    ]
    known = {one.id: {**exercises[one.id], **_as_declared(lesson, one, exercises[one.id])} for one in lesson.exercises}
    tensors = {} if script is None or uses_pytorch(script, checks) else {"torch.py": tensors_of_numpy()}
    return SelfChecks({**modules(), **tensors, _file(PROBES): probes(checks)}, known)


def uses_pytorch(script: str, checks: Sequence[Check]) -> bool:
    """Return True if a lesson needs PyTorch.

    That is so if its script imports PyTorch or provides code, or if its checks have their own
    probes or judges.
    """
    plain = all(check.probe in PLAIN_PROBES and check.judge is None for check in checks)
    return not plain or PYTORCH.search(script) is not None or 'provided="' in script


def needs_pytorch(notebook: NotebookNode) -> bool:
    """Return True if a built notebook needs PyTorch.

    That is so if a cell imports PyTorch, or if its self-checks have no replacement for PyTorch.
    """
    code = {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}
    checks = read_self_checks(code.pop(TOOLS_CELL, ""))
    return any(map(PYTORCH.search, code.values())) or (checks is not None and "torch.py" not in checks.modules)


def tensors_of_numpy() -> str:
    """Return the source of the module that replaces PyTorch in a notebook."""
    return slim(module_file(TENSORS).read_text("utf-8"))


@cache
def modules() -> Mapping[str, str]:
    """Return the sources of the cell's modules by file name, with all modules of this project that they import."""
    return {
        _file(name): slim(module_file(name).read_text("utf-8"))
        for name in sorted(reached_modules([SELF_CHECK, SUBMIT]))
    }


def probes(checks: Sequence[Check]) -> str:
    """Return the source of a module that contains the checks' probes and judges, and the functions that they call."""
    sent: dict[str, FunctionType | type] = {}
    for check in checks:
        for function in filter(None, (check.probe, check.judge)):
            for name, definition in sent_with(function).items():
                sent.setdefault(name, definition)
    return slim("\n\n\n".join([HEAD, *map(getsource, sent.values())]))


def _as_declared(lesson: Lesson, exercise: Exercise, known: Known) -> Known:
    """Return the data of an exercise that the declaration contains, so that no numbers have to be computed.

    These data are the source that `carry_on` runs ("" without a stand-in), the points, and the
    titles of the checks that the notebook lacks. The step checks of a training run are not among
    these titles, because they are worth no points by themselves.
    """
    left_out = {check["name"] for check in known["checks"]} | lesson.step_checks(exercise.id)
    also = [check.title for check in exercise.checks if check.name not in left_out]
    return {STAND_IN: exercise.stand_in_source, ALSO: also, POINTS: exercise.points}


def self_check_source(checks: SelfChecks) -> str:
    """Return the source of the cell of self-checks. Its last lines define the names that the notebook calls."""
    exercises = json.dumps(checks.exercises, ensure_ascii=False, separators=(",", ":"))
    return CELL.format(
        example=next(iter(checks.exercises)),
        text="\n".join(in_lines(self_check_text({**checks.modules, EXERCISES: exercises}))),
        functions="\n\n".join(getsource(function) for function in FUNCTIONS).rstrip(),
        self_check=SELF_CHECK,
        submit=SUBMIT,
        probes=PROBES,
        exercises=EXERCISES,
    )


def read_self_checks(source: str) -> SelfChecks | None:
    """Return the content of a cell of self-checks.

    Return None for any other cell, or if an incompatible version of the grader wrote it.
    """
    try:
        files = self_check_files(source.split("'''")[1])
        exercises = json.loads(files.pop(EXERCISES))
    except (IndexError, KeyError, ValueError, OSError, EOFError, tarfile.TarError):
        return None
    return SelfChecks(files, exercises)


def _file(module: str) -> str:
    """Return the file name of a module in the archive, such as "grader/records.py"."""
    return f"{module.replace('.', '/')}.py"
