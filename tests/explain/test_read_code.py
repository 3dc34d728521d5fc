"""What is too long or too deep to be searched is left alone: the trusted process does not wait for what students write."""

import pytest

from grader.explain.code.clues import CLUES, clue
from grader.explain.code.read_code import MOST_STATEMENTS, searchable
from grader.explain.repairs.find_repair import repairs

HEAD = "def f(x, s):\n"
LONG = {
    "statements": HEAD + "".join(f"    a{i + 1} = a{i}\n" for i in range(MOST_STATEMENTS)) + "    return x\n",
    "characters": HEAD + "    return '" + "x" * 11_000 + "'\n",
    "terms": HEAD + "    return x" + " + 1" * 450 + "\n",
    "calls": HEAD + "    return x" + ".t()" * 200 + "\n",
    "digits": HEAD + "    return x + 0x" + "F" * 5_000 + "\n",
    "numbers": HEAD + "    return [" + "0," * 3_000 + "]\n",
}


@pytest.mark.parametrize("source", LONG.values(), ids=LONG)
def test_what_takes_long_is_not_searched(source: str) -> None:
    assert searchable(source) == ""


def test_what_a_student_writes_is_searched() -> None:
    wide = HEAD + "".join(f"    y = s.part{i} + x\n" for i in range(100)) + "    return y\n"
    for source in (HEAD + "    return x @ s\n", wide):
        assert searchable(source) == source
        assert repairs(source)
        for effect in CLUES:
            clue(effect, source)


@pytest.mark.parametrize("source", ["", "def f(:"])
def test_what_is_no_code_is_not_searched(source: str) -> None:
    assert searchable(source) == ""
