"""How far right and wrong answers land from the reference after a few steps of training: what the tolerances rest on.

    python -m benchmarks.verified [1-attention …]

Runs the given cells of each solution notebook with one answer replaced, by every right variant of the tests and by every
declared mistake, trains for three steps, and compares as the grader does. Prints the distances as shares of the way that the
reference goes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib as mpl
import nbformat
import torch

from corpus.answers import answers as answers_of
from grader.course import lessons
from grader.course.trainings.segment import MOST_OFF, distances
from grader.declare.lesson import SHORT, Lesson
from grader.judge.dependencies import foundations
from grader.judge.planned_trial import PlannedTrial, plan_exercise
from grader.judge.reference_results import run_here
from grader.paths import course_root
from grader.records import Case, Status
from grader.submission.cells import Role, answer_cell, only_draws, role


def namespace(lesson: Lesson, cell: str, exercise: str, source: str, replaces: Mapping[str, Any]) -> dict[str, Any]:
    """Run a solution notebook up to a training cell, three steps long, with the answer to one exercise replaced; then all answers.

    Args:
        source: of the answer; "" for the solution's own.
        replaces: definitions that take the place of the solution's after that.
    """
    path = course_root() / "solutions" / lesson.assignment / f"{lesson.assignment}.ipynb"
    names: dict[str, Any] = {"__name__": "__main__"}
    trained = False
    for one in nbformat.read(path, as_version=4).cells:
        kind = role(one.id)
        if (
            one.cell_type == "code"
            and kind not in (Role.CHECK, Role.CARRY_ON, Role.TOOLS)
            and not only_draws(one)
            and not (trained and kind is not Role.ANSWER)
        ):
            replaced = one.id == answer_cell(exercise)
            if one.id in lesson.training_cells and one.id != cell:
                continue
            exec(compile(source if replaced and source else one.source, one.id, "exec"), names)
            names |= replaces if replaced else {}
            names |= {"train_steps": SHORT, "device": "cpu"} if one.id == "setup" else {}
        trained = trained or one.id == cell
    return names


def distance(trial: PlannedTrial, names: Mapping[str, Any]) -> tuple[float, str]:
    """Return how far an answer is off in one trial, in the worst tensor, and what the judge says; −1 if it raised."""
    lesson_names = {name: names[name] for name in trial.takes if name in names}
    got = run_here(trial.check, lesson_names, trial.inputs, trial.key)
    if got.status is not Status.OK:
        return -1.0, got.message
    reference = lessons()[_assignment(trial)].reference

    def expected() -> Mapping[str, Any]:
        return run_here(trial.check, reference, trial.inputs, trial.key).values

    finding = trial.check.judge(Case(inputs=trial.inputs, got=got.values, expected=expected, rtol=1.0))
    if trial.check.name != "goes on":
        return 0.0 if finding.passed else 1.0, finding.message
    right = expected()
    square = trial.inputs["state"]["square"]
    offs = distances(got.values["moved"], right["moved"], square) | {
        f"mean of {name}": off for name, off in distances(got.values["mean"], right["mean"], {}).items()
    }
    return max(offs.values()), finding.message


def _assignment(trial: PlannedTrial) -> str:
    return next(name for name, one in lessons().items() if any(e.id == trial.exercise.id for e in one.exercises))


def answers(lesson: Lesson, ids: frozenset[str]) -> Iterator[tuple[str, str, str, str, Mapping[str, Any]]]:
    """Yield "right" or "wrong", the exercise, a name, a source and replacements."""
    yield "right", "", "solution", "", {}
    for variant in answers_of("variants"):
        if variant.exercise in ids:
            yield "right", variant.exercise, variant.name, variant.source, {}
    for exercise in lesson.exercises:
        for wrong in exercise.mistakes if exercise.id in ids else ():
            yield "wrong", exercise.id, wrong.name, "", wrong.replaces


def main() -> None:
    """Measure, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assignments", nargs="*", default=list(lessons()))
    chosen = parser.parse_args().assignments
    mpl.use("agg")
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    figures: dict[str, Any] = {}
    for assignment in chosen:
        lesson = lessons()[assignment]
        for exercise in lesson.exercises:
            names = lesson.training_checks(exercise.id)
            trials = [
                trial
                for trial in plan_exercise(exercise, "benchmark", "sha")
                if trial.check.name in names and trial.check.at
            ]
            if trials:
                ids = foundations(lesson, exercise.id) | {exercise.id}
                figures |= _one(lesson, exercise.id, trials, ids)
    print(json.dumps({"benchmark": "verified", "figures": figures, "versions": {"torch": torch.__version__}}))


def _one(lesson: Lesson, exercise: str, trials: list[PlannedTrial], ids: frozenset[str]) -> dict[str, Any]:
    """Measure one training."""
    cell = trials[0].check.at or ""
    right_most, wrong = 0.0, []
    print(f"{exercise}, {cell}: allowed {MOST_OFF:.0%}")
    for kind, of, name, source, replaces in answers(lesson, ids):
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                names = namespace(lesson, cell, of, source, replaces)
                found = [distance(trial, names) for trial in trials]
            except Exception as error:
                found = [(-1.0, f"{type(error).__name__}: {error}")]
        off, refused = max(off for off, _ in found), next((says for off, says in found if says), "")
        if kind == "right":
            right_most = max(right_most, off if min(off for off, _ in found) >= 0 else 1.0)
        else:
            wrong.append((off if min(off for off, _ in found) >= 0 else 1.0, bool(refused), f"{of} {name}"))
        if (kind == "right") == bool(refused) or kind == "right":
            print(f"  {kind} {of} {name}: {off:.2g} {refused[:110]}")
    unseen = [name for _, refused, name in wrong if not refused]
    least = min((off for off, refused, _ in wrong if refused and off > 0), default=0.0)
    print(f"  right at most {right_most:.2g}; wrong {len(wrong)}, not seen here {len(unseen)}: {', '.join(unseen)}")
    return {
        f"{exercise}_right_most_off": round(right_most, 6),
        f"{exercise}_refused_least_off": round(least, 4),
        f"{exercise}_mistakes": len(wrong),
        f"{exercise}_mistakes_not_seen": len(unseen),
    }


if __name__ == "__main__":
    main()
