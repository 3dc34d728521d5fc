"""Generates the cell of self-checks from the declaration: code, probes and small examples, compressed to a text."""

from __future__ import annotations

import ast
import bz2
import json
from base64 import b85encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

from grader.build.bundle import Part, bundle
from grader.build.reproducible import ReproducibleResults
from grader.build.self_check_data import Reader
from grader.build.self_check_pack import Writer
from grader.checks.compare import flatten
from grader.checks.plan import shown
from grader.checks.planned_trial import PlannedTrial, source_of
from grader.declaration.builtin_names import BUILTINS
from grader.declaration.exercise import Check, Exercise
from grader.declaration.lesson import Lesson
from grader.declaration.sampler import PublicSampler
from grader.diagnosis.candidates import candidates
from grader.diagnosis.fingerprint import Fingerprint, alike, fingerprint
from grader.records import Status

LINE = 10_000  # characters of a line of the compressed text: few lines, and no editor stumbles over one
PROBES = "probes"
Prints = Callable[[int], Fingerprint | None]
# So many wrong answers of a kind the notebook knows, for one exercise; of 3.4 there are 500.
MOST = {"argument": 60, "gradient": 20, "mutant": 150}
FEW = 100  # numbers that a hidden trial may have for the notebook to have it, too
CELL = """\
from __future__ import annotations

import bz2
import inspect
import json
import linecache
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
    return code, json.loads(exercises), bz2.decompress(packed[end:])


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
    packed = b85encode(len(compressed).to_bytes(4, "big") + compressed + bz2.compress(data)).decode()
    lines = [packed[start : start + LINE] for start in range(0, len(packed), LINE)]
    return CELL.format(example=lesson.exercises[0].id, text="\n".join(lines))


def _code_and_data(lesson: Lesson) -> tuple[bytes, bytes]:
    """Return the code of the self-checks, with what they know as JSON below it, and the bytes that belong to it."""
    writer = Writer()
    trials = {exercise.id: chosen_trials(lesson, exercise) for exercise in lesson.exercises}
    probes = probes_part(trial.check for some in trials.values() for trial in some)
    parts = (*bundle("grader.build.self_check"), probes)
    code = "\n".join(f"#: {part.module} {json.dumps(part.imports)}\n{part.source}" for part in parts)
    exercises = {
        exercise.id: exercise_data(lesson, exercise, trials[exercise.id], writer)
        for exercise in lesson.exercises
    }
    told = json.dumps(exercises, ensure_ascii=False, separators=(",", ":"))
    return f"{code}\n#: exercises\n{told}".encode(), bytes(writer.data)


def chosen_trials(lesson: Lesson, exercise: Exercise) -> list[PlannedTrial]:
    """Choose trials for the notebook.

    These are the public trials, those of few numbers, the smallest of each check that has none of these, and what shows every
    declared mistake and tells it from the others.
    """
    results = ReproducibleResults(lesson.reference)
    there = [trial for trial in shown(exercise) if runs_there(lesson, trial)]
    sizes = [count(_expected(trial, results)) + stored(trial) for trial in there]
    chosen = {index for index, trial in enumerate(there) if trial.public or sizes[index] <= FEW}
    by_size = sorted(range(len(there)), key=sizes.__getitem__)
    for check in {trial.check.name for trial in there}:
        of_check = [index for index in by_size if there[index].check.name == check]
        # One number alone is soon met by chance: of a check that gives so few, the notebook has two trials.
        wanted = 2 if count(_expected(there[of_check[0]], results)) < 3 else 1
        missing = max(wanted - len(set(of_check) & chosen), 0)
        chosen.update([index for index in of_check if index not in chosen][:missing])
    right = [fingerprint(_expected(trial, results)) for trial in there]
    mistakes = [wrong for wrong in candidates(exercise, there, results) if wrong.kind == "mistake"]

    def tells(index: int, one: Prints, other: Prints) -> bool:
        if there[index].check.expects:
            return False  # what comes back is random
        first, second = one(index), other(index)
        return first is not None and second is not None and not alike(first, second)

    pairs: list[tuple[Prints, Prints]] = [(wrong.prints, right.__getitem__) for wrong in mistakes]
    pairs += [
        (one.prints, other.prints) for one, other in combinations(mistakes, 2) if one.says != other.says
    ]
    for one, other in pairs:
        telling = [index for index in by_size if tells(index, one, other)]
        first = min(telling, default=0)  # explanations look at the first check that fails
        of_check = [index for index in telling if there[index].check.name == there[first].check.name]
        if of_check and not set(of_check) & chosen:
            chosen.add(of_check[0])
    return [as_packed(trial) for index, trial in enumerate(there) if index in chosen]


def stored(trial: PlannedTrial) -> int:
    """Count the bytes of the inputs that a notebook cannot draw again."""
    writer = Writer()
    packed_inputs(trial, writer)
    return len(writer.data)


def packed_inputs(trial: PlannedTrial, writer: Writer) -> Any:
    """Pack the inputs of a public trial, as they were drawn."""
    sampler = PublicSampler(trial.key)
    return writer.inputs(trial.trial.draw(sampler), sampler.drawn)


def as_packed(trial: PlannedTrial) -> PlannedTrial:
    """Return a trial with the inputs that the notebook gets, which may be rounded."""
    writer = Writer()
    packed = packed_inputs(trial, writer)
    return replace(trial, inputs=Reader(bytes(writer.data)).value(packed, trial.key))


def count(values: Mapping[str, Any]) -> int:
    """Count the numbers in what a probe returned."""
    return sum(leaf.numel() if isinstance(leaf, Tensor) else 1 for _, leaf in flatten(values))


def runs_there(lesson: Lesson, trial: PlannedTrial) -> bool:
    """Tell whether a trial can run in the notebook: it needs nothing that a training makes, and its judge no reference."""
    trained = {name for name, value in lesson.given.items() if value is None}
    if trial.check.at or trial.takes & trained or not trial.takes <= lesson.reference.keys():
        return False
    judge = trial.check.judge
    return judge is None or not uses_reference(judge)


def uses_reference(judge: Callable) -> bool:
    """Tell whether a judge, or a function of the course that it calls, calls the reference."""
    if not isinstance(judge, FunctionType):
        return True
    called = [judge.__globals__.get(name) for name in judge.__code__.co_names]
    return any(
        getattr(value, "__module__", "").startswith("attention")
        or (
            isinstance(value, FunctionType)
            and value.__module__.startswith("grader.course")
            and uses_reference(value)
        )
        for value in called
    )


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
    lesson: Lesson, exercise: Exercise, trials: Sequence[PlannedTrial], writer: Writer
) -> dict[str, Any]:
    """Pack what the self-check of one exercise needs."""
    results = ReproducibleResults(lesson.reference)
    checks = list(dict.fromkeys(trial.check.name for trial in trials))
    start = len(writer.data)
    packed = [_trial_data(trial, checks.index(trial.check.name), results, writer) for trial in trials]
    answers = _prints(exercise, trials, results)
    right = [fingerprint(_expected(trial, results)) for trial in trials]
    return {
        "name": exercise.name,
        "defines": list(exercise.defines),
        "bans": sorted(frozenset().union(*(BUILTINS[ban] for ban in exercise.bans))),
        "also": [check.title for check in exercise.checks if check.name not in checks],
        "start": start,
        "checks": [_check_data(check) for check in exercise.checks if check.name in checks],
        "trials": packed,
        "wrong answers": [known for known, _ in answers],
        "forms": writer.briefs([prints for _, prints in answers], right),
    }


def _check_data(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "probe": check.probe.__name__,
        "names": dict(check.names),
        "rtol": check.rtol,
        "judge": check.judge.__name__ if check.judge else "",
    }


def _trial_data(trial: PlannedTrial, check: int, results: ReproducibleResults, writer: Writer) -> list:
    """Pack one trial: its check, its sizes in words and as values, its inputs, and what is expected."""
    sizes = {
        name: value
        for name, value in trial.trial.sizes.items()
        if isinstance(value, (int, float, str, tuple))
    }
    inputs = packed_inputs(trial, writer)
    expected = writer.expected(_expected(trial, results))
    return [check, trial.key.split("/", 1)[1], trial.trial.describe, sizes, inputs, expected]


def _expected(trial: PlannedTrial, results: ReproducibleResults) -> Mapping[str, Any]:
    """Return what an answer is compared with.

    Raises:
        RuntimeError: the reference raises.
    """
    if trial.check.expects:
        return trial.check.expects(trial.inputs)
    right = results.right(trial)
    if right.status is not Status.OK:
        raise RuntimeError(f"{trial.key}: the reference raised {right.error}: {right.message}")
    return right.values


def _prints(exercise: Exercise, trials: Sequence[PlannedTrial], results: ReproducibleResults) -> list:
    """List the wrong answers that an answer is compared with, and what they give on each trial."""
    found: list[tuple[list[str], list[Fingerprint | None]]] = []
    left = dict(MOST)
    right = [fingerprint(_expected(trial, results)) for trial in trials]
    for wrong in candidates(exercise, trials, results):
        if not left.get(wrong.kind, 1):
            continue
        prints: list[Fingerprint | None] = []
        for index, trial in enumerate(trials):
            results.unsure = wrong.kind != "mistake" and trial.check.expects is not None  # random, and slow
            own = None if results.unsure else wrong.prints(index)
            prints.append(None if results.unsure else own)
        if all(own is None or alike(own, expected) for own, expected in zip(prints, right, strict=True)):
            continue  # nothing here shows it
        if wrong.kind != "mistake":
            prints = _up_to_first_failure(trials, prints, right)
        left[wrong.kind] = left.get(wrong.kind, 0) - 1
        found.append(([wrong.kind, "" if wrong.name == wrong.says else wrong.name, wrong.says], prints))
    return found


def _up_to_first_failure(
    trials: Sequence[PlannedTrial], prints: Sequence[Fingerprint | None], right: Sequence[Fingerprint]
) -> list[Fingerprint | None]:
    """Forget what a wrong answer gives in the checks after the first that fails: an explanation looks at that one.

    Where that check gives no numbers, such as a yes or a no alone, all others must agree, so nothing is forgotten.
    """
    wrong = [
        own is not None and not alike(own, expected) for own, expected in zip(prints, right, strict=True)
    ]
    first = wrong.index(True)
    if not right[first].numbers:
        return list(prints)
    checks = [trial.check.name for trial in trials]
    last = max(index for index, check in enumerate(checks) if check == checks[first])
    return [own if index <= last else None for index, own in enumerate(prints)]


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
