"""Lines of a student's source, with a mark and a caret."""

from grader.judge.raised import excerpt, line_of


def test_a_line_with_its_neighbours_and_a_caret() -> None:
    source = "one\ntwo\ndef f(x, (y):\n    return x\nfive"
    assert excerpt(source, 3, 10) == ("  1 │ one\n  2 │ two\n→ 3 │ def f(x, (y):\n    │          ^\n  4 │     return x")


def test_numbers_of_two_digits_keep_the_lines_in_one_column() -> None:
    source = "\n".join(map(str, range(1, 13)))
    assert excerpt(source, 9).split("\n") == ["   7 │ 7", "   8 │ 8", "→  9 │ 9", "  10 │ 10"]


def test_blank_lines_at_the_edges_are_left_out() -> None:
    assert excerpt("one\n\nthree\n  \n", 3) == "  1 │ one\n  2 │\n→ 3 │ three"
    assert excerpt("\n\nthree", 3) == "→ 3 │ three"


def test_tabs_are_visible_and_the_caret_stands_behind_them() -> None:
    rows = excerpt("\tx = (", 1, 6).split("\n")
    assert rows[0] == "→ 1 │ ⇥   x = ("
    assert rows[0][rows[1].index("^")] == "("


def test_a_long_line_is_cut_around_the_caret() -> None:
    source = f"x = {'a + ' * 500}(b{' + c' * 500}"
    rows = excerpt(source, 1, source.index("(") + 1).split("\n")
    assert rows[0][rows[1].index("^")] == "("
    assert len(rows[0]) <= 80
    assert rows[0].count("…") == 2
    assert len(excerpt("y" * 10**6, 1)) <= 170


def test_a_column_beyond_the_line_is_its_end() -> None:
    assert excerpt("x = (", 1, 10**6).split("\n")[1] == "    │      ^"


def test_control_characters_are_removed() -> None:
    assert excerpt("x = '\x1b[2J\u202e\x00'", 1) == "→ 1 │ x = '[2J'"


def test_a_line_that_does_not_exist_is_none() -> None:
    assert [line_of("a\r\nb\rc\n", line) for line in (0, 1, 2, 3, 4, 5, -1)] == [None, "a", "b", "c", "", None, None]
    assert line_of("", 1) is None
