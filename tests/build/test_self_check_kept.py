"""What a committed notebook's self-check knows stays while what it was computed from stays, on every processor."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader.build import built as digests
from grader.build import self_check_kept
from grader.build.built import declared_in, exercise_digest, read_built
from grader.build.other_rounding import OtherRounding, unsure
from grader.build.self_check_cell import Known, read_self_checks, self_check_source
from grader.build.self_check_kept import decided_alike, tools_cells, what_is_off
from grader.build.self_check_numbers import Draft, drafted, settled
from grader.course import lessons
from grader.course.lesson_1 import LESSON
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from tests.build.computed_self_check import committed_self_checks, computed_self_checks
from tests.import_graph import ROOT

SCALED = LESSON.exercise("1.2")


@pytest.fixture(scope="module")
def draft() -> Draft:
    return drafted(LESSON, SCALED)


@pytest.fixture(scope="module")
def stored(draft: Draft) -> Known:
    return settled(draft, ())


def changed(known: Known) -> Known:
    """Return a copy that a test may change."""
    return json.loads(json.dumps(known))


@pytest.fixture
def course(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "solutions", tmp_path / "solutions")
    return tmp_path


# ---------------------------------------------------------------- the cell is read again


def test_a_cell_is_read_as_it_was_written() -> None:
    checks = computed_self_checks(replace(LESSON, exercises=LESSON.exercises[:2]))
    assert read_self_checks(self_check_source(checks)) == checks


@pytest.mark.parametrize("source", ["", "x = 1", "x = '''\nabc\n'''", "x = '''\n0000000000000000\n'''"])
def test_what_is_no_cell_of_self_checks_is_read_as_none(source: str) -> None:
    assert read_self_checks(source) is None


# ---------------------------------------------------------------- do its numbers hold?


def test_what_was_just_computed_holds(stored: Known) -> None:
    assert what_is_off(LESSON, SCALED, stored) == ""
    assert decided_alike(stored, stored)


def test_a_last_digit_may_differ_and_no_more(stored: Known) -> None:
    """The last number of the first trial's expected values, moved by less than the check allows, and by more."""

    def moved(by: float) -> Known:
        other = changed(stored)
        other["trials"][0]["expected"]["scores"]["tensor"][2][-1] += by
        return other

    assert what_is_off(LESSON, SCALED, moved(1e-6)) == ""
    assert "1.2/values/public/0: scores: off by" in what_is_off(LESSON, SCALED, moved(1e-4))
    assert decided_alike(stored, moved(1e-4))


def test_another_input_and_a_trial_that_is_gone_are_said(stored: Known) -> None:
    other, gone = changed(stored), changed(stored)
    first = other["trials"][0]
    first["inputs"] = json.loads(json.dumps(first["inputs"]).replace("normal", "uniform"))
    assert what_is_off(LESSON, SCALED, other) == "1.2/values/public/0: the inputs are others"
    gone["trials"][0]["key"] = "values/public/9"
    assert "values/public/9" in what_is_off(LESSON, SCALED, gone)


def test_a_wrong_answer_that_gives_something_else_is_named(draft: Draft, stored: Known) -> None:
    other = changed(stored)
    first, second = other["wrong answers"][:2]
    first["gives"], second["gives"] = second["gives"], first["gives"]
    assert what_is_off(LESSON, SCALED, other).startswith("no wrong answer gives what is")
    assert what_is_off(LESSON, SCALED, {**stored, "wrong answers": [{**first, "name": "nobody's"}]}) != ""
    fewer = settled(draft, {(draft.wrong[0].name, index) for index in range(len(draft.right))})
    assert len(fewer["wrong answers"]) == len(stored["wrong answers"]) - 1
    assert not decided_alike(stored, fewer)


def test_what_another_processor_left_out_stays_out_and_nothing_else(draft: Draft, stored: Known) -> None:
    """A processor without the best kernels cannot see what they see otherwise."""
    one = next(
        one for one in draft.wrong if sum(own != right for own, right in zip(one.prints, draft.right, strict=True)) > 1
    )
    shown = next(index for index, own in enumerate(one.prints) if own != draft.right[index])
    knows_less = settled(draft, {(one.name, shown)})
    assert len(knows_less["wrong answers"]) == len(stored["wrong answers"])
    assert decided_alike(knows_less, stored)
    assert not decided_alike(stored, knows_less)


# `grader build --check` runs these of every exercise.
@pytest.mark.fast_cases("1.2", "6.8")
@pytest.mark.parametrize(
    ("lesson", "exercise"),
    [pytest.param(lesson, exercise, id=exercise.id) for lesson in lessons().values() for exercise in lesson.exercises],
)
def test_every_number_of_a_committed_notebook_holds(lesson: Lesson, exercise: Exercise) -> None:
    stored = committed_self_checks(lesson.assignment).exercises[exercise.id]
    assert what_is_off(lesson, exercise, stored) == ""


# ---------------------------------------------------------------- what other processors see


def test_what_hangs_on_rounding_is_left_out(draft: Draft) -> None:
    first = draft.wrong[0]
    shown = next(index for index, one in enumerate(first.prints) if one is not None and one.numbers)
    doubled = first.prints[shown]._replace(numbers=tuple(2 * number for number in first.prints[shown].numbers))
    prints = (*first.prints[:shown], doubled, *first.prints[shown + 1 :])
    doubled_once = draft._replace(wrong=(first._replace(prints=prints), *draft.wrong[1:]))
    # All else that 1.2 knows is the same.
    assert unsure(doubled_once, 1) == {(first.name, shown)}
    assert unsure(drafted(LESSON, LESSON.exercise("1.1")), 1) == set()


def test_a_comparison_of_sums_that_should_be_equal_comes_out_otherwise() -> None:
    numbers = torch.rand(500, 100)
    turned = numbers.flip(1)
    plain = numbers.sum(1) > turned.sum(1)
    with OtherRounding(1):
        other = numbers.sum(1) > turned.sum(1)
    assert 40 < (plain ^ other).sum() < 400


def test_what_every_processor_rounds_alike_stays() -> None:
    numbers, whole = torch.rand(50, 7), torch.arange(350.0).reshape(50, 7)

    def results() -> tuple[torch.Tensor, ...]:
        changed = torch.zeros(50, 7)
        changed[:, 2:] += numbers[:, 2:] / 3 - 1
        return numbers / 3 + 0.1, numbers.sqrt(), whole @ whole.T, whole.sum(0), numbers.T.reshape(5, 70), changed

    plain = results()
    with OtherRounding(1):
        other = results()
    assert all(map(torch.equal, plain, other))


def test_what_rounds_in_place_is_off_too() -> None:
    numbers = torch.rand(50)
    plain = numbers.clone().exp_()
    with OtherRounding(1):
        other = numbers.clone()
        other.exp_()
    assert not torch.equal(plain, other)
    assert torch.allclose(plain, other, rtol=1e-6)


# ---------------------------------------------------------------- what is computed again


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The exercises that are computed; each comes out as the committed notebook of this repository has it."""
    ids: list[str] = []

    def pretend(kept, workers):
        ids.extend(one.exercise for one in kept)
        return [(one, one.stored) for one in kept]

    monkeypatch.setattr(self_check_kept, "_computed", pretend)
    return ids


def cells_of(course: Path, **options: bool) -> tuple[dict[str, str], list[str]]:
    with ThreadPoolExecutor(1) as workers:
        sources, lines = tools_cells(course, ["1-attention"], workers, **options)
        return sources, list(lines)


def test_the_committed_notebook_is_of_the_present_declarations() -> None:
    built = read_built(ROOT).exercises
    for lesson in lessons().values():
        assert {one.id: built.get(one.id) for one in lesson.exercises} == {
            one.id: exercise_digest(lesson, one) for one in lesson.exercises
        }, "run: grader build"


def test_only_what_changed_is_computed(course: Path, computed: list[str]) -> None:
    sources, lines = cells_of(course)
    assert (computed, lines) == ([], [])
    known = json.loads((course / "solutions" / ".built.json").read_text())
    known["exercises"]["1.3"] = "another"
    (course / "solutions" / ".built.json").write_text(json.dumps(known))
    again, lines = cells_of(course)
    assert computed == ["1.3"]
    assert (again, lines) == (sources, [])


def test_numbers_that_do_not_hold_are_named_by_the_check(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    def off(lesson, exercise, stored) -> str:
        looked_at.append(exercise.id)
        return "off by 3" if exercise.id == "1.4" else ""

    monkeypatch.setattr(self_check_kept, "what_is_off", off)
    assert cells_of(course)[1] == []
    assert looked_at == []
    assert cells_of(course, check=True)[1] == ["exercise 1.4: off by 3; run: grader build"]
    assert set(looked_at) == {one.id for one in LESSON.exercises}


# ---------------------------------------------------------------- what a digest depends on


@pytest.fixture
def changing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return a function that adds a line to a module, and tells which exercises of lesson 1 have another digest for it."""
    real = digests.module_file
    before = {one.id: exercise_digest(LESSON, one) for one in LESSON.exercises}

    def change(module: str, line: str = "pass") -> list[str]:
        copy = tmp_path / f"{module} {line}.py"
        copy.write_text(real(module).read_text("utf-8") + f"\n{line}\n", "utf-8")
        monkeypatch.setattr(digests, "module_file", lambda name: copy if name == module else real(name))
        return [one.id for one in LESSON.exercises if exercise_digest(LESSON, one) != before[one.id]]

    return change


def test_a_digest_depends_on_what_the_numbers_are_computed_from(changing: Callable[..., list[str]]) -> None:
    everything = [one.id for one in LESSON.exercises]
    assert changing("grader.explain.candidates") == everything
    assert changing("grader.build.other_rounding") == everything
    assert changing("grader.course.lesson_1.softmax") == ["1.3"]
    assert changing("grader.course.lesson_1") == []
    assert changing("grader.build.self_check") == []  # the notebook's code, which is compared byte by byte
    assert "1.4" in changing("attention.dot_product")
    assert changing("grader.course.lesson_2.heads") == []
    for line in ("# Why.", '"""What."""', '"""What\n\nand why.\n"""', ""):
        assert changing("grader.explain.candidates", line) == []
    for line in ("'#'.join([])", "def own(): ...", "class Own: 'What.'"):
        assert changing("grader.explain.candidates", line) == everything


def test_an_exercise_is_found_where_it_is_declared() -> None:
    assert declared_in(LESSON, LESSON.exercise("1.3")) == ["grader.course.lesson_1.softmax"]
