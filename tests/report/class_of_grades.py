"""A small class of grades for the reports' tests, hostile text included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf, nan

from grader.records import CheckResult, Flag, Grade, GradebookEntry, Heatmap, Outcome, Verdict

HOSTILE = "</script><script>alert('x')</script><img src=x onerror=alert(1)>[bold]{{7*7}}\x1b[31m\u202e\udc80"

NAMES = (
    ("1.1", "attention_scores", "Dot-product scores", 5.0),
    ("1.2", "scaled_scores", "Scaled scores", 5.0),
    ("1.3", "stable_softmax", "A softmax that holds", 10.0),
    ("1.4", "attention", "Attention", 15.0),
    ("1.5", "causal_mask, padding_mask", "Masks", 15.0),
    ("1.6", "masked_attention", "Masked attention", 10.0),
    ("1.7", "SelfAttention", "Self-attention", 15.0),
    ("1.8", "CrossAttention", "Cross-attention", 15.0),
    ("1.9", "pointer_loss", "The pointer's loss", 10.0),
)


def verdict(index: int, share: float, outcome: Outcome | None = None, **more) -> Verdict:
    """The verdict on one of NAMES, worth a share of its points."""
    id, name, title, worth = NAMES[index]
    outcome = outcome or (Outcome.PASSED if share == 1 else Outcome.FAILED)
    return Verdict(id=id, name=name, title=title, outcome=outcome, points=worth * share, max_points=worth, **more)


def unscaled(index: int = 3) -> Verdict:
    """1.4 without the √d_k: message, hint, checks and maps, as the judge makes them."""
    off = "5 queries, 7 keys, d_k = 3: weights: off by 0.49, allowed 1e-05"
    checks = (
        CheckResult(
            name="values",
            title="output and weights are the reference's",
            outcome=Outcome.FAILED,
            points=0.0,
            max_points=9.0,
            message=off,
            trials=2,
        ),
        CheckResult(
            name="batch",
            title="leading batch dimensions are kept",
            outcome=Outcome.PASSED,
            points=0.0,
            max_points=6.0,
            trials=2,
        ),
    )
    maps = (
        Heatmap(
            title="2 queries, 3 keys, d_k = 5",
            got=((0.9, 0.07, 0.03), (0.05, 0.05, 0.9)),
            expected=((0.6, 0.25, 0.15), (0.2, 0.2, 0.6)),
        ),
    )
    return verdict(
        index,
        0.0,
        message=off,
        mistake="unscaled",
        hint="Divide the scores by √d_k.",
        review="Why √d_k",
        checks=checks,
        heatmaps=maps,
    )


def grade(student: str, verdicts: tuple[Verdict, ...], **more) -> Grade:
    """A graded submission of lesson 1."""
    return Grade(
        student=student,
        assignment="1-attention",
        status="graded",
        score=sum(one.points for one in verdicts),
        max_score=100.0,
        verdicts=verdicts,
        isolation="full",
        device="cpu",
        seconds=1.23,
        submission_sha256="0f3a" * 16,
        **more,
    )


FULL = grade("s0001", tuple(verdict(index, 1.0) for index in range(9)))
MISTAKEN = grade("s0417", (*FULL.verdicts[:3], unscaled(), *FULL.verdicts[4:]))
UNTOUCHED = grade("s0002", tuple(verdict(index, 0.0, Outcome.MISSING, message="not solved yet") for index in range(9)))
PARTLY = grade(
    "josé",
    (
        *FULL.verdicts[:4],
        verdict(4, 0.6, message="padding_mask is not defined", review="Masks"),
        verdict(5, 0.0, Outcome.TIMEOUT, message="it did not answer within 20 s"),
        verdict(6, 1.0, notes=("two cells define SelfAttention; the last one counted",)),
        verdict(7, 0.0, message="4 tokens: output: shape (4, 3), expected (4, 5)", mistake="keys_from_text"),
        verdict(8, 0.5, message="1 scene: the map is not the reference's"),
    ),
    flags=(Flag(kind="uses-builtin", exercise="1.4", detail="F.scaled_dot_product_attention"),),
)
STOPPED_SAYS = "your cell does not parse at line 2: `def attention(query, (key):`: SyntaxError: '(' was never closed"
STOPPED = verdict(
    3,
    0.0,
    message=STOPPED_SAYS,
    excerpt="  1 │ # @exercise 1.4\n→ 2 │ def attention(query, (key):\n    │              ^\n  3 │     return query",
    checks=tuple(replace(check, outcome=Outcome.FAILED, message=STOPPED_SAYS) for check in unscaled().checks),
)
ATTACKER = grade(
    f"s-{HOSTILE}",
    (
        verdict(
            0,
            0.0,
            message=f"it raised {HOSTILE}",
            excerpt=f"  1 │ x\n→ 2 │ {HOSTILE}",
            hint=HOSTILE,
            notes=(HOSTILE,),
            heatmaps=(
                Heatmap(title=HOSTILE, got=((nan, inf), (-inf, 2e308 * 0 + 3.0)), expected=((0.5, 0.5), (0.25, 0.75))),
                Heatmap(title="no rows", got=(), expected=()),
            ),
        ),
    ),
    flags=(Flag(kind=HOSTILE, exercise=HOSTILE, detail=HOSTILE),),
    message=HOSTILE,
)
UNREADABLE = Grade(
    student="s0007",
    assignment="1-attention",
    status="unreadable",
    score=0.0,
    max_score=100.0,
    message="1-attention.ipynb is cut off: not JSON at line 20. Save it again in Jupyter and hand it in.",
)
FAULT = Grade(
    student="s0008",
    assignment="1-attention",
    status="fault",
    score=None,
    max_score=100.0,
    message="the sandbox did not start: bwrap not found",
)
CLASS = (FULL, MISTAKEN, UNTOUCHED, PARTLY, ATTACKER, UNREADABLE, FAULT)


def entries(grades: Iterable[Grade]) -> list[GradebookEntry]:
    """What a new gradebook says of these grades, before any person looked at them."""
    return [GradebookEntry.of(grade) for grade in grades]


def from_platform(grades: Iterable[Grade]) -> list[GradebookEntry]:
    """The same, if the grades' ids are the learning platform's own numbers."""
    return [replace(entry, student=replace(entry.student, lms_id=entry.student.id)) for entry in entries(grades)]
