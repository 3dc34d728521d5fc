"""What happens between execution and grade; the whole way is tested with the example class."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.answers import answers
from examples.make import ROOT, Example, content
from grader.course import lessons
from grader.declare.lesson import SHORT
from grader.explain.diagnose import diagnose
from grader.grading import grade as grading
from grader.grading.grade import grade, master_notebook
from grader.grading.graded import Graded
from grader.grading.judge_run import NOTE
from grader.records import GradingSettings, Outcome, Status
from grader.sandbox.engine import Execution, session
from grader.sandbox.server import Server
from grader.submission.cells import check_cell
from grader.submission.file import SubmissionFile
from tests.classes.gradebook.warm_server import shared_server

LESSON = lessons()["1-attention"]

UNSCALED = "def scaled_scores(query, key):\n    return attention_scores(query, key)"

OTHER_SCENES = """
draw_fair = draw_scenes


def draw_scenes(*arguments, **options):
    scenes = draw_fair(*arguments, **options)
    return scenes._replace(patches=1.25 * scenes.patches)
"""


@pytest.fixture(scope="module")
def server():
    with shared_server() as started:
        yield started


@pytest.fixture
def runs(monkeypatch) -> list[Execution]:
    """Every execution that a grade took."""
    made: list[Execution] = []

    @contextmanager
    def watched(*arguments):
        with session(*arguments) as ran:
            made.append(ran.execution)
            yield ran

    monkeypatch.setattr(grading, "session", watched)
    return made


def grade_solution(server: Server, tmp_path: Path, *own: tuple[str, str]) -> Graded:
    """Grade lesson 1's solution with some cells of a student's own."""
    example = Example(student="s", assignment="1-attention", score=None, about="", own=list(own))
    return grade_example(server, tmp_path, example)


def grade_answers(
    server: Server, tmp_path: Path, answers: dict[str, str], base: str = "solution", run_all: bool = False
) -> Graded:
    """Grade lesson 1's solution, or the untouched notebook, with some answers replaced."""
    example = Example(student="s", assignment="1-attention", score=None, about="", base=base, answers=answers)
    return grade_example(server, tmp_path, example, run_all)


def grade_example(server: Server, tmp_path: Path, example: Example, run_all: bool = False) -> Graded:
    (tmp_path / "s.ipynb").write_bytes(content(example))
    file = SubmissionFile("s", example.assignment, tmp_path, ("s.ipynb",))
    settings = GradingSettings(secret="test", device="cpu", tier=server.isolation, run_all=run_all)
    return grade(file, server=server, settings=settings, released=master_notebook(ROOT, example.assignment))


CHANGED = {
    "lighter scenes": OTHER_SCENES,
    "empty scenes": OTHER_SCENES.replace("1.25", "0"),
    "another start": "draw_before = draw_start\n\n\ndef draw_start(model, seed):\n    draw_before(model, seed + 1)",
}


@pytest.mark.fast_cases("lighter scenes")
@pytest.mark.parametrize("cell", CHANGED.values(), ids=CHANGED)
def test_a_right_answer_keeps_its_points_whatever_the_notebook_trains_it_with(
    server: Server, tmp_path: Path, runs, cell: str
) -> None:
    graded = grade_solution(server, tmp_path, ("check-1-9", cell)).grade
    assert graded.score == LESSON.max_score, [(verdict.id, verdict.message) for verdict in graded.verdicts]
    assert len(runs) == 1


def test_a_right_training_is_verified_and_the_notebook_says_so(server: Server, tmp_path: Path, runs) -> None:
    graded = grade_solution(server, tmp_path)
    assert (graded.grade.score, len(runs)) == (LESSON.max_score, 1)
    cell = next(cell for cell in graded.notebook.cells if cell.id == "train-pointer")
    texts = [output.text for output in cell.outputs]
    assert texts[0].startswith(f"{SHORT} steps")
    assert texts[-1] == NOTE
    assert {check.name for check in graded.grade.verdicts[-1].checks} >= {"begins", "goes on", "maps"}


@pytest.mark.slow(held_by="tests/grading/test_grade.py::test_a_right_training_is_verified_and_the_notebook_says_so")
def test_the_executed_notebook_holds_the_verdicts_and_what_the_cells_printed(server: Server, tmp_path: Path) -> None:
    graded = grade_solution(server, tmp_path, ("setup", "print('hello from me')"), ("start", "1 / 0"))
    cells = {cell.id: cell for cell in graded.notebook.cells}
    assert graded.grade.score == LESSON.max_score
    assert "hello from me" in cells["own-001"].outputs[0].text
    assert cells["own-002"].outputs[0].ename == "ZeroDivisionError"
    assert cells["check-1-4"].outputs[0].text.startswith("PASSED · 15 of 15 points")


def test_a_loop_is_waited_for_once_and_what_calls_it_is_not_run(
    server: Server, tmp_path: Path, monkeypatch, runs
) -> None:
    lesson = lessons()["1-attention"]
    quick = tuple(
        replace(exercise, checks=tuple(replace(check, seconds=1.0) for check in exercise.checks))
        for exercise in lesson.exercises
    )
    # The self-checks of what calls the loop hang too, each for as long as it may; and some cells take seconds for figures.
    figures = ("gradient-at-query", "scale-slider", "pointer-roots", "pointer-parts", "pointer-maps")
    hang = dict.fromkeys((*map(check_cell, ("1.3", "1.6", "1.7", "1.8")), *figures), 0.1)
    hurried = replace(
        lesson,
        exercises=quick,
        limits=replace(lesson.limits, given_seconds=3.0),
        cell_seconds={**lesson.cell_seconds, **hang},
    )
    monkeypatch.setattr(grading, "lessons", lambda: {lesson.assignment: hurried})
    loop = "def stable_softmax(scores, dim=-1):\n    while True:\n        pass"
    graded = grade_answers(server, tmp_path, {"1.3": loop}, run_all=True).grade
    assert graded.score == 90, [(verdict.id, verdict.message) for verdict in graded.verdicts]
    first, again = runs
    for cell in ("softmax-facts", "masked-map", "train-pointer"):
        assert first.cells[cell].status is Status.TIMEOUT
        assert first.cells[cell].seconds == 0, cell
        assert again.cells[cell].status is Status.OK
    assert "did not answer in time" in first.cells["train-pointer"].message


def test_an_untouched_notebook_is_run_once(server: Server, tmp_path: Path, runs) -> None:
    assert grade_answers(server, tmp_path, {}, base="student").grade.score == 0
    assert len(runs) == 1


def test_a_fault_of_ours_withholds_the_grade_and_costs_nothing(server: Server, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("grader.grading.judge_run.verdict_of", lambda *_: 1 / 0)
    graded = grade_solution(server, tmp_path).grade
    assert (graded.status, graded.score) == ("fault", None)
    assert "ZeroDivisionError" in graded.message


def test_all_runs_together_have_the_time_of_one(server: Server, tmp_path: Path, monkeypatch, runs) -> None:
    """A failed exercise is not replaced once the time is used up; a person is told, and nothing else is lost."""
    lesson = lessons()["1-attention"]
    slow = "import time; time.sleep(6)"
    hurried = replace(lesson, limits=replace(lesson.limits, seconds=6.0), follow_through=True)
    monkeypatch.setattr(grading, "lessons", lambda: {lesson.assignment: hurried})
    wrong = {"1.2": UNSCALED, "1.8": slow}
    graded = grade_answers(server, tmp_path, wrong).grade
    assert len(runs) == 1
    assert [flag.kind for flag in graded.flags] == ["out-of-time"]
    assert "6 s for all runs" in graded.flags[0].detail
    followed = next(verdict for verdict in graded.verdicts if verdict.id == "1.4")
    assert followed.outcome is Outcome.FAILED
    assert followed.hint  # which the run that did not take place would have given


def test_an_error_in_the_explanation_costs_nothing(server: Server, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("grader.explain.diagnose.explain", lambda *_: 1 / 0)
    wrong = {"1.3": "def stable_softmax(scores, dim=-1):\n    return scores"}
    graded = grade_answers(server, tmp_path, wrong).grade
    assert graded.status == "graded"
    assert graded.score == LESSON.max_score - 10
    assert {flag.kind for flag in graded.flags} == {"not-explained"}
    assert {flag.exercise for flag in graded.flags} == {"1.3"}


@pytest.mark.slow(
    held_by="tests/grading/test_try_repairs.py::test_an_answer_that_builds_on_a_wrong_one_is_explained_with_a_stand_in_below_it"
)
def test_what_a_stand_in_is_there_for_is_explained_once(server: Server, tmp_path: Path, monkeypatch, runs) -> None:
    """What follows from a mistake elsewhere is not explained, for the next run judges it without that mistake."""
    explained = []
    monkeypatch.setattr(
        "grader.grading.judge_run.diagnose",
        lambda verdict, wrong, try_: explained.append(wrong and verdict.id) or diagnose(verdict, wrong, try_),
    )
    wrong = {
        "1.2": UNSCALED,
        "1.4": "def attention(query, key, value):\n    weights = torch.softmax(scaled_scores(query, key), dim=-2)\n    return weights @ value, weights",
    }
    graded = grade_answers(server, tmp_path, wrong).grade
    failed = {verdict.id: verdict for verdict in graded.verdicts if verdict.outcome is not Outcome.PASSED}
    assert failed.keys() == {"1.2", "1.4"}
    assert len(runs) >= 2
    assert sorted(filter(None, explained)) == ["1.2", "1.4"]
    assert all(verdict.hint for verdict in failed.values())


@pytest.mark.slow(
    held_by="tests/grading/test_follow_through.py::test_trained_weights_stand_in_where_nothing_can_for_what_takes_the_steps"
)
@pytest.mark.parametrize(
    ("exercise", "name", "points"), [("3.6", "no_zero_grad", 10), ("3.6", "not_flattened", 10), ("3.4", None, 4)]
)
def test_a_wrong_step_is_not_paid_for_again_by_the_model_that_it_trains(
    server: Server, tmp_path: Path, exercise: str, name: str | None, points: float
) -> None:
    """With trained weights the model is what it should be, unless it is the model that is wrong."""
    wrong = [one for one in answers() if one.exercise == exercise and not one.right]
    source = next(one.source for one in wrong if name in (None, one.name))
    example = Example(student="s", assignment="3-vlm", score=None, about="", answers={exercise: source})
    verdicts = {one.id: one for one in grade_example(server, tmp_path, example).grade.verdicts}
    assert verdicts[exercise].points == 0
    assert verdicts["3.8"].points == points
    assert verdicts["3.8"].stand_ins == ((exercise,) if points == 10 else ())


def test_a_system_call_that_the_sandbox_refuses_is_explained_and_flagged(server: Server, tmp_path: Path) -> None:
    watches = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    watches += "if libc.inotify_init() < 0:\n    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))"
    answer = f"def attention_scores(query, key):\n    {watches.replace(chr(10), chr(10) + '    ')}\n    return query @ key.mT"
    example = Example(
        student="s",
        assignment="1-attention",
        score=None,
        about="",
        answers={"1.1": answer},
        own=[("check-1-2", watches)],
    )
    grade = grade_example(server, tmp_path, example).grade
    flags = {flag.exercise: flag.detail for flag in grade.flags if flag.kind == "refused-call"}
    assert flags.keys() == {"1.1", None}
    assert all("Operation not permitted" in detail for detail in flags.values())
    verdict = next(one for one in grade.verdicts if one.id == "1.1")
    assert verdict.points == 0
    assert verdict.hint.startswith("The sandbox in which notebooks are graded does not allow this system call.")
