"""Generates the cell of self-checks from the declaration: code, probes and small examples, compressed to a text."""

from __future__ import annotations

import ast
import bz2
import json
import lzma
import zlib
from base64 import b85encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import FunctionType
from typing import Any, NamedTuple

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
from grader.diagnosis.match import is_telling
from grader.diagnosis.mutants.defaults import asked_defaults
from grader.diagnosis.seen import Candidate, Seen
from grader.records import Status

LINE = 10_000  # characters of a line of the compressed text: few lines, and no editor stumbles over one
PROBES = "probes"
Prints = Callable[[int], Fingerprint | None]
# So many wrong answers of a kind the notebook knows, for one exercise; of 3.4 there are 500.
MOST = {"argument": 200, "gradient": 60, "mutant": 600}
LARGE = 700  # bytes; a hidden trial that takes more is in the notebook only if it is needed there
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
    results = ReproducibleResults(lesson.reference)
    trials = {exercise.id: chosen_trials(lesson, exercise, results) for exercise in lesson.exercises}
    probes = probes_part(trial.check for some in trials.values() for trial in some)
    parts = (*bundle("grader.build.self_check"), probes)
    code = "\n".join(f"#: {part.module} {json.dumps(part.imports)}\n{part.source}" for part in parts)
    exercises = {
        exercise.id: exercise_data(lesson, exercise, trials[exercise.id], writer)
        for exercise in lesson.exercises
    }
    told = json.dumps(exercises, ensure_ascii=False, separators=(",", ":"))
    return f"{code}\n#: exercises\n{told}".encode(), bytes(writer.data)


def chosen_trials(lesson: Lesson, exercise: Exercise, results: ReproducibleResults) -> list[PlannedTrial]:
    """Choose trials for the notebook: all that can run there and take few bytes, and of the others those that show something.

    Of the others, these are the public ones, the smallest of each check that has none yet, and what shows a declared mistake
    or tells it from another.
    """
    there = [trial for trial in shown(exercise) if runs_there(lesson, trial)]
    sizes = [2 * count(_expected(trial, results)) + stored(trial) for trial in there]
    chosen = {index for index, trial in enumerate(there) if trial.public or sizes[index] <= LARGE}
    by_size = sorted(range(len(there)), key=sizes.__getitem__)
    for check in {trial.check.name for trial in there}:
        of_check = [index for index in by_size if there[index].check.name == check]
        # One number alone is soon met by chance: of a check that gives so few, the notebook has two trials.
        wanted = 2 if count(_expected(there[of_check[0]], results)) < 3 else 1
        missing = max(wanted - len(set(of_check) & chosen), 0)
        chosen.update([index for index in of_check if index not in chosen][:missing])
    if len(chosen) < len(there):
        chosen |= telling_trials(exercise, there, by_size, chosen, results)
    return [as_packed(trial) for index, trial in enumerate(there) if index in chosen]


def telling_trials(
    exercise: Exercise,
    there: Sequence[PlannedTrial],
    by_size: Sequence[int],
    chosen: Collection[int],
    results: ReproducibleResults,
) -> set[int]:
    """Return the trials, besides the chosen ones, that are needed to show each declared mistake and to tell it from others.

    Args:
        by_size: the indices of all trials, the smallest first.
    """
    right = [fingerprint(_expected(trial, results)) for trial in there]
    mistakes = [wrong for wrong in candidates(exercise, there, results) if wrong.kind == "mistake"]
    needed: set[int] = set()

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
        if of_check and not needed.union(chosen).intersection(of_check):
            needed.add(of_check[0])
    return needed


def stored(trial: PlannedTrial) -> int:
    """Count the bytes of the inputs that a notebook cannot draw again."""
    writer = Writer()
    packed_inputs(trial, writer)
    return len(zlib.compress(bytes(writer.data))) if writer.data else 0


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
    wrong = _prints(exercise, trials, results)
    right = [fingerprint(_expected(trial, results)) for trial in trials]
    return {
        "name": exercise.name,
        "defines": list(exercise.defines),
        "bans": sorted(frozenset().union(*(BUILTINS[ban] for ban in exercise.bans))),
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


class _Wrong(NamedTuple):
    """A wrong answer, and what it gives on each trial: None where that is not known, nothing where it was not asked."""

    known: Candidate
    prints: dict[int, Fingerprint | None]


def _prints(exercise: Exercise, trials: Sequence[PlannedTrial], results: ReproducibleResults) -> list[_Wrong]:
    """List the wrong answers that an answer is compared with, and what they give on each trial.

    Of a declared mistake that is everything. Of the others it ends with the first check that fails: an explanation looks at
    that one. More is needed only to tell those apart that give the same there.
    """
    right = [fingerprint(_expected(trial, results)) for trial in trials]
    asking = _Asking(trials, right, results)
    found: list[_Wrong] = []
    alone: dict[tuple[str, int], list[_Wrong]] = {}  # by kind, and the last trial that is known
    left = dict(MOST)
    for known in candidates(exercise, trials, results):
        if not left.get(known.kind, 1):
            continue
        wrong = _Wrong(known, {})
        failing = asking.to_first_failure(wrong)
        if not failing:
            continue  # nothing here shows it
        # Where values say little, such as a yes or a no, an explanation must fit all trials.
        telling = is_telling(failing, failing[0].check)
        others = alone.setdefault((known.kind, max(wrong.prints)), [])
        twins = [one for one in others if _same(one, wrong, max(wrong.prints))]
        for one in (*twins, wrong) if twins or not telling or known.kind == "mistake" else ():
            asking.to_the_end(one)
        others.append(wrong)
        if telling and any(_same(one, wrong, len(trials) - 1) for one in twins):
            continue  # of two that nothing tells apart, the first is said
        left[known.kind] = left.get(known.kind, 0) - 1
        found.append(wrong)
    return found


@dataclass(frozen=True)
class _Asking:
    """Computes what wrong answers give on trials, and keeps it in their `prints`."""

    trials: Sequence[PlannedTrial]
    right: Sequence[Fingerprint]
    results: ReproducibleResults

    def to_first_failure(self, wrong: _Wrong) -> list[Seen]:
        """Ask to the end of the first check that fails; return its trials that do, or nothing if none fails."""
        failing: list[Seen] = []
        for index, trial in enumerate(self.trials):
            if failing and trial.check.name != failing[0].check:
                break
            own = self.ask(wrong, index)
            if own is not None and not alike(own, self.right[index]):
                failing.append(self.last_seen(trial))
        return failing

    def to_the_end(self, wrong: _Wrong) -> None:
        """Ask what is not known yet."""
        for index in range(len(self.trials)):
            if index not in wrong.prints:
                self.ask(wrong, index)

    def ask(self, wrong: _Wrong, index: int) -> Fingerprint | None:
        # With values that an `expects` gives, what comes back is random, and slow.
        asked = wrong.known.kind == "mistake" or not self.trials[index].check.expects
        self.results.unsure = False
        own = wrong.known.prints(index) if asked else None
        wrong.prints[index] = None if self.results.unsure else own
        return wrong.prints[index]

    def last_seen(self, trial: PlannedTrial) -> Seen:
        """Return what the last question showed."""
        got, expected = self.results.last, dict(flatten(_expected(trial, self.results)))
        return Seen(trial.check.name, False, dict(flatten(got.values or {})), expected, error=got.error)


def _same(one: _Wrong, other: _Wrong, last: int) -> bool:
    """Tell whether two wrong answers give the same on all trials up to the last one."""
    pairs = ((one.prints.get(index), other.prints.get(index)) for index in range(last + 1))
    return all(
        first is second or (first is not None and second is not None and alike(first, second))
        for first, second in pairs
    )


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
