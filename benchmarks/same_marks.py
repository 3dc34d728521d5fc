"""Are the marks the same where trainings are verified as where each is repeated in whole?

    python -m benchmarks.same_marks [--jobs 2] [1-attention …]

Grades one class of each lesson twice, without and with --full-training: the example class, all right variants of the tests (as
many in one submission as fit), declared mistakes, and twenty attacks on trainings. Compares the points of every exercise. A whole
training takes as long as in the notebook, so this takes half an hour.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks import publish
from benchmarks.classes import check_all_graded, grader, make_empty_course, submit
from benchmarks.training_attacks import attacks
from corpus.answers import answers, variants
from examples.make import Example, classes, content
from grader.course import lessons

WRONG = 12  # wrong answers of the corpus for each lesson, evenly chosen
KINDS = ("example", "variants", "mistake", "attack")


def right(assignment: str) -> Iterator[dict[str, str]]:
    """Yield answers until each right variant stood in one submission, one of each exercise at a time."""
    left: dict[str, list[str]] = defaultdict(list)
    for one in variants(assignment):
        left[one.exercise].append(one.source)
    while any(left.values()):
        yield {id: sources.pop() for id, sources in left.items() if sources}


def wrong(assignment: str) -> Iterator[dict[str, str]]:
    """Yield some wrong answers of the corpus, each alone."""
    ids = {exercise.id for exercise in lessons()[assignment].exercises if exercise.points}
    corpus = [one for one in answers() if not one.right and one.exercise in ids]
    for one in corpus[:: max(len(corpus) // WRONG, 1)][:WRONG]:
        yield {one.exercise: one.source}


def submissions(assignment: str) -> Iterator[tuple[str, str]]:
    """Yield each student of a lesson's class, named by kind and number, with the notebook that is handed in."""
    for number, example in enumerate(classes()):
        if example.assignment == assignment and example.score is not None:  # else no program reads it
            yield f"example-{number:02}", content(example).decode()
    made = {
        "variants": right(assignment),
        "mistake": wrong(assignment),
        "attack": (own for _, own in attacks(assignment)),
    }
    for kind, group in made.items():
        for number, own in enumerate(group):
            yield f"{kind}-{number:02}", content(Example("s", assignment, None, "", answers=own)).decode()


def graded(folder: Path, assignment: str, jobs: int, *options: str) -> dict[str, dict]:
    """Grade the class in a course of its own; return the grader's line for each student.

    Raises:
        RuntimeError: not all were graded.
    """
    make_empty_course(folder)
    handed_in = dict(submissions(assignment))
    for student, text in handed_in.items():
        submit(folder, student, assignment, text)
    grader(folder, "--jobs", str(jobs), *options).wait()
    check_all_graded(folder, len(handed_in))
    lines = (json.loads(line) for line in (folder / "grades.jsonl").read_text("utf-8").splitlines())
    return {line["student"]: line for line in lines}


def points(line: dict) -> dict[str, float]:
    """The points of a grade by exercise id."""
    return {exercise["id"]: exercise["points"] for exercise in line["exercises"]}


def main() -> None:
    """Measure, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assignments", nargs="*", default=list(lessons()))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    figures, rows = Counter(submissions=0, other_marks=0), []
    for assignment in options.assignments:
        named = [name for name, _ in attacks(assignment)]
        with tempfile.TemporaryDirectory() as folder:
            verified = graded(Path(folder, "verified"), assignment, options.jobs)
            whole = graded(Path(folder, "whole"), assignment, options.jobs, "--full-training")
        for kind in KINDS:
            if not (students := [student for student in verified if student.startswith(kind)]):
                continue  # nobody has attacked the lab's trainings
            other = [student for student in students if points(verified[student]) != points(whole[student])]
            rows.append(
                {
                    "lesson": assignment,
                    "kind": kind,
                    "submissions": len(students),
                    "mean": sum(verified[student]["score"] for student in students) / len(students),
                    "in whole": sum(whole[student]["score"] for student in students) / len(students),
                    "other marks": len(other),
                }
            )
            figures.update(submissions=len(students), other_marks=len(other))
            for student in other:
                name = named[int(student.removeprefix("attack-"))] if kind == "attack" else student
                print(
                    f"  {assignment}: {name}: {_difference(points(verified[student]), points(whole[student]))}",
                    flush=True,
                )
    publish("same_marks", dict(figures), rows)


def _difference(verified: dict[str, float], whole: dict[str, float]) -> str:
    """Say in which exercises two grades differ."""
    return ", ".join(f"{id} {verified[id]:g} (in whole {whole[id]:g})" for id in whole if verified[id] != whole[id])


if __name__ == "__main__":
    main()
