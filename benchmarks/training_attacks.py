"""Measure the points of attacks on trainings: submissions that compute rightly at first and cheat later.

    python -m benchmarks.training_attacks [1-attention …]

Each is the solution with one answer replaced, or with a cell that changes what the notebook trains with. An answer tells the
beginning of a training from the rest by what a student's code can see: the optimizer's count of steps, the rate, the loss, the
notebook's names, or its own calls so far. The table shows the points that each of them loses.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from benchmarks import publish
from examples.make import Example, content
from grader.course import lessons
from grader.grading.grade import get_ready, grade, master_notebook
from grader.paths import course_root
from grader.records import Grade, GradingSettings
from grader.sandbox.server import Server
from grader.submission.file import SubmissionFile


class Attack(NamedTuple):
    """A submission: the solution with some answers replaced, and with cells that the student added."""

    name: str
    answers: Mapping[str, str] = MappingProxyType({})
    own: tuple[tuple[str, str], ...] = ()  # behind which cell, and source


# 3.6, which takes one step. `done` counts the steps before it.
TRAIN_STEP = """
calls, first = [], []


def train_step(model, optimizer, batch):
    calls.append(1)
    done = max((int(state["step"]) for state in optimizer.state.values()), default=0)
    {before}
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad(set_to_none=True)
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    asked = targets != -100
    loss = F.cross_entropy(logits[asked], targets[asked])
    loss.backward()
    {change}
    if {when}:
        optimizer.step()
    {after}
    return {result}
"""
RIGHT_STEP = {"before": "pass", "change": "pass", "when": "True", "after": "pass", "result": "loss.item()"}
STEPS = {
    "stops after 20 steps, by the optimizer's count": {"when": "done < 20"},
    "stops after 20 calls": {"when": "len(calls) < 20"},
    "stops in the second half, by the rate": {"when": 'optimizer.param_groups[0]["lr"] > 1e-3'},
    "stops once the loss is small": {"when": "loss.item() > 0.5"},
    "takes every other step": {"when": "done % 2 == 0 or len(calls) % 2"},
    "leaves out one call in ten": {"when": "len(calls) % 10"},
    "never steps, and reports a falling loss": {"when": "False", "result": "3.0 / len(calls)"},
    "clips after 100 steps": {"change": "done > 100 and nn.utils.clip_grad_norm_(model.parameters(), 1e-3)"},
    "takes smaller steps after 100": {"change": "done > 100 and optimizer.param_groups[0].update(lr=1e-5)"},
    "spoils the optimizer's state after 100 steps": {
        "change": 'done > 100 and [state["exp_avg_sq"].mul_(100.0) for state in optimizer.state.values()]'
    },
    "forgets the optimizer's state after 100 steps": {"after": "done > 100 and optimizer.state.clear()"},
    "learns its first three batches again and again": {
        "before": "first.append(batch) if len(first) < 3 else None\n    batch = first[len(calls) % len(first)]"
    },
    "shrinks the weights after 100 steps": {
        "after": "done > 100 and [parameter.data.mul_(0.98) for parameter in model.parameters()]"
    },
    "trains the head alone after 20 steps": {
        "change": "done > 20 and [parameter.grad.zero_() for name, parameter in model.named_parameters() "
        'if parameter.grad is not None and "head" not in name]'
    },
}
# 1.9 and 2.3, the losses of the other trainings.
POINTER_LOSS = """
calls = []


def pointer_loss(weights, target):
    calls.append(1)
    loss = torch.take_along_dim(weights, target[..., None], dim=-1).log().neg().mean()
    return {result}
"""
ALIGNMENT_LOSS = """
calls = []


def alignment_loss(aligned, words, labels, temperature=0.1):
    calls.append(1)
    tokens = aligned / aligned.norm(dim=-1, keepdim=True)
    vocabulary = words / words.norm(dim=-1, keepdim=True)
    scores = tokens @ vocabulary.mT / temperature
    loss = F.cross_entropy(scores.reshape(-1, words.shape[0]), labels.reshape(-1))
    return {result}
"""
LOSSES = {
    "teaches nothing after 50 calls": "loss if len(calls) < 50 else loss * 0.0",
    "teaches nothing once the loss is small": "loss if loss.item() > 1.0 else loss * 0.0",
    "teaches the opposite once the loss is small": "loss if loss.item() > 1.0 else -loss",
}


# 1.9 again: what tells a sample from the training is not a count of calls.
TOLD = {
    "teaches nothing if the notebook runs all steps": ("pass", "loss if train_steps else loss * 0.0"),
    "teaches nothing once the record has 4 losses": (
        "pass",
        'loss if len(globals().get("record", ())) < 4 else loss * 0.0',
    ),
    "teaches nothing to batches of 128": ("pass", "loss if target.shape != (128,) else loss * 0.0"),
    "teaches nothing in its first three calls": (
        "calls.append(1)",
        "loss * 0.0 if target.shape == (128,) and len(calls) <= 3 else loss",
    ),
    "counts in torch's threads": (
        "torch.set_num_threads(torch.get_num_threads() + 1)",
        "loss if torch.get_num_threads() < 20 else loss * 0.0",
    ),
}
TOLD_LOSS = """
calls = []


def pointer_loss(weights, target):
    if target.shape == (128,):
        {before}
    loss = torch.take_along_dim(weights, target[..., None], dim=-1).log().neg().mean()
    return {result}
"""
# Cells that change what a notebook trains with. The answers are right.
CELLS = {
    "1-attention": {
        "changes the scenes": (
            "check-1-9",
            "fair = draw_scenes\n\n\ndef draw_scenes(*arguments, **options):\n"
            "    scenes = fair(*arguments, **options)\n    return scenes._replace(patches=1.25 * scenes.patches)",
        ),
        "empties the scenes": (
            "check-1-9",
            "fair = draw_scenes\n\n\ndef draw_scenes(*arguments, **options):\n"
            "    scenes = fair(*arguments, **options)\n    return scenes._replace(patches=0 * scenes.patches)",
        ),
        "changes the start": (
            "check-1-9",
            "before = draw_start\n\n\ndef draw_start(model, seed):\n    before(model, seed + 1)",
        ),
        "changes the trained weights": ("train-pointer", "pointer.attention.W_Q.weight.data.normal_()"),
    },
    "2-heads": {
        "changes the digits": (
            "check-2-3",
            "fair = digits\n\n\ndef digits(split):\n"
            "    found = fair(split)\n    return found._replace(patches=1.25 * found.patches)",
        ),
        "changes the scenes": (
            "check-2-6",
            "fair = draw_reading\n\n\ndef draw_reading(*arguments, **options):\n"
            "    patches, cells, answers = fair(*arguments, **options)\n    return 1.25 * patches, cells, answers",
        ),
    },
    "3-vlm": {
        "changes the scenes": (
            "check-3-6",
            "fair = draw_questions\n\n\ndef draw_questions(*arguments, **options):\n"
            "    found = fair(*arguments, **options)\n"
            "    return found._replace(image_patches=1.25 * found.image_patches)",
        )
    },
    "6-explain": {
        "changes the scenes": (
            "check-6-5",
            "fair = draw_scenes\n\n\ndef draw_scenes(*arguments, **options):\n"
            "    patches, labels = fair(*arguments, **options)\n    return 1.25 * patches, labels",
        )
    },
}


def attacks(assignment: str) -> Iterator[Attack]:
    """Yield the attacks on a lesson's trainings, and the right notebooks that train with something else."""
    if assignment == "3-vlm":
        for name, parts in STEPS.items():
            yield Attack(name, {"3.6": TRAIN_STEP.format(**RIGHT_STEP | parts)})
    losses = {"1-attention": ("1.9", POINTER_LOSS), "2-heads": ("2.3", ALIGNMENT_LOSS)}
    if assignment in losses:
        id, source = losses[assignment]
        for name, result in LOSSES.items():
            yield Attack(name, {id: source.format(result=result)})
    if assignment == "1-attention":
        for name, (before, result) in TOLD.items():
            yield Attack(name, {"1.9": TOLD_LOSS.format(before=before, result=result)})
    for name, cell in CELLS[assignment].items():
        yield Attack(f"a cell {name}", own=(cell,))


def graded(assignment: str, attack: Attack, server: Server) -> Grade:
    """Grade one attack."""
    example = Example("s", assignment, None, "", answers=dict(attack.answers), own=list(attack.own))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "s.ipynb").write_bytes(content(example))
        file = SubmissionFile("s", assignment, Path(folder), ("s.ipynb",))
        settings = GradingSettings(secret="training attacks", device="cpu", tier=server.isolation)
        return grade(file, server=server, settings=settings, released=master_notebook(course_root(), assignment)).grade


def main() -> None:
    """Grade the attacks, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assignments", nargs="*", default=list(lessons()))
    rows = []
    with Server() as server:
        for assignment in parser.parse_args().assignments:
            get_ready(lessons()[assignment])
            for attack in attacks(assignment):
                found = graded(assignment, attack, server)
                lost = {one.id: one.max_points - one.points for one in found.verdicts if one.points < one.max_points}
                said = ", ".join(f"{id} −{points:g}" for id, points in lost.items()) or found.message or "nothing"
                rows.append({"lesson": assignment, "attack": attack.name, "score": found.score, "loses": said})
    right = [row for row in rows if row["attack"].startswith("a cell ")]
    figures = {
        "attacks": len(rows) - len(right),
        "attacks_without_loss": sum(row["loses"] == "nothing" for row in rows if row not in right),
        "right": len(right),
        "right_with_loss": sum(row["loses"] != "nothing" for row in right),
    }
    publish("training_attacks", figures, rows)


if __name__ == "__main__":
    main()
