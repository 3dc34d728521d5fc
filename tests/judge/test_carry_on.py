"""The code of a cell "Stuck? Carry on" is known again, and no answer that somebody wrote is taken for it."""

from __future__ import annotations

import re
from textwrap import indent

import pytest

from corpus.answers import answers, variants
from corpus.judging import solutions
from grader.course import lessons
from grader.judge.built_ins import LEAST_STATEMENTS, is_carry_on, shapes_of_source
from grader.judge.reach import StudentCode
from grader.submission.cells import carry_on_source
from tests.scripts import cells_of

CARRY_ON = {
    (assignment, cell.metadata["stuck"]): cell.source
    for assignment in lessons()
    for cell in cells_of(assignment)
    if "stuck" in cell.metadata
}
LONG = {key: source for key, source in CARRY_ON.items() if shapes_of_source(source).total() >= LEAST_STATEMENTS}
HEADS = """
def split(tokens, count):
    parts = tokens.chunk(count, dim=-1)
    return torch.stack(parts, dim=-3)
"""


def test_enough_of_them_are_too_long_for_chance() -> None:
    assert len(LONG) >= 9
    assert ("2-heads", "2.6") in LONG
    assert ("2-heads", "2.4") not in LONG


@pytest.mark.parametrize("source", LONG.values(), ids=[id for _, id in LONG])
def test_a_carry_on_cell_is_known_again_however_it_was_pasted(source: str) -> None:
    cell = carry_on_source(source)
    name = re.search(r"(?:def|class) (\w+)", source)[1]
    inside = indent(source, "    ")
    pasted = [
        source,
        f"if True:\n{inside}",
        cell.replace("carry_on = False", "carry_on = True"),
        f"idle = 1\n{source}\nprint('done')",
        f"try:\n{inside}\nfinally:\n    pass",
        f"if False:\n    pass\nelse:\n{inside}",
    ]
    for answer in pasted:
        assert is_carry_on(StudentCode(answer), (name,), cell)
    assert is_carry_on(StudentCode(f"answer = {name}", [source]), ("answer",), cell)
    assert not is_carry_on(StudentCode("answer = 7", [source]), ("answer",), cell), (
        "a cell to compare with is no answer"
    )
    local = f"def answer(x):\n    {name} = x\n    return {name}"
    assert not is_carry_on(StudentCode(local, [source]), ("answer",), cell), "a local name is not the cell's"


@pytest.mark.parametrize(
    "change",
    [
        lambda code: code.replace("parts", "some").replace("count", "n"),
        lambda code: code.replace("    return", "    idle = 7\n    print(idle)\n    return"),
        lambda code: code.replace("(tokens, count)", "(tokens: Tensor, count: int) -> Tensor"),
        lambda code: code.replace("    parts", '    """Split."""\n    # into parts\n    parts'),
        lambda code: code.replace(
            "return torch.stack(parts, dim=-3)", "answer = torch.stack(parts, dim=-3)\n    return answer"
        ),
    ],
)
def test_other_names_idle_lines_and_comments_change_nothing(change) -> None:
    assert change(HEADS) != HEADS
    assert is_carry_on(StudentCode(change(HEADS)), ("split",), HEADS)


@pytest.mark.parametrize(
    "answer",
    [
        HEADS.replace("dim=-3", "dim=-2"),
        HEADS.replace("torch.stack", "torch.cat"),
        HEADS.replace("tokens.chunk", "tokens.split"),
        "def split(tokens, count):\n    return torch.stack(tokens.chunk(count, dim=-1), dim=-3)",
        "",
        "def split(tokens, count):\n    parts = 0x" + "F" * 5000 + "\n    return parts",
        "def split(:",
    ],
)
def test_another_computation_is_another_answer(answer: str) -> None:
    assert not is_carry_on(StudentCode(answer), ("split",), HEADS)


def test_no_answer_that_somebody_wrote_is_taken_for_one() -> None:
    """The solutions, the variants and 800 answers that were written without sight of the carry-on cells' purpose."""
    taken = []
    for (assignment, id), source in LONG.items():
        written = [solutions(assignment)[id], *(one.source for one in variants(assignment) if one.exercise == id)]
        written += [one.source for one in answers() if one.exercise == id]
        names = lessons()[assignment].exercise(id).defines
        cell = carry_on_source(source)
        taken += [(id, text) for text in written if is_carry_on(StudentCode(text), names, cell)]
    assert not taken
