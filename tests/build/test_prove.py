"""`grader prove`: it sees a mistake that passes, a reference that fails, a hint that nobody reads, and names what it left out."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import wraps
from typing import Any

import pytest
from typer.testing import CliRunner

from grader.build.prove import Proof, prove
from grader.cli import app
from grader.course import lessons
from grader.declare.exercise import Mistake

LESSON = lessons()["1-attention"]
SCALED = LESSON.exercise("1.2")
(NAME,) = SCALED.defines
RIGHT = LESSON.reference[NAME]


def nearly_right(*args: Any, **kwargs: Any) -> Any:
    return RIGHT(*args, **kwargs) * (1 + 1e-12)


def zero(*args: Any, **kwargs: Any) -> Any:
    return 0 * RIGHT(*args, **kwargs)


def proof(**changed: Any) -> Proof:
    """Prove the exercise with some of its fields changed."""
    exercises = tuple(replace(one, **changed) if one.id == SCALED.id else one for one in LESSON.exercises)
    (found,) = prove(replace(LESSON, exercises=exercises), SCALED.id)
    return found


def test_what_every_lesson_needs_is_proven() -> None:
    found = proof()
    assert (found.problems, found.remarks, found.left_out) == ((), (), ())


def test_a_mistake_that_passes_is_a_problem() -> None:
    harmless = Mistake("harmless", {NAME: nearly_right}, "This is no mistake.")
    found = proof(mistakes=(*SCALED.mistakes, harmless))
    assert len(found.problems) == 1
    assert "harmless passes every check" in found.problems[0]


def test_a_mistake_that_passes_on_some_draws_only_is_said_to() -> None:
    draws: list[bool] = []

    def sometimes(query: Any, key: Any) -> Any:
        """Be wrong on inputs with a number above 3, which some draws have."""
        draws.append(bool(query.max() > 3))
        return RIGHT(query, key) + draws[-1]

    found = proof(mistakes=(Mistake("sometimes", {NAME: sometimes}, "It is off on large numbers."),))
    assert {True, False} == set(draws)
    (problem,) = found.problems
    assert re.match(r"sometimes passes on [12] of 3 draws of the hidden inputs: only some inputs show it\.", problem)


def test_a_hint_that_nobody_reads_is_a_remark() -> None:
    first, again = (Mistake(name, {NAME: zero}, f"Not zero, says {name}.") for name in ("first", "again"))
    found = proof(mistakes=(first, again))
    assert found.problems == ()
    assert found.remarks == ("again fails, and students read the hint of first",)


def test_a_reference_that_fails_its_own_checks_is_a_problem() -> None:
    nothing = wraps(RIGHT)(lambda *_, **__: None)
    found = proof(reference=(nothing,))
    assert len(found.problems) == 1
    assert "the reference does not pass" in found.problems[0]


def test_what_needs_training_is_left_out_and_said() -> None:
    ran = CliRunner().invoke(app, ["prove", "1.9"])
    assert ran.exit_code == 0, ran.output
    assert "not tested here, because it needs a model that the notebook trains" in ran.output


def test_the_command_fails_where_something_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = Proof(exercise=SCALED, problems=("zero passes every check",), remarks=(), left_out=())
    monkeypatch.setattr("grader.commands.build.prove", lambda lesson, only: iter([bad]))
    ran = CliRunner().invoke(app, ["prove"])
    assert ran.exit_code == 1
    assert "not proven" in ran.output
    assert "1.2: zero passes every check" in ran.output


def test_a_mistake_that_is_misspelt_is_a_problem() -> None:
    def misspelt(query: Any, key: Any) -> Any:
        return qeury @ key.mT  # noqa: F821

    found = proof(mistakes=(Mistake("misspelt", {NAME: misspelt}, "The query is another."),))
    assert found.problems == ("misspelt raises NameError: name 'qeury' is not defined. Is the change spelt right?",)


def test_why_a_hint_is_not_read_is_said() -> None:
    def slightly(query: Any, key: Any) -> Any:
        return RIGHT(query, key) * (1 + 1.5e-5)

    found = proof(mistakes=(Mistake("slightly", {NAME: slightly}, "It is a little too large."),))
    assert len(found.remarks) == 1
    assert "slightly fails, and students read no hint, only this: " in found.remarks[0]
    assert "allowed" in found.remarks[0]
