"""Writes the rules that every answer must follow, and a page with the place where the task states each check.

A hidden check must not demand more than the task says. So for each check, the file
solutions/requirements.toml contains a quotation from the task or from a text above it, or names one
of the rules. If a quotation is not in the notebook, the build fails.
"""

import inspect
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

from grader.build.errors import BuildError
from grader.declare.exercise import Check
from grader.declare.lesson import Lesson
from grader.judge.planned_trial import sent_with
from grader.submission.cells import answer_cell, task_cell

PLACE = re.compile(r"^<!-- what every answer must do -->$", re.MULTILINE)
QUOTATIONS = Path("solutions", "requirements.toml")
PAGE = Path("docs", "requirements.md")
BOX = "box: "  # how an entry begins that names a rule of the box by its first words
ABOVE = "above: "  # how an entry begins that quotes a text of the lesson above the task
GRADIENTS = f"{BOX}Gradients"
RULES = """\
Tensors may have any number of leading batch dimensions in front of the shapes that a task shows, also none. \
A shape that \
begins with (B, …) has exactly one.
A result has the dtype of the inputs: float32 for float32, float64 for float64. \
It needs the accuracy of float32 in both.
Your code changes none of its inputs, and no layer that is passed to it: \
modes and `requires_grad` are afterwards as they \
were before, and so is PyTorch's gradient mode.
Inputs need not be contiguous in memory: `.reshape` always works, and `.view` may raise an error.
Arguments are passed by position or by name: keep the names of the parameters. You may add parameters with defaults.
New tensors are made on the device of the inputs.
A pair of results is a tuple, in the order that the task shows.
Gradients flow to the float inputs and to all parameters in {gradients}. In all other exercises only the values count.
A layer has the parameters that its task names, and no others. \
Their initial values, and the `eps` of a LayerNorm, are up \
to you.
If a task asks for an error, raise a ValueError when the function or layer is called or made."""


def with_promises(text: str, lesson: Lesson) -> str:
    """Return a text in which the rules replace the line `<!-- what every answer must do -->`, if it exists."""
    return PLACE.sub(lambda _: f"{HEAD}\n\n" + "\n".join(f"- {rule}" for rule in rules(lesson)), text)


HEAD = "**What every answer must do.** These rules hold in every exercise, unless its task says something else."


def rules(lesson: Lesson) -> list[str]:
    """Return the rules of a lesson.

    The rule about gradients names the exercises whose checks compute them.
    """
    asked = [exercise.id for exercise in lesson.exercises if any(map(asks_for_gradients, exercise.checks))]
    kept = [rule for rule in RULES.splitlines() if asked or "{gradients}" not in rule]
    return [rule.replace("{gradients}", _listed(asked)) for rule in kept]


def asks_for_gradients(check: Check) -> bool:
    """Return True if a check compares gradients."""
    return _differentiates(check.probe)


@cache
def _differentiates(probe: Callable) -> bool:
    """Return True if a probe, or a function that is sent with it, computes gradients.

    This is slow, because it reads the source of each function.
    """
    sent = filter(inspect.isfunction, sent_with(probe).values())
    return any("autograd.grad(" in inspect.getsource(function) for function in sent)


def _listed(ids: list[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{', '.join(ids[:-1])} and {ids[-1]}" if ids else ""


# ---------------------------------------------------------------- where each requirement is stated


def requirements_page(root: Path, lessons: Iterable[Lesson], notebooks: Mapping[str, NotebookNode]) -> str:
    """Return a page with a row for each check, which quotes the words that state its requirement.

    Args:
        notebooks: the student notebooks, by assignment.

    Raises:
        BuildError: a check has no quotation, or the task does not contain a quotation.
    """
    quoted = tomllib.loads((root / QUOTATIONS).read_text("utf-8"))
    problems: list[str] = []
    parts = [
        INTRODUCTION,
        "## The rules for all exercises\n",
        HEAD + "\n",
        *(f"- {rule}" for rule in RULES.splitlines()),
    ]
    for lesson in lessons:
        cells = {cell.id: cell.source for cell in notebooks[lesson.assignment].cells}
        box, order = rules(lesson), {id: place for place, id in enumerate(cells)}
        parts += [f"\n## {lesson.assignment}\n", "| exercise | check | stated as |", "|---|---|---|"]
        for exercise in lesson.exercises:
            text = cells[task_cell(exercise.id)] + "\n" + cells[answer_cell(exercise.id)]
            above = "\n".join(source for id, source in cells.items() if order[id] < order[task_cell(exercise.id)])
            steps = lesson.step_checks(exercise.id)  # they give no points: what needs them is stated
            for check in (one for one in exercise.checks if one.name not in steps):
                words = quoted.get(exercise.id, {}).get(check.name, [])
                place = f"{QUOTATIONS}: {exercise.id}, check {check.name!r}"
                if not words:
                    problems.append(f"{place}: quote the words of the task that state it")
                if asks_for_gradients(check) and not any(
                    word.startswith(GRADIENTS) or "gradient" in word for word in words
                ):
                    problems.append(f"{place}: it compares gradients; quote where that is stated")
                problems += [
                    f"{place}: neither task nor box says {word!r}"
                    for word in words
                    if not _states(word, text, above, box)
                ]
                shown = "; ".join(_shown(word, box) for word in words)
                parts.append(f"| {exercise.id} `{exercise.name}` | {check.title} | {shown} |")
    if problems:
        raise BuildError("\n".join(problems))
    return "\n".join(parts) + "\n"


INTRODUCTION = """\
# Requirements of the checks

This page is for instructors and authors who want to verify that every requirement of a hidden check is stated in its \
task. `grader build` writes the page. Each row quotes the task of the exercise, or names one of the rules at the top \
of every notebook.
"""


def _states(word: str, text: str, above: str, box: Sequence[str]) -> bool:
    """Return True if a quotation is in the task, in a text above it (after ABOVE), or in a rule (after BOX).

    Args:
        word: the quotation.
        text: the task and the stub of the answer.
        above: the texts above the task.
        box: the rules.
    """
    if word.startswith(BOX):
        return any(rule.startswith(word.removeprefix(BOX)) for rule in box)
    place = above if word.startswith(ABOVE) else text
    return " ".join(word.removeprefix(ABOVE).split()) in " ".join(place.split())


def _shown(word: str, box: Sequence[str]) -> str:
    """Return a quotation as the text of a cell in the table."""
    if word.startswith(BOX):
        found = next((rule for rule in box if rule.startswith(word.removeprefix(BOX))), word)
        return "rule: " + " ".join(found.split()[:5]).strip(".,:") + " …"
    where = "above the task: " if word.startswith(ABOVE) else ""
    return where + "“" + word.removeprefix(ABOVE).replace("|", "\\|") + "”"
