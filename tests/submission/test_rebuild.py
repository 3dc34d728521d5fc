"""Which cells count, and where the student's own cells go."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import nbformat
import pytest

from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.submission.cells import carry_on_source
from grader.submission.file import Unreadable
from grader.submission.notebook import Cell, Submission
from grader.submission.rebuild import Rebuilt, rebuild


def definition(name: str) -> Callable[[], None]:
    def function() -> None:
        raise NotImplementedError

    function.__name__ = name
    return function


def exercise(id: str, *names: str) -> Exercise:
    return Exercise(
        id=id, title="", reference=tuple(map(definition, names)), points=0, difficulty=1, minutes=1, checks=()
    )


LESSON = Lesson(assignment="9-small", title="", exercises=(exercise("9.1", "f"), exercise("9.2", "g", "h")))
SETUP = "import torch\ndevice = 'cpu'\nseed = 0\ntorch.manual_seed(seed)"
STUB_F = "# @exercise 9.1\ndef f(x):\n    raise NotImplementedError('TODO 9.1')"
STUB_G = "# @exercise 9.2\ndef g(x): ...\ndef h(x): ..."


def code(name: str, source: str, **metadata):
    cell = nbformat.v4.new_code_cell(source, id=name)
    cell.metadata.update(metadata)
    return cell


MASTER = nbformat.v4.new_notebook(
    cells=[
        code("setup", SETUP, tags=["parameters"]),
        code("exercise-9-1", STUB_F, nbgrader={"grade_id": "exercise-9-1"}),
        code("check-9-1", 'check("9.1")', nbgrader={"grade_id": "check-9-1"}),
        nbformat.v4.new_markdown_cell("prose", id="text-01"),
        code("exercise-9-2", STUB_G, nbgrader={"grade_id": "exercise-9-2"}),
        code("check-9-2", 'check("9.2")', nbgrader={"grade_id": "check-9-2"}),
    ]
)


def put(*cells: Cell | str) -> Rebuilt:
    made = tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells)
    return rebuild(LESSON, MASTER, Submission(made, "sha"))


def ids(rebuilt: Rebuilt) -> list[str]:
    return [cell.id for cell in rebuilt.notebook.cells]


ANSWER_F = "# @exercise 9.1\ndef f(x): return x"
ANSWER_G = "# @exercise 9.2\ndef g(x): return x\ndef h(x): return x"


def test_the_answers_go_into_the_master_copy() -> None:
    rebuilt = put(SETUP, ANSWER_F, 'check("9.1")', ANSWER_G)
    assert ids(rebuilt) == [cell.id for cell in MASTER.cells]
    assert rebuilt.answers == {"9.1": ANSWER_F, "9.2": ANSWER_G}
    assert rebuilt.notebook.cells[1].source == ANSWER_F
    assert not rebuilt.own
    assert not rebuilt.notes
    assert MASTER.cells[1].source == STUB_F


def test_a_marker_outranks_a_grade_id_and_a_grade_id_a_name() -> None:
    wrong_id = Cell(ANSWER_F, grade_id="exercise-9-2")
    assert put(wrong_id).answers == {"9.1": ANSWER_F}
    by_id = Cell("def f(x): return 2", grade_id="exercise-9-1")
    assert put(by_id, "def f(x): return 3").answers["9.1"] == by_id.source
    assert put("def f(x): return 3").answers["9.1"] == "def f(x): return 3"
    assert "Found by its name" in put("def f(x): return 3").notes["9.1"][0]


def test_the_last_cell_that_defines_the_name_counts_and_the_student_is_told() -> None:
    first, last = ANSWER_F.replace("return x", "return -x"), ANSWER_F
    rebuilt = put(first, last, "# @exercise 9.1\n# notes only")
    assert rebuilt.answers["9.1"] == last
    assert rebuilt.notes["9.1"] == ("2 cells of this exercise define f; the last one counted.",)


def test_an_own_cell_that_rebinds_the_name_later_does_not_count() -> None:
    rebuilt = put(ANSWER_F, "f = lambda x: 0")
    assert rebuilt.answers["9.1"] == ANSWER_F
    assert "a cell of your own" in rebuilt.notes["9.1"][0]
    assert rebuilt.own == ("own-001",)


def test_a_marked_cell_that_no_longer_defines_the_name_gives_way() -> None:
    rebuilt = put("# @exercise 9.1\n# see below", "def f(x): return 1")
    assert rebuilt.answers["9.1"] == "def f(x): return 1"


@pytest.mark.parametrize(
    "source",
    [
        "# @exercise 9.1\ndef f(x:\n  return",
        "# @exercise 9.1\n%%time\ndef f(x): return 1",
        "# @exercise 9.1\nfrom math import sqrt as f",
        "# @exercise 9.1\nif True:\n    def f(x): return 1",
        "# @exercise 9.1\nf: object = abs",
        "  #@exercise   9.1\ndef f(x): return 1",
    ],
)
def test_an_answer_is_found_in_any_style_and_even_broken(source: str) -> None:
    assert put(source).answers["9.1"] == source


def test_own_cells_are_kept_where_they_stood() -> None:
    rebuilt = put("first = 1", SETUP, "helper = 2", ANSWER_F, "used = 3", 'check("9.1")', "later = 4")
    assert ids(rebuilt) == [
        "own-001", "setup", "own-002", "exercise-9-1", "own-003", "check-9-1", "own-004",
        "text-01", "exercise-9-2", "check-9-2",
    ]  # fmt: skip
    assert [cell.source for cell in rebuilt.notebook.cells if cell.id in rebuilt.own] == [
        "first = 1", "helper = 2", "used = 3", "later = 4",
    ]  # fmt: skip


def test_given_cells_come_from_the_master_even_where_they_were_edited_or_doubled() -> None:
    edited = SETUP.replace("seed = 0", "seed = 17")
    rebuilt = put(Cell(edited, id="setup"), SETUP, ANSWER_F, 'check("9.1")', 'check("9.1")')
    assert rebuilt.notebook.cells[0].source == SETUP
    assert not rebuilt.own


def test_nothing_of_the_submitted_file_but_sources_is_used() -> None:
    rebuilt = put(Cell(ANSWER_F, grade_id="nonsense", id="x y"))
    assert rebuilt.notebook.cells[1].metadata == MASTER.cells[1].metadata
    assert rebuilt.notebook.metadata == MASTER.metadata


def test_an_exercise_without_a_cell_is_missing_and_does_not_fall_back_on_the_stub() -> None:
    rebuilt = put(ANSWER_F)
    assert set(rebuilt.answers) == {"9.1"}
    assert "def g" not in rebuilt.notebook.cells[4].source


def test_another_notebook_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="no exercise cell of 9-small"):
        put("print('hello')")


def test_a_notebook_of_another_course_with_the_same_markers_is_unreadable() -> None:
    others = ("# @exercise 9.1\ndef area(r): return r", Cell("def volume(r): return r", grade_id="exercise-9-2"))
    with pytest.raises(
        Unreadable, match=r"no cell defines f, or another name .* another .* course: submit 9-small\.ipynb"
    ):
        put(*others)
    assert put(*others, "def h(x): return x").answers.keys() >= {"9.2"}


def test_a_cell_with_two_markers_answers_both() -> None:
    both = f"{ANSWER_F}\n{ANSWER_G}"
    assert put(both).answers == {"9.1": both, "9.2": both}


def test_the_cell_that_helps_one_to_carry_on_is_no_answer() -> None:
    """As released, and switched on."""
    stuck = carry_on_source("9.1")
    master = nbformat.v4.new_notebook(cells=[*MASTER.cells[:2], code("stuck-9-1", stuck), *MASTER.cells[2:]])
    for cell in (stuck, stuck.replace("# carry_on", "carry_on")):
        submission = Submission((Cell("def f(x): return x"), Cell(cell), Cell(ANSWER_G)), "sha")
        assert rebuild(LESSON, master, submission).answers["9.1"] == "def f(x): return x"
        submission = Submission((Cell(ANSWER_F), Cell(cell)), "sha")
        assert rebuild(LESSON, master, submission).notes == {}


# ---------------------------------------------------------------- a cell that was split


def split(*parts: str) -> tuple[Cell, ...]:
    """JupyterLab gives both halves the metadata of the whole."""
    return tuple(Cell(part, grade_id="exercise-9-1") for part in parts)


WHOLE = "# @exercise 9.1\ndef _half(x):\n    return x / 2\n\ndef f(x):\n    y = _half(x)\n    return y"


def test_helper_above_and_answer_below_are_one_answer() -> None:
    above, below = WHOLE.split("\n\n")
    rebuilt = put(*split(above, below), ANSWER_G)
    assert rebuilt.answers["9.1"] == f"{above}\n{below}"
    assert rebuilt.notes == {"9.1": ("The answer stands in 2 cells; they were put together.",)}
    assert ids(rebuilt) == [cell.id for cell in MASTER.cells]


def test_a_helper_below_the_answer_belongs_to_it() -> None:
    helper, answer = "def _half(x):\n    return x / 2", "# @exercise 9.1\ndef f(x):\n    return _half(x)"
    assert put(*split(answer, helper)).answers["9.1"] == f"{answer}\n{helper}"


@pytest.mark.parametrize("places", [(2,), (4,), (5,), (6,), (4, 5), (2, 3, 6), (1, 6)])
def test_wherever_a_cell_is_split_the_answer_is_the_whole(places: tuple[int, ...]) -> None:
    lines = WHOLE.split("\n")
    bounds = [0, *places, len(lines)]
    parts = ["\n".join(lines[start:end]).strip("\n") for start, end in pairwise(bounds)]
    answer = put(*split(*parts)).answers["9.1"]
    scope: dict = {}
    exec(answer, scope)
    assert scope["f"](6) == 3


def test_a_half_that_lost_its_metadata_is_found_by_what_it_needs() -> None:
    above, below = "# @exercise 9.1\ndef f(x):\n    y = x / 2", "    return y"
    rebuilt = put(above, below, "print(1)")
    assert rebuilt.answers["9.1"] == f"{above}\n{below}"
    assert rebuilt.own == ("own-001",)
    rebuilt = put("# @exercise 9.1\ndef _half(x):\n    return x / 2", "def f(x): return _half(x)")
    assert "_half" in rebuilt.answers["9.1"].partition("def f")[0]


def test_alternatives_of_a_split_answer_are_told_from_its_parts() -> None:
    helper = "def _half(x):\n    return x / 2"
    first, last = "def f(x):\n    y = 0\n    return y", "def f(x):\n    y = _half(x)\n    return y"
    rebuilt = put(*split(helper, *first.rsplit("\n", 1), *last.rsplit("\n", 1)))
    assert rebuilt.answers["9.1"] == f"{helper}\n{last}"
    assert rebuilt.notes["9.1"][0] == "2 cells of this exercise define f; the last one counted."


def test_a_copy_of_the_answer_that_alone_has_the_helper_stays_above_it() -> None:
    first, last = WHOLE, "def f(x):\n    return 3 * _half(x)"
    assert put(*split(first, last)).answers["9.1"] == f"{first}\n{last}"


def test_two_names_of_an_exercise_may_stand_in_two_cells() -> None:
    g, h = "# @exercise 9.2\ndef g(x): return x", "def h(x): return x"
    assert put(g, Cell(h, grade_id="exercise-9-2")).answers["9.2"] == f"{g}\n{h}"


@pytest.mark.parametrize("scratch", ["f(torch.ones(3)).shape", "while True: print(", "assert f(1) == 1"])
def test_what_only_tries_the_answer_is_the_students_own_cell(scratch: str) -> None:
    """JupyterLab copies the metadata with a cell. If it fails or hangs, it must not stop the answer."""
    rebuilt = put(*split(ANSWER_F, scratch))
    assert rebuilt.answers["9.1"] == ANSWER_F
    assert [cell.source for cell in rebuilt.notebook.cells if cell.id in rebuilt.own] == [scratch]
    assert not rebuilt.notes


def test_the_magic_of_a_part_does_not_break_the_whole() -> None:
    answer = put(*split("def _half(x): return x / 2", "%%time\ndef f(x): return _half(x)")).answers["9.1"]
    compile(answer, "answer", "exec")


@pytest.mark.parametrize(
    "source",
    ["x = '" + "a" * (513 << 10) + "'", "x;" * 80_000, "x = [" + "0," * 80_000 + "]"],
    ids=["characters", "statements", "numbers"],
)
def test_code_that_takes_minutes_to_analyse_is_refused(source: str) -> None:
    with pytest.raises(Unreadable, match=r"more code than a lesson needs .* Remove numbers"):
        put(f"{STUB_F}\n{source}")


def test_released_cells_do_not_count_as_the_students_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.submission.rebuild.MOST_CODE", len(STUB_F) + 10)
    assert put(SETUP, STUB_F).answers == {"9.1": STUB_F}
    with pytest.raises(Unreadable, match="more code"):
        put(SETUP, STUB_F, "x = 1 + 2 + 3 + 4")


# ---------------------------------------------------------------- stubs, and answers in cells without a marker

UNSOLVED = "# @exercise 9.1\ndef f(x):\n    '''Half of x.'''\n    raise NotImplementedError(\"TODO 9.1\")"


@pytest.mark.parametrize("stub", [UNSOLVED, "# @exercise 9.1\ndef f(x):\n    pass", "# @exercise 9.1\ndef f(x): ..."])
@pytest.mark.parametrize(
    "cell", ["def f(x): return x / 2", "def mine(x): return x / 2\nf = mine", "f = lambda x: x / 2"]
)
def test_a_stub_gives_way_to_a_cell_that_defines_the_name(stub: str, cell: str) -> None:
    for cells in ((stub, cell), (cell, stub)):
        rebuilt = put(*cells, ANSWER_G)
        assert rebuilt.answers["9.1"] == cell
        assert "Found by its name" in rebuilt.notes["9.1"][0]
    assert put(stub, ANSWER_G).answers["9.1"] == stub


def test_an_alias_below_the_stub_is_the_answer() -> None:
    answer = f"{UNSOLVED}\n\nf = abs"
    assert put(answer, "f = round").answers["9.1"] == answer


def test_a_stub_beside_a_solved_copy_does_not_count() -> None:
    assert put(ANSWER_F, UNSOLVED).answers["9.1"] == ANSWER_F


def test_names_of_one_exercise_are_found_in_several_cells() -> None:
    solved = "# @exercise 9.2\ndef g(x): return x\ndef h(x):\n    raise NotImplementedError('TODO 9.2')"
    assert put(solved, "def h(x): return 2").answers["9.2"] == f"{solved}\ndef h(x): return 2"
    rebuilt = put(STUB_G, "def g(x): return 1", "def h(x): return 2")
    assert rebuilt.answers["9.2"] == "def g(x): return 1\ndef h(x): return 2"


@pytest.mark.parametrize(
    "rest", ["def call(self): return 2\nf.call = call", "class f(f):\n    def call(self): return 2"]
)
def test_a_class_may_be_completed_in_the_next_cell(rest: str) -> None:
    begun = "# @exercise 9.1\nclass f:\n    def call(self):\n        raise NotImplementedError('TODO 9.1')"
    names: dict = {}
    exec(put(begun, rest).answers["9.1"], names)
    assert names["f"]().call() == 2


def test_a_later_cell_with_the_name_may_be_asked_for() -> None:
    wrong, corrected = "# @exercise 9.1\ndef f(x): return -x", "def f(x): return x"
    submission = Submission((Cell(wrong), Cell(corrected), Cell(ANSWER_G)), "sha")
    first = rebuild(LESSON, MASTER, submission)
    assert (first.answers["9.1"], first.others) == (wrong, {"9.1"})
    second = rebuild(LESSON, MASTER, submission, {"9.1"})
    assert (second.answers["9.1"], second.others) == (corrected, frozenset())
    assert not put(corrected, wrong).others, "what stands above does not replace what stands below"


# ---------------------------------------------------------------- provided cells that were changed

PROVIDED = "import math\n\n\ndef show(x):\n    print(x)\n\n\nshow(math.pi)"
WITH_PROVIDED = nbformat.v4.new_notebook(cells=[*MASTER.cells[:1], code("show", PROVIDED), *MASTER.cells[1:]])


def changed(source: str) -> Rebuilt:
    cells = (Cell(SETUP), Cell(source, id="show"), Cell(ANSWER_F), Cell(ANSWER_G))
    return rebuild(LESSON, WITH_PROVIDED, Submission(cells, "sha"))


def test_what_a_student_adds_to_a_provided_cell_is_kept_and_the_rest_runs_as_released() -> None:
    edited = PROVIDED.replace("import math", "import math\nfrom typing import Optional").replace("math.pi", "math.e")
    edited += "\n@staticmethod\ndef half(x): return x / 2\nwidth: int = 3\nshow(7)"
    rebuilt = changed(edited)
    assert ids(rebuilt)[:3] == ["setup", "show", "own-001"]
    assert rebuilt.notebook.cells[1].source == PROVIDED
    kept = "from typing import Optional\n@staticmethod\ndef half(x): return x / 2\nwidth: int = 3"
    assert rebuilt.own_sources == [kept]
    [note] = rebuilt.notes["9.1"]
    assert note == (
        "You changed the provided cell that begins with `import math`. It ran as it was released. "
        "What you added to it is kept: Optional, half, width."
    )


def test_other_changes_of_a_provided_cell_are_noted() -> None:
    [note] = changed(PROVIDED.replace("print(x)", "print(2 * x)")).notes["9.1"]
    assert note.endswith("It ran as it was released.")


@pytest.mark.parametrize("same", [PROVIDED, f"# mine\n{PROVIDED}", f"{PROVIDED}\n# seen"])
def test_comments_and_settings_are_no_change_to_note(same: str) -> None:
    assert not changed(same).notes
    assert not put(SETUP.replace("seed = 0", "seed = 3"), ANSWER_F, ANSWER_G).notes
