"""Does the notebook say the same whatever Python, PyTorch and NumPy a student has?

    python -m benchmarks.stacks --write FILE [--every 1]     with each stack: what the self-check says of every answer
    python -m benchmarks.stacks FILE FILE …                  the messages in which the others differ from the first

The answers are the declared mistakes and those of corpus/. PyTorch words its errors anew from release to release, and rounds
otherwise: numbers in a message count as alike. A stack needs what students install, and nbformat, jupytext and safetensors.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from benchmarks import publish
from corpus.answers import BLIND, answers
from corpus.judging import self_check
from grader.course import lessons

# Rounding decides the rank that this driver finds, and so whether it goes wrong; the exercise says that it may.
EITHER_WAY = ("2.2 lstsq_default_driver",)
NUMBER = re.compile(r"−?\d+(\.\d+)?(e[+−-]?\d+)?")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--every", type=int, default=1, help="of the answers of corpus/, one in so many")
    chosen = parser.parse_args()
    if chosen.write:
        torch.set_num_threads(1)
        stack = {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}
        lines = [{"stack": stack}, *said(chosen.every)]
        chosen.write.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), "utf-8")
        return
    first, *others = map(read, chosen.files)
    rows = []
    for stack, told in others:
        shared = [key for key in told if key in first[1]]
        marks = [key for key in shared if told[key][0] != first[1][key][0] and key not in EITHER_WAY]
        words = [key for key in shared if alike(told[key][1]) != alike(first[1][key][1])]
        causes = [key for key in words if cause(told[key][1]) != cause(first[1][key][1])]
        for key in marks:
            print(f"accepted otherwise: {key}")
        for key in causes:
            print(f"{key}\n    {first[1][key][1]!r}\n    {told[key][1]!r}")
        counts = {"answers": len(shared), "accepted otherwise": len(marks), "other words": len(words)}
        rows.append({"stack": " ".join(map(" ".join, stack.items())), **counts, "another first line": len(causes)})
    publish("stacks", {"first": first[0], "others": rows}, rows)
    if any(row["accepted otherwise"] for row in rows):
        sys.exit("an answer is right with one stack and wrong with another: they are named above")


def said(every: int) -> Iterator[dict[str, object]]:
    """Yield what the self-check says of each answer: whether it is right, and its words."""
    for lesson in lessons().values():
        for exercise in lesson.exercises:
            for wrong in exercise.mistakes:
                yield {
                    "answer": f"{exercise.id} mistake {wrong.name}",
                    "said": self_check(lesson, exercise, "", wrong.replaces),
                }
    of_exercise = {exercise.id: (lesson, exercise) for lesson in lessons().values() for exercise in lesson.exercises}
    for answer in [one for name in BLIND for one in answers(name)][::every]:
        yield {
            "answer": f"{answer.exercise} {answer.name}",
            "said": self_check(*of_exercise[answer.exercise], answer.source),
        }


def read(file: Path) -> tuple[dict[str, str], dict[str, tuple[bool, str]]]:
    """Read what was written with one stack."""
    head, *lines = map(json.loads, file.read_text("utf-8").splitlines())
    return head["stack"], {line["answer"]: tuple(line["said"]) for line in lines}


def alike(text: str) -> str:
    """Leave out the numbers of a message."""
    return NUMBER.sub("#", text)


def cause(text: str) -> str:
    """Return what stands first: the cause, and what to do."""
    return alike(text.partition("\n")[0])


if __name__ == "__main__":
    main()
