"""The terminal: readable without colour, whatever a submission is called."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from grader.records import CellScore
from grader.report import terminal
from grader.report.terminal import details, progress, table
from tests.report.class_of_grades import (
    ATTACKER,
    CLASS,
    FAULT,
    FULL,
    MISTAKEN,
    PARTLY,
    STOPPED,
    UNTOUCHED,
    entries,
    grade,
)


def shown(renderable, width: int = 120, **options) -> str:
    console = Console(file=io.StringIO(), width=width, **options)
    console.print(renderable)
    return console.file.getvalue()


def line(text: str, start: str) -> str:
    return next(one for one in text.splitlines() if one.startswith(start))


def test_each_student_has_score_marks_and_notes():
    text = shown(table(entries(CLASS)))
    assert line(text, "s0001").split() == ["s0001", "100", "/", "100", *"✓✓✓✓✓✓✓✓✓"]
    assert line(text, "josé").split()[:13] == ["josé", "64", "/", "100", *"✓✓✓✓◐…✓✗◐"]
    assert line(text, "s0002").split() == ["s0002", "0", "/", "100", *"·········"]
    assert "1.4 unscaled" in line(text, "s0417")
    assert "1.5 padding_mask is not defined" in line(text, "josé")  # nothing explains it, so what was seen stands there
    assert "[uses-builtin]" in text
    assert line(text, "s0008").split()[:2] == ["s0008", "–"]
    assert "fault: the sandbox did not start" in line(text, "s0008")


def test_a_note_on_a_cell_that_does_not_parse_ends_with_what_python_says():
    text = " ".join(shown(table(entries([grade("s", (STOPPED,))])), width=200).split())
    assert "1.4 your cell does not parse at line 2: SyntaxError: '(' was never closed" in text


def test_the_mark_of_an_exercise_is_that_of_the_points_which_count():
    (entry,) = entries([MISTAKEN])
    cells = {"1.4": CellScore(points=3.0, max_points=15.0, by_hand=True)}
    text = shown(table([replace(entry, cells=cells)]))
    assert line(text, "s0417").split()[4:13] == [*"✓✓✓◐✓✓✓✓✓"]
    assert "◐\N{NO-BREAK SPACE}part" in text


def test_the_head_names_the_exercises_above_their_marks():
    text = shown(table(entries(CLASS)))
    head, row = line(text, "student"), line(text, "josé")
    assert row[head.index(" 5 ") + 1] == "◐"
    assert row[head.index(" 6 ") + 1] == "…"


def test_numbers_of_two_digits_leave_room_for_the_notes():
    assert terminal._head(["4.9", "4.10", "4.21", "3.P1"]).plain == "  1 2 P\n9 0 1 1"
    assert terminal._head(["1.1", "1.2"]).plain == "1 2"


def test_a_line_sums_up():
    # scores of the five graded: 100, 85, 0, 64, 0
    assert "7 submissions: 5 graded, 1 unreadable, 1 fault; mean 49.8, median 64 of 100 (over the graded)" in shown(
        table(entries(CLASS))
    )


def test_the_legend_explains_the_symbols_that_are_used():
    assert line(shown(table(entries([FULL]))), "✓").split() == ["✓", "full", "points"]
    assert "✗\N{NO-BREAK SPACE}no\N{NO-BREAK SPACE}points" in shown(table(entries([MISTAKEN])))


def test_without_a_terminal_there_are_no_escape_codes_and_with_one_there_are():
    assert "\x1b" not in shown(table(entries(CLASS)))
    assert "\x1b[32m" in shown(table(entries(CLASS)), force_terminal=True, color_system="standard")


def test_a_hostile_student_writes_no_markup_and_no_control_characters():
    for text in (shown(table(entries([ATTACKER]))), shown(details(ATTACKER))):
        assert "\x1b" not in text
        assert "\u202e" not in text
        text.encode("utf-8")
    assert "[bold]" in shown(details(ATTACKER))


def test_an_empty_class():
    assert shown(table(entries([]))).strip() == ""


def test_a_narrow_terminal_keeps_the_marks_whole():
    assert "✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓ ✓" in shown(table(entries(CLASS)), width=60)


def test_details_say_what_came_back_and_what_to_do():
    text = shown(details(MISTAKEN))
    assert "✗ 1.4 Attention  0 of 15" in text
    assert "weights: off by 0.49, allowed 1e-05" in text
    assert "Divide the scores by √d_k." in text
    assert "isolation full, cpu, 1.2 s" in text
    assert shown(details(UNTOUCHED)).count("not solved yet") == 9
    assert "note: two cells define SelfAttention; the last one counted" in shown(details(PARTLY))
    assert "flag: uses-builtin in 1.4: F.scaled_dot_product_attention" in shown(details(PARTLY))
    assert "not graded" in shown(details(FAULT))


def test_wrapped_lines_stay_below_their_exercise_and_a_note_on_several_is_said_once():
    first, *others = MISTAKEN.verdicts
    noted = [replace(one, notes=("Judged with a stand-in for 1.0.",)) for one in others]
    text = shown(details(replace(MISTAKEN, verdicts=(first, *noted))), width=40)
    of_exercises, _, last = text.partition("note on ")
    assert all(row.startswith(("    ", *"✓✗")) for row in of_exercises.splitlines()[1:]), text
    assert "Judged with" in last
    assert text.count("Judged with") == 1
    ids = ", ".join(one.id for one in noted)
    assert f"note on {ids}: Judged with a stand-in for 1.0." in " ".join(text.split())


def test_progress_elsewhere_than_on_a_terminal_is_plain_lines(monkeypatch):
    now = iter([0.0, 1.0, 20.0, 21.0, 40.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(now))
    console = Console(file=io.StringIO(), width=80)
    with progress(4, console) as advance:
        for grade in CLASS[:4]:
            advance(grade)
    assert console.file.getvalue().splitlines() == [
        "graded 2 of 4, 0.10/s, 0:20 left",
        "graded 4 of 4, 0.10/s, in 0:40",
    ]


def test_progress_on_a_terminal_is_a_bar_with_count_and_name():
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    with progress(2, console) as advance:
        advance(FULL)
        advance(ATTACKER)
    drawn = console.file.getvalue()
    assert "2/2" in drawn
    assert "s0001" in drawn or "s-</script>" in drawn


def test_progress_of_nothing():
    console = Console(file=io.StringIO())
    with progress(0, console):
        pass
    assert console.file.getvalue() == ""


def test_long_times_are_in_hours():
    assert [terminal._duration(seconds) for seconds in (7, 67, 3667)] == ["0:07", "1:07", "1:01:07"]


def test_an_exercise_whose_cell_stopped_has_one_message_and_the_lines_around_it():
    stopped = grade("s0009", (STOPPED,))
    for width in (40, 120):
        text = shown(details(stopped), width=width)
        assert " ".join(text.split()).count("SyntaxError: '(' was never closed") == 1
        rows = text.split("\n")
        marked = next(index for index, row in enumerate(rows) if row.startswith("    → 2 │"))
        assert rows[marked][rows[marked + 1].index("^")] == "("
        assert rows[marked - 1] == "      1 │ # @exercise 1.4"
