"""What do students read? The blind answers of corpus/, judged: refused or accepted, explained, and whether that is the cause.

`python -m benchmarks.diagnosis [--say] [--corpus second] [--half read|unread] [--assignment 6-explain] [--exercise ID] [--unjudged FILE]`

Whether an explanation names the true cause was judged one by one, by reading it; corpus/answers keeps each judgement
with the feedback that it is about. Feedback that has changed since counts as unjudged; --unjudged writes these answers to
a file, and `python -m corpus judge FILE` reads the file once the judgements are filled in.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import torch

from benchmarks import publish
from corpus import judging as truth
from corpus.answers import BLIND, Answer, answers, feedback
from corpus.judging import self_check, verdict
from grader.course import lessons
from grader.declare.lesson import Lesson
from grader.records import Outcome, Verdict

COLUMNS = (
    "wrong", "refused", "explained", "true cause", "part of it", "false", "unjudged",
    "self-check refuses", "self-check agrees", "right", "accepted", "right hinted",
)  # fmt: skip


class Found(NamedTuple):
    """What the grader and the notebook say of one answer."""

    verdict: Verdict
    seconds: float  # CPU time of the explanation
    ticked: bool  # the self-check says ✔
    said: str  # by the self-check


def main() -> None:
    """Judge every answer, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--say", action="store_true", help="print what each wrong answer is told")
    parser.add_argument("--corpus", choices=BLIND, default=BLIND[0], help="in the order in which they were written")
    parser.add_argument("--half", choices=("read", "unread"), help="this half of the corpus alone")
    parser.add_argument("--assignment", help="the answers to this lesson alone")
    parser.add_argument("--exercise", help="the answers to this exercise alone")
    parser.add_argument("--unjudged", type=Path, help="write the answers whose words nobody has judged to this file")
    options = parser.parse_args()
    torch.set_num_threads(1)
    seconds = _measure_explanations()
    rows, unjudged = {}, []
    for answer in answers(options.corpus):
        if options.half is not None and answer.unread != (options.half == "unread"):
            continue
        if options.exercise is not None and answer.exercise != options.exercise:
            continue
        if options.assignment is not None and lesson_of(answer).assignment != options.assignment:
            continue
        seconds.clear()
        found = _find(answer, seconds)
        half = "unread" if answer.unread else "read"
        for name in (answer.exercise, half, "all"):
            rows.setdefault(name, Counter()).update(_columns(answer, found))
            rows[name]["microseconds"] += round(1e6 * found.seconds)
        if options.say:
            _say(answer, found)
        if not answer.right and answer.feedback != feedback(found.verdict):
            unjudged.append(_as_json(answer, found))
    if options.unjudged:
        options.unjudged.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in unjudged), "utf-8")
    names = [name for name in rows if name not in ("read", "unread", "all")] + [
        name for name in ("read", "unread", "all") if name in rows
    ]
    table = [{"exercise": name, **{column: rows[name][column] for column in COLUMNS}} for name in names]
    publish("diagnosis", {name: _shares(rows[name]) for name in names[-3:]}, table)


def _shares(count: Mapping[str, int]) -> dict[str, float]:
    """Return the figures of a row as shares of the wrong, or of the right answers."""
    wrong, right = max(count["wrong"], 1), max(count["right"], 1)
    figures = {column.replace(" ", "_"): round(count[column] / wrong, 4) for column in COLUMNS[1:7]}
    return {
        "wrong": count["wrong"],
        **figures,
        "self_check_agrees": round(count["self-check agrees"] / (wrong * bool(count["wrong"]) + count["right"]), 4),
        "right": count["right"],
        "accepted": round(count["accepted"] / right, 4),
        "right_hinted": count["right hinted"],
        "cpu_seconds_for_each_wrong": round(count["microseconds"] / 1e6 / wrong, 4),
    }


def _measure_explanations() -> list[float]:
    """Note the CPU time of every explanation from now on; return the list that the times are added to."""
    seconds: list[float] = []
    explain = truth.hinted

    def measured(*arguments, **keywords):
        started = time.process_time()
        try:
            return explain(*arguments, **keywords)
        finally:
            seconds.append(time.process_time() - started)

    truth.hinted = measured
    return seconds


def lesson_of(answer: Answer) -> Lesson:
    """Return the lesson that has the exercise."""
    return next(
        lesson for lesson in lessons().values() if answer.exercise in {exercise.id for exercise in lesson.exercises}
    )


def _find(answer: Answer, seconds: list[float]) -> Found:
    """Let the grader judge an answer, and the notebook's self-check."""
    lesson = lesson_of(answer)
    exercise = lesson.exercise(answer.exercise)
    with torch.enable_grad():  # an answer may switch gradients off, and leave them so
        judged = verdict(lesson, exercise, answer.source)
    with torch.enable_grad():
        ticked, said = self_check(lesson, exercise, answer.source)
    return Found(judged, sum(seconds), ticked, said)


def _columns(answer: Answer, found: Found) -> list[str]:
    """Return the columns in which an answer counts."""
    passed, hint = found.verdict.outcome is Outcome.PASSED, found.verdict.hint
    # One truth: both say right, or both say wrong and give the same explanation, which may be none.
    same = found.ticked == passed and (passed or (hint in found.said if hint else True))
    agrees = ["self-check agrees"] * same
    if answer.right:
        return ["right", *["accepted"] * passed, *["right hinted"] * bool(hint), *agrees]
    judgement = answer.judgement
    if passed:
        judgement = "accepted"
    elif answer.feedback != feedback(found.verdict):
        judgement = "unjudged"
    column = {"cause": "true cause", "part": "part of it", "false": "false", "unjudged": "unjudged"}.get(judgement)
    return [
        "wrong",
        *["refused"] * (not passed),
        *["explained"] * bool(hint),
        *["self-check refuses"] * (not found.ticked),
        *([column] if column else []),
        *agrees,
    ]


def _say(answer: Answer, found: Found) -> None:
    """Print what an answer is told, beside its true cause."""
    judged, passed = found.verdict, found.verdict.outcome is Outcome.PASSED
    if answer.right:
        if not passed or not found.ticked:
            print(f"{answer.exercise} RIGHT REFUSED {answer.name}: {judged.message} | notebook: {found.said}")
        return
    if passed:
        print(f"{answer.exercise} WRONG ACCEPTED {answer.name}: {answer.cause}")
        return
    kind = judged.diagnosis or "nothing"
    print(f"{answer.exercise} {answer.name}: {answer.cause}\n    seen: {judged.message}\n    {kind}: {judged.hint}")
    if found.ticked or judged.hint not in found.said:
        print(f"    notebook: {found.said.strip()}")


def _as_json(answer: Answer, found: Found) -> dict[str, str]:
    """Return what a person needs to judge an explanation."""
    return {
        "exercise": answer.exercise,
        "name": answer.name,
        "cause": answer.cause,
        "feedback": feedback(found.verdict),
        "judgement": "accepted" if found.verdict.outcome is Outcome.PASSED else "",
    }


if __name__ == "__main__":
    main()
