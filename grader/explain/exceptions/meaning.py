"""Say what an exception means for the line of the student's code that raised it."""

import re
from collections.abc import Callable, Mapping
from functools import partial

from grader.explain.code.clues import Clue, clue
from grader.explain.code.read_code import Effect, Raising, Shape, number_of, statement_at, tree_of
from grader.explain.exceptions.calls import CALL_RULES, own_refusal, too_many_to_unpack
from grader.explain.exceptions.names import NAME_RULES
from grader.explain.exceptions.shapes import SHAPE_RULES
from grader.explain.exceptions.torch_errors import TORCH_RULES
from grader.explain.exceptions.values import FINDING_RULES, VALUE_RULES

# What is true of a line in another exercise is only about what this exercise handed to it.
ELSEWHERE = "What you hand on does not fit there: "

EXCEPTION_RULES = (*FINDING_RULES, *NAME_RULES, *CALL_RULES, *VALUE_RULES, *SHAPE_RULES, *TORCH_RULES)
# The rules that also hold for a line in another exercise.
FOREIGN_RULES = (
    (r"^(?:\w+Error|Exception)\b", own_refusal),
    (r"ValueError: (?:too many|not enough) values to unpack", too_many_to_unpack),
    *SHAPE_RULES,
)


def meaning(
    error: str, message: str, line: str, shapes: Mapping[str, Shape], source: str, lengths: Callable[[], str] = str
) -> str:
    """Say in a sentence or two what an exception means; "" if that is not known.

    Args:
        error: the class.
        message: its text.
        line: the text of the line that raised it; "" if no line of the student's did.
        shapes: of the tensors that the line names.
        source: the student's answer. A line that is not in there belongs to another exercise.
        lengths: names the two lengths that do not fit on the line; "" if that is not known.
    """
    first = (message.strip().splitlines() or [""])[0]
    foreign = bool(line) and not number_of(line, source)
    node = statement_at(line, source) if line else None
    find_clue = partial(_clue, source)
    raising = Raising(error, first, line, shapes, source, tree_of(source), node, foreign, find_clue, lengths)
    for pattern, rule in FOREIGN_RULES if foreign else EXCEPTION_RULES:
        found = re.search(pattern, f"{error}: {first}")
        if found and (says := rule(raising, found)):
            return ELSEWHERE + says[0].lower() + says[1:] if foreign else says
    return ""


def _clue(source: str, effect: Effect) -> Clue | None:
    return clue(effect, source)
