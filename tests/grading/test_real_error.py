"""Broken cells, from file to page: the student reads what Python said, and on which line of the cell.

Each case is graded in a real sandbox; several stand in one notebook, and do not disturb each other.
"""

from __future__ import annotations

import html
import io
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from examples.make import ROOT, Example, content
from grader.classes.gradebook.writer import open_gradebook
from grader.course import lessons
from grader.grading import grade as grading
from grader.grading.grade import grade, master_notebook
from grader.grading.graded import Graded
from grader.records import Grade, GradebookEntry, GradingSettings, Outcome, Verdict
from grader.report.jsonl import to_record
from grader.report.page import feedback_page
from grader.report.terminal import details
from grader.sandbox.server import Server
from grader.submission.cells import answer_cell, check_cell
from grader.submission.file import SubmissionFile
from tests.classes.gradebook.warm_server import shared_server

ASSIGNMENT = "1-attention"
LESSON = lessons()[ASSIGNMENT]
FUNCTIONS, CLASSES = ("1.1", "1.2", "1.3", "1.4", "1.6", "1.9"), ("1.7", "1.8")
GONE = "another name"  # the error of a cell that runs and defines something else


@dataclass(frozen=True)
class Broken:
    """A broken answer: NAME stands for the name that the exercise asks for; the line with ◀ is the one to name."""

    about: str
    error: str
    marked: str
    of_class: bool = False

    def source(self, name: str) -> str:
        return self.marked.replace("NAME", name).replace("  ◀", "").replace("◀", "")

    def line(self, name: str) -> tuple[int, str]:
        """The number of the line to name, with the marker line of the exercise above it, and its text."""
        lines = self.marked.replace("NAME", name).split("\n")
        number = next(number for number, line in enumerate(lines) if "◀" in line)
        return number + 2, lines[number].replace("◀", "").strip()


INIT = """class NAME(nn.Module):
    def __init__(self, *sizes, **named):
        super().__init__()
        first, *_, last = sizes = [*sizes, *named.values()]
        self.W_Q = nn.Linear(first, last, bias=False)
        self.W_K, self.W_V = (nn.Linear(sizes[-2], last, bias=False) for _ in range(2))
"""

BROKEN = [
    # Python cannot read the cell.
    Broken("missing bracket", "SyntaxError", "def NAME(a, b, c=None):  \n    x = (a  ◀\n    return x"),
    Broken("bad indent", "IndentationError", "def NAME(*a):\n    x = 1\n      y = 2  ◀\n    return y"),
    Broken("no body", "IndentationError", "def NAME(*a):\nreturn a  ◀"),
    Broken("unterminated string", "SyntaxError", "def NAME(*a):\n    return 'a  ◀"),
    Broken("tabs and spaces", "TabError", "def NAME(*a):\n    if a:\n\treturn 1  ◀"),
    Broken("return outside", "SyntaxError", "return 3  ◀\ndef NAME(*a): pass"),
    Broken("brackets without end", "SyntaxError", "x = 1\ny = " + "(" * 300 + "  ◀\ndef NAME(*a): pass"),
    Broken("deep nesting", "MemoryError", "x = 1\ny = " + "-" * 99_999 + "1  ◀\ndef NAME(*a): pass"),
    # The cell stops before its end.
    Broken("bad import", "ModuleNotFoundError", "import numppy  ◀\ndef NAME(*a): pass"),
    Broken("missing name", "ImportError", "from torch import tensr  ◀\ndef NAME(*a): pass"),
    Broken("at definition", "ZeroDivisionError", "scale = 1 / 0  ◀\ndef NAME(*a): pass"),
    Broken("decorator", "ValueError", "def wrap(f):\n    raise ValueError('no')  ◀\n@wrap\ndef NAME(*a): pass"),
    Broken("class body", "KeyError", "class NAME(nn.Module):\n    x = {}['a']  ◀", of_class=True),
    Broken("default", "AttributeError", "def NAME(a, b=torch.nothing): pass  ◀"),
    Broken("exit", "SystemExit", "raise SystemExit('enough')  ◀\ndef NAME(*a): pass"),
    Broken("interrupt", "KeyboardInterrupt", "raise KeyboardInterrupt  ◀\ndef NAME(*a): pass"),
    Broken("own class", "MyError", "class MyError(Exception): pass\nraise MyError('mine')  ◀\ndef NAME(*a): pass"),
    Broken("magics above", "ZeroDivisionError", "!true\n%time x = 1\n1 / 0  ◀\ndef NAME(*a): pass"),
    # The cell runs, and defines something else.
    Broken("wrong name", GONE, "def NAMES(*a): pass  ◀"),
    Broken("wrong class name", GONE, "class NAMEE(nn.Module): pass  ◀", of_class=True),
    # A call raises.
    Broken("shapes", "RuntimeError", "def NAME(a, *more, **m):\n    return a.view(7, 7)  ◀"),
    Broken("index", "IndexError", "def NAME(*a, **m):\n    return a[9]  ◀"),
    Broken("key", "KeyError", "def NAME(*a, **m):\n    return {}['q']  ◀"),
    Broken("argument", "TypeError", "def add(a, b): return a\ndef NAME(*a, **m):\n    return add(1)  ◀"),
    Broken("signature", "TypeError", "x = 1\ndef NAME(): return 1  ◀"),
    Broken("attribute", "AttributeError", "def NAME(a, *more, **m):\n    return a.transposed()  ◀"),
    Broken("division", "ZeroDivisionError", "def NAME(*a, **m):\n    x = 1\n    return x / 0  ◀"),
    Broken("value", "ValueError", "def NAME(*a, **m):\n    raise ValueError('no') from KeyError(1)  ◀"),
    Broken("assertion", "AssertionError", "def NAME(*a, **m):\n    assert not a and not m  ◀"),
    Broken("unbound", "UnboundLocalError", "def NAME(*a, **m):\n    x = x + 1  ◀\n    return x"),
    Broken("typo", "NameError", "def NAME(*a, **m):\n    scores = 1\n    return socres  ◀"),
    Broken("helper", "RuntimeError", "def mine(a):\n    return a.view(7, 7)  ◀\ndef NAME(a, *b, **m): return mine(a)"),
    Broken("lambda", "ZeroDivisionError", "NAME = (lambda *a, **m:\n    1 / 0)  ◀"),
    Broken("recursion", "RecursionError", "def NAME(*a, **m):\n    return NAME(*a, **m)  ◀"),
    Broken("lines", "ValueError", "def NAME(*a, **m):\n    raise ValueError('one\\ntwo')  ◀"),
    Broken("empty", "ValueError", "def NAME(*a, **m):\n    raise ValueError  ◀"),
    Broken("markup", "ValueError", "def NAME(*a, **m):\n    raise ValueError('<b>\\x1b[2J\\u202e\\x00')  ◀"),
    Broken("exit in a call", "SystemExit", "def NAME(*a, **m):\n    raise SystemExit  ◀"),
    Broken("in __init__", "ValueError", INIT + "        raise ValueError('no')  ◀", of_class=True),
    Broken("forward", "RuntimeError",
           INIT + "    def forward(self, x, *a, **m):\n        return x.view(7, 7)  ◀", of_class=True),
    Broken("property", "ZeroDivisionError",
           INIT + "        self.half\n    @property\n    def half(self):\n        return 1 / 0  ◀", of_class=True),
    Broken("torch below", "RuntimeError", "def NAME(a, *b, **m):\n    return nn.Linear(3, 3, dtype=torch.float64)(a.double())[0] @ 1  ◀"),
]  # fmt: skip


def notebooks() -> list[dict[str, Broken]]:
    """Spread the cases over notebooks: exercise → case."""
    books: list[dict[str, Broken]] = []
    for broken in BROKEN:
        free = CLASSES if broken.of_class else FUNCTIONS
        for book in books:
            if left := [id for id in free if id not in book]:
                book[left[0]] = broken
                break
        else:
            books.append({free[0]: broken})
    return books


@pytest.fixture(scope="module")
def server():
    with shared_server() as started:
        yield started


def grade_answers(
    server: Server, folder: Path, answers: dict[str, str], *own: tuple[str, str], student: str = "s"
) -> Graded:
    """Grade lesson 1's solution with some answers replaced, and with some cells of the student's own."""
    example = Example(student="s", assignment=ASSIGNMENT, score=None, about="", answers=answers, own=list(own))
    (folder / "s.ipynb").write_bytes(content(example))
    file = SubmissionFile(student, ASSIGNMENT, folder, ("s.ipynb",))
    settings = GradingSettings(secret="test", device="cpu", tier=server.isolation)
    return grade(file, server=server, settings=settings, released=master_notebook(ROOT, ASSIGNMENT))


@pytest.fixture(scope="module")
def graded(server, tmp_path_factory) -> dict[str, tuple[Graded, str]]:
    """By case: the graded notebook in which it stands, and the exercise that it answers."""
    patch = pytest.MonkeyPatch()
    # The other exercises are broken, too: stand-ins for them would only run the notebook again.
    patch.setattr(grading._Grading, "_judge_again", lambda *_: {})
    found = {}
    for number, book in enumerate(notebooks()):
        answers = {id: broken.source(LESSON.exercise(id).name) for id, broken in book.items()}
        result = grade_answers(server, tmp_path_factory.mktemp("broken"), answers, student=f"s{number}")
        assert result.grade.status == "graded", result.grade.message
        found |= {broken.about: (result, id) for id, broken in book.items()}
    patch.undo()
    return found


def section(page: str, id: str) -> str:
    """Return what a feedback page shows of one exercise, as text; the lines of an excerpt stay lines."""
    return html.unescape(next(part for part in page.split("<section") if f"<h2>{id} " in part))


def checked(graded: Grade) -> str:
    """Return what `grader check` prints, on one line."""
    console = Console(file=io.StringIO(), width=80)
    console.print(details(graded))
    return " ".join(console.file.getvalue().split())


def about(graded: Grade, id: str) -> str:
    """Return what `grader check` prints of one exercise, on one line."""
    return checked(Grade(**{**vars(graded), "verdicts": (verdict_of(graded, id),), "flags": ()}))


def verdict_of(graded: Grade, id: str) -> Verdict:
    return next(verdict for verdict in graded.verdicts if verdict.id == id)


@pytest.fixture(scope="module")
def comments(graded, tmp_path_factory) -> dict[str, dict[str, str]]:
    """By student: the comments that formgrader shows, by cell."""
    url = f"sqlite:///{tmp_path_factory.mktemp('book')}/gradebook.db"
    grades = {result.grade.student: result.grade for result, _ in graded.values()}
    with open_gradebook(url, {ASSIGNMENT: LESSON}) as gradebook:
        for result in grades.values():
            gradebook.record(result)
    with Gradebook(url) as book:
        found = {name: book.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, name) for name in grades}
        return {name: {row.name: row.comment or "" for row in one.comments} for name, one in found.items()}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.about)
def test_page_check_comment_and_json_name_the_exception_and_the_line(broken: Broken, graded, comments) -> None:
    result, id = graded[broken.about]
    name = LESSON.exercise(id).name
    number, line = broken.line(name)
    verdict = verdict_of(result.grade, id)
    comment = comments[result.grade.student][answer_cell(id)]
    notebook = next(cell for cell in result.notebook.cells if cell.id == check_cell(id)).outputs[0].text
    record = json.dumps(to_record(result.grade)["exercises"][result.grade.verdicts.index(verdict)])
    shown = {
        "page": " ".join(section(feedback_page(GradebookEntry.of(result.grade)), id).split()),
        "check": about(result.grade, id),
        "comment": comment,
        "notebook": notebook,
        "JSON": " ".join(json.loads(record)[key] for key in ("message", "excerpt")),
    }
    for place, text in shown.items():
        assert "not solved" not in text, (place, text)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", text), (place, text)
        assert not re.search("site-packages|ipython-input|<cell>|<check>", text), (place, text)
        if broken.error == GONE:
            wrong = re.search(r"(?:def|class) (\w+)", line)[1]
            assert f"the cell runs, but defines no {name}; it defines {wrong}".removeprefix("the ") in text
            continue
        assert f"line {number}" in text, (place, text)
        assert broken.error in text, (place, text)
        assert " ".join(line.split())[:60] in text, (place, text)
    assert f"→ {number} │ " in verdict.excerpt
    assert "('<b>" not in feedback_page(GradebookEntry.of(result.grade))


def test_points_are_lost_for_the_broken_cells_alone(graded) -> None:
    for case, (result, id) in graded.items():
        verdict = verdict_of(result.grade, id)
        assert (verdict.outcome, verdict.points) == (Outcome.FAILED, 0), case
        assert verdict_of(result.grade, "1.5").outcome is Outcome.PASSED, case


def test_the_caret_of_a_syntax_error_stands_below_its_character(graded) -> None:
    result, id = graded["missing bracket"]
    rows = verdict_of(result.grade, id).excerpt.split("\n")
    marked = next(index for index, row in enumerate(rows) if row.startswith("→"))
    assert rows[marked][rows[marked + 1].index("^")] == "("
    page = feedback_page(GradebookEntry.of(result.grade))
    assert re.search(rf'<pre class="excerpt"[^>]*>{re.escape(html.escape(rows[0]))}\n', page)


def test_shapes_of_the_tensors_on_the_line_are_shown(graded) -> None:
    for case in ("shapes", "helper"):
        result, id = graded[case]
        message = verdict_of(result.grade, id).message
        assert re.search(r"`return a.view\(7, 7\)`: RuntimeError: .*\(a: \d+( × \d+)+\)$", message), message
    assert " × " in verdict_of(graded["forward"][0].grade, graded["forward"][1]).message


def test_an_exercise_that_fails_because_another_cell_failed_names_that_cell(server, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(grading._Grading, "_judge_again", lambda *_: {})
    answers = {
        "1.1": "def attention_scores(query, key):\n    return helped(query) @ key",
        "1.2": "import numppy\ndef scaled_scores(query, key):\n    return query",
        "1.3": "def stable_softmax(scores, dim=-1):\n    return aid(scores)",
    }
    own = ("bottleneck", "def helped(query):\n    return query.view(7, 7)")
    late = ("softmax-facts", "1 / 0\ndef aid(scores):\n    return scores")
    found = grade_answers(server, tmp_path, answers, own, late).grade
    said = {verdict.id: verdict.message for verdict in found.verdicts}
    assert said["1.2"] == (
        "your cell stopped at line 2: `import numppy`: ModuleNotFoundError: No module named 'numppy'"
    )
    # The helper stands in a cell of the student's own.
    assert "in your own cell, line 2: `return query.view(7, 7)`: RuntimeError" in said["1.1"]
    assert "NameError: name 'aid' is not defined: your own cell that defines it stopped at line 1" in said["1.3"]
    cascade = (
        "line 11: `weights = torch.softmax(scaled_scores(query, key), dim=-1)`: NameError: name 'scaled_scores' is"
    )
    assert cascade in said["1.4"]
    assert "its cell, exercise 1.2, stopped at line 2 (ModuleNotFoundError: No module" in said["1.4"]


def test_a_cell_that_stops_below_its_answer_is_told_so_in_a_note(server, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(grading._Grading, "_judge_again", lambda *_: {})
    right = "def attention_scores(query, key):\n    return query @ key.transpose(-2, -1)\nreturn 3"
    wrong = "def scaled_scores(query, key):\n    pass\n1 / 0"
    found = grade_answers(server, tmp_path, {"1.1": right, "1.2": wrong}).grade
    assert (verdict_of(found, "1.1").outcome, verdict_of(found, "1.1").notes) == (Outcome.PASSED, ())
    note = "Your cell stopped at line 4: `1 / 0`: ZeroDivisionError: division by zero"
    assert verdict_of(found, "1.2").notes == (note,)


def test_a_loop_in_a_cell_is_a_time_out_and_the_untouched_stub_is_not_solved(server, tmp_path, monkeypatch) -> None:
    limits = replace(LESSON.limits, cell_seconds=1.0)
    monkeypatch.setattr(grading, "lessons", lambda: {ASSIGNMENT: replace(LESSON, limits=limits)})
    monkeypatch.setattr(grading._Grading, "_judge_again", lambda *_: {})
    stub = "def stable_softmax(scores, dim=-1):\n    raise NotImplementedError('TODO 1.3')"
    answers = {"1.2": "while True: pass\ndef scaled_scores(query, key): pass", "1.3": stub}
    found = grade_answers(server, tmp_path, answers).grade
    slow, unsolved = verdict_of(found, "1.2"), verdict_of(found, "1.3")
    assert slow.message == "your cell did not run to its end: it took more than 1 s and was stopped"
    assert slow.outcome is Outcome.TIMEOUT
    assert (unsolved.message, unsolved.outcome, unsolved.excerpt) == ("not solved yet", Outcome.MISSING, "")
