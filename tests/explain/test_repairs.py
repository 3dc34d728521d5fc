"""Small changes of a wrong answer find the line of its mistake."""

import ast
import signal
import threading
from types import SimpleNamespace

import pytest

from grader.explain.repairs import run_repaired as run_repaired_module
from grader.explain.repairs.find_repair import MAX_SOURCE, MOST, find_repair, repairs
from grader.explain.repairs.run_repaired import RAISED, namespace_of, probe_repaired, run_repaired

COUNTS = SimpleNamespace(sum=lambda axis=None: {None: 6, -1: 4}[axis])


def half_less(number):
    return number - 0.5


WRONG_AND_RIGHT = [
    # wrong, words of the place, a call that tells right from wrong, its right value
    ("def f(a, b):\n    return a // b", "the operation in `a // b`", (7.0, 2.0), 3.5),
    ("def f(a, b):\n    return a ** 1/2 + b", "brackets are missing", (9.0, 1.0), 4.0),
    ("def f(a, b):\n    a = a + 1\n    return a * b", "if you leave out this line", (3.0, 5.0), 15.0),
    ("def f(a, b):\n    return abs(a - b) + 0.01", "leave out `+ 0.01` after `abs(a - b)`", (3.0, 5.0), 2.0),
    ("def f(a, b):\n    return round(a) / b", "leave out `round` around `a`", (3.3, 2.0), 1.65),
    ("def f(a, b):\n    return b - a", "the order of the two sides in `b - a`", (3.0, 5.0), -2.0),
    ("def f(a, b):\n    return a < b", "the comparison in `a < b`", (3.0, 3.0), True),
    ("def f(a, b):\n    return a > 1 or b > 1", "`and` or `or`", (3.0, 0.0), False),
    ("def f(a, b):\n    if a > b:\n        return 0.0\n    return a + b", "leave out this", (3.0, 2.0), 5.0),
    ("def f(a, b):\n    return (b, a)", "the order in `(b, a)`", (3.0, 2.0), (3.0, 2.0)),
    ("def f(a, b):\n    return max(a, a)", "`a` is used where another argument", (3.0, 4.0), 4.0),
    ("def f(a, b):\n    return a + b ** -5", "the exponent of `b ** -5`", (1.0, 4.0), 1.5),
    ("def f(a, b):\n    return a / b", "a root is missing: check `b`", (6.0, 4.0), 3.0),
    ("def f(a, b):\n    return a == 4", "check the `4`", (3.0, 4.0), True),
    ("def f(a, b):\n    return sorted([a, b], reverse=True)", "the argument `reverse` of `sorted`", (3.0, 4.0), [3.0, 4.0]),
    ("def f(a, b):\n    return abs(a * b)", "`abs` applies to too much here: it should apply to only one factor", (-3.0, -2.0), -6.0),
    ("def f(a, b):\n    return abs(a + b)", "`abs` applies to too much here: it should apply to only one part", (-3.0, 1.0), 4.0),
    ("def f(a, b):\n    return abs(a) + b", "`abs` applies to too little here: check `abs(a) + b`", (-3.0, 1.0), 2.0),
    ("def f(a, b):\n    return abs(b(a))", "check the order of `abs` and `b`", (-3.0, half_less), 2.5),
    ("def f(a, b):\n    return a.sum()", "`a.sum()` works on all axes at once", (COUNTS, 0), 4),
]  # fmt: skip


def value(source, arguments):
    scope: dict = {}
    exec(source, scope)
    return scope["f"](*arguments)


@pytest.mark.parametrize(("wrong", "words", "arguments", "right"), WRONG_AND_RIGHT)
def test_a_change_makes_the_answer_right_and_names_the_place(wrong, words, arguments, right):
    assert value(wrong, arguments) != right
    found = []
    for repair in repairs(wrong):
        try:
            if value(repair.source, arguments) == right:
                found.append(repair)
        except Exception:
            continue
    assert any(words in repair.says for repair in found), [repair.says for repair in found]
    for repair in found:
        line = wrong.splitlines()[repair.line - 1].strip()
        assert repair.says.startswith(f"Line {repair.line}, `{line}`: ")


def test_a_change_is_never_shown():
    for repair in repairs("def f(a, b):\n    return (a // b) ** 1/2"):
        quoted = repair.what.split("`")[1::2]
        assert all(part in "return (a // b) ** 1/2" or part in ("and", "or") for part in quoted), repair.says


def test_only_definitions_are_tried():
    source = "import math\nprint('hello')\nfor n in range(3):\n    print(n)\ndef f(a):\n    return -a\nf(3)"
    for repair in repairs(source):
        assert [type(node) for node in ast.parse(repair.source).body] == [ast.Import, ast.FunctionDef]


@pytest.mark.parametrize("source", ["def f(:", "x" * (MAX_SOURCE + 1), "", "\0", "(" * 5000])
def test_what_cannot_be_read_has_no_changes(source):
    assert repairs(source) == []


def test_there_are_never_too_many():
    body = "\n".join(f"    x{n} = a + b * {n} - a / b" for n in range(150))
    assert len(repairs(f"def f(a, b):\n{body}\n    return x1")) == MOST  # and it takes a second, not minutes


def probe(f, a, b):
    return {"y": f(a, b)}


def tried(source, *trials, **more):
    return run_repaired(probe, source, {}, {}, [{"a": a, "b": b} for a, b in trials], **more)


def test_a_changed_answer_is_run_on_every_trial():
    assert tried("def f(a, b):\n    return a / b", (6.0, 3.0), (1.0, 0.0), (1.0, 2.0)) == [
        {"y": 2.0},
        RAISED,
        {"y": 0.5},
    ]


@pytest.mark.parametrize(
    ("source", "gives"),
    [
        ("def f(a, b):\n    while True:\n        pass", None),
        ("raise ValueError", None),
        ("def g(a): pass", None),
        ("def f(a, b):\n    return a / 0", RAISED),
        ("def f(a, b):\n    return f", RAISED),
    ],
)
def test_a_changed_answer_that_hangs_or_raises_gives_no_value(source, gives):
    assert tried(source, (1.0, 2.0)) == [gives]


HANGS = "def f(a, b):\n    held = []\n    while a:\n        held.append(a)\n    return a / b"


@pytest.fixture
def stopped_once(monkeypatch):
    """Stop an answer that hangs, and leave the trials after it more time than a busy machine needs."""
    monkeypatch.setattr(run_repaired_module, "SECONDS_EACH", 0.1)
    monkeypatch.setattr(run_repaired_module, "AGAIN", 3.0)


def test_on_windows_a_changed_answer_that_hangs_is_stopped_too(monkeypatch, stopped_once):
    monkeypatch.delattr(signal, "setitimer")
    assert tried(HANGS, (1.0, 2.0), (0.0, 2.0)) == [None, {"y": 0.0}]


@pytest.mark.usefixtures("stopped_once")
def test_in_another_thread_changes_are_tried_and_stopped_too():
    told = []
    thread = threading.Thread(target=lambda: told.append(tried(HANGS, (1.0, 2.0), (0.0, 2.0))))
    thread.start()
    thread.join(60)
    assert told == [[None, {"y": 0.0}]]


def test_what_is_not_known_for_lack_of_time_is_not_held_against_a_change():
    def right(text, trial):
        return None if trial else "a / b" in text

    found, _ = search(SOURCE, right, ["values", "other"], [False, True], "values")
    assert found is not None
    assert found.what.endswith("With another operation in its place, your answer is right.")


def test_an_answer_that_hangs_on_every_trial_takes_hardly_longer_than_on_one():
    source = "def f(a, b):\n    while True:\n        try:\n            while True:\n                pass\n        except TimeoutError:\n            a += 1\n            if a > 3:\n                raise"
    assert tried(source, (1.0, 2.0), (2.0, 2.0), (3.0, 2.0)) == [None, None, None]


@pytest.fixture
def patient(monkeypatch):
    """Let the clock run as long as a busy machine needs, so that only CPU time ends an answer."""
    monkeypatch.setattr(run_repaired_module, "PATIENCE", 60)


@pytest.mark.usefixtures("patient")
def test_a_stop_that_python_drops_is_tried_again_and_says_nothing():
    # pytest makes an error of what Python reports as ignored, as in a notebook's cell.
    source = "class Slow:\n    def __del__(self):\n        while True:\n            pass\ndef f(a, b):\n    for _ in range(3):\n        Slow()\n    return a / b"
    assert tried(source, (6.0, 3.0)) == [{"y": 2.0}]


@pytest.mark.usefixtures("patient")
def test_waiting_for_a_processor_is_not_held_against_a_change():
    # A sleep stands for a busy machine: the clock runs, the CPU time does not.
    assert tried("import time\ndef f(a, b):\n    time.sleep(0.7)\n    return a / b", (6.0, 3.0)) == [{"y": 2.0}]


def test_changes_for_which_no_time_is_left_are_not_known(monkeypatch):
    monkeypatch.setattr(run_repaired_module, "PROBE", probe)
    sources, trials = ["def f(a, b):\n    return a", "def f(a, b):\n    return b"], {"1": {"a": 1.0, "b": 2.0}}
    assert probe_repaired(len, sources, {}, trials)["tried"] == [[{"y": 1.0}], [{"y": 2.0}]]
    monkeypatch.setattr(run_repaired_module, "SECONDS", 0.0)
    assert probe_repaired(len, sources, {}, trials)["tried"] == [[None], [None]]


def test_a_changed_answer_prints_nothing_and_leaves_inputs_and_names_alone(capsys):
    namespace = {"seen": 1}
    inputs = {"a": [1], "b": 2}
    source = "def f(a, b):\n    global seen\n    seen = 2\n    a.append(b)\n    print(a)\n    return a"
    assert run_repaired(probe, source, namespace, {}, [inputs]) == [{"y": [1, 2]}]
    assert (namespace, inputs, capsys.readouterr().out) == ({"seen": 1}, {"a": [1], "b": 2}, "")


def test_the_notebooks_names_are_found_through_what_it_defines():
    scope: dict = {"one": 1}
    exec("def f(): pass\nclass C:\n    x = 3\n    def m(self): pass", scope)
    assert namespace_of(scope["f"]) is scope
    assert namespace_of(scope["C"]) is scope
    assert namespace_of(len) == {}


def search(source, right, checks, passed, failed, *, telling=True):
    """Drive the search with a function that tells whether a changed answer passes a trial."""
    attempts: list[tuple[list[str], list[int]]] = []

    def try_(sources, trials):
        attempts.append((list(sources), list(trials)))
        return [[right(text, trial) for trial in trials] for text in sources]

    return find_repair(source, checks, passed, failed, try_, telling=telling), attempts


SOURCE = "def f(a, b):\n    a = a + 1\n    return a // b"


def test_a_change_must_pass_every_trial_of_the_check():
    def right(text, trial):
        return "a / b" in text if trial == 0 else "a = a + 1" not in text

    found, attempts = search(SOURCE, right, ["values", "values"], [False, False], "values")
    assert found is None
    assert [trials for _, trials in attempts] == [[0], [1]]


def test_where_little_was_seen_a_change_must_pass_every_trial_of_the_exercise():
    def right(text, trial):
        return "a / b" in text and trial != 2

    checks, passed = ["values", "values", "other"], [True, False, False]
    assert search(SOURCE, right, checks, passed, "values")[0] is not None
    assert search(SOURCE, right, checks, passed, "values", telling=False)[0] is None


def test_of_several_changes_the_one_wins_that_passes_more_elsewhere():
    def right(text, trial):
        return trial == 0 or "a / b" in text

    found, _ = search(SOURCE, right, ["values", "other"], [False, True], "values")
    assert found is not None
    assert (found.line, "//" in found.what) == (3, True)


def test_a_change_that_spoils_what_was_right_is_none():
    def right(text, trial):
        return "a / b" in text and trial == 0

    checks = ["values", "other"]
    assert search(SOURCE, right, checks, [False, True], "values")[0] is None
    assert search(SOURCE, right, checks, [False, False], "values")[0] is not None


def test_where_another_check_fails_all_the_same_less_is_claimed():
    source = "def f(a, b):\n    return a // b + 0.1"
    whole, _ = search(source, lambda text, trial: "a / b" in text, ["values", "other"], [False, False], "values")
    part, _ = search(
        source, lambda text, trial: "a / b" in text and not trial, ["values", "other"], [False, False], "values"
    )
    assert whole.what == "check the operation in `a // b`. With another operation in its place, your answer is right."
    assert (
        part.what
        == "check the operation in `a // b`. With another operation in its place, this check passes. Another check still fails."
    )
    part, _ = search(
        source, lambda text, trial: "0.1" not in text and not trial, ["values", "other"], [False, False], "values"
    )
    assert part.what == "if you leave out `+ 0.1` after `a // b`, this check passes. Another check still fails."


def test_the_names_in_a_condition_stay():
    source = "def f(a, b):\n    if a is not None and a.any():\n        return a\n    return b"
    assert not any("where another" in one.what for one in repairs(source) if one.line == 2)
    source = "def f(a, b):\n    c = a + b\n    if c is not None and a.any():\n        return c\n    return b"
    assert not any("where another" in one.what for one in repairs(source) if one.line == 3)
    assert any("another variable" in one.what for one in repairs(source) if one.line == 4)
