"""Which cells are left out: what only shows, provides or trains, as long as nobody needs it."""

from dataclasses import replace

import nbformat

from corpus.planning import plan
from grader.course import lessons
from grader.grading.schedule import unneeded_cells
from grader.judge.planned_trial import PlannedTrial
from grader.submission.cells import carry_on_source

LESSON = lessons()["1-attention"]
PLAN = plan(LESSON, "secret", "0" * 64)
TRAINS = "train-pointer"
UNTRAINED = tuple(one for one in PLAN if one.cell != TRAINS)
SHOWS = {"numbers": "numbers = 1", "figure": "figure = numbers"}
PROVIDED = {
    "provided-plots": "import math\n\ndef show_map(x):\n    return math.pi * x",
    "tools": "def check(id):\n    pass",
}
STUCK = {"stuck-1-1": carry_on_source("1.1")}
GIVEN = {**STUCK, **SHOWS, **PROVIDED, TRAINS: "pointer = 1", "check-1-1": "check('1.1')"}


def skipped(
    exercise: str, asked: tuple[PlannedTrial, ...] = UNTRAINED, own: str = "", given: dict[str, str] = GIVEN
) -> set[str]:
    """What is left out of a notebook with this answer to 1.1, and a cell of the student's own behind it."""
    sources = {**given, "exercise-1-1": exercise, "own-001": own}
    cells = [
        nbformat.v4.new_code_cell(source, id=id, metadata={"tags": ["draws"] if id in SHOWS else []})
        for id, source in sources.items()
    ]
    return set(unneeded_cells(LESSON, nbformat.v4.new_notebook(cells=cells), ["own-001"], asked))


def test_nothing_that_nobody_needs_is_run() -> None:
    assert skipped("x = 1") == GIVEN.keys()


def test_what_a_cell_takes_a_name_from_is_run_and_what_that_needs() -> None:
    assert skipped("x = numbers") == GIVEN.keys() - {"numbers"}
    assert skipped("def f():\n    return figure") == GIVEN.keys() - {"numbers", "figure"}
    assert skipped("x = 1", own="show_map(x)") == GIVEN.keys() - {"provided-plots"}


def test_an_import_is_not_taken_from_a_cell_that_is_left_out_if_it_is_made_elsewhere() -> None:
    assert skipped("import math\nx = math.e") == GIVEN.keys()
    assert skipped("x = math.e") == GIVEN.keys() - {"provided-plots"}
    assert skipped("import numpy as math", own="math.e") == GIVEN.keys() - {"provided-plots"}


def test_what_looks_names_up_as_it_runs_has_everything_that_is_provided() -> None:
    assert skipped("x = globals()['show' + '_map']") == GIVEN.keys() - PROVIDED.keys()


def test_of_what_is_no_plain_python_every_word_counts() -> None:
    assert skipped("x = 1", own="y = !echo {show_map}") == GIVEN.keys() - {"provided-plots"}


def test_what_trains_is_run_where_it_is_asked_about_or_used() -> None:
    assert TRAINS in skipped("x = 1")
    assert TRAINS not in skipped("x = 1", PLAN)
    assert TRAINS not in skipped("x = 1", own="print(pointer)")


def test_a_stand_in_is_run_where_the_carry_on_cell_is() -> None:
    on = {**GIVEN, "stuck-1-1": "def show_map(x):\n    return x"}
    assert skipped("x = show_map(1)", given=on) == GIVEN.keys() - {"provided-plots", "stuck-1-1"}


def test_what_a_probe_takes_is_run() -> None:
    def probe(show_map):
        return {}

    asked = replace(UNTRAINED[0], check=replace(UNTRAINED[0].check, probe=probe))
    assert skipped("x = 1", (asked,)) == GIVEN.keys() - {"provided-plots"}
