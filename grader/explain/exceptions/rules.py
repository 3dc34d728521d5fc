r"""Tables of what exceptions mean: a pattern, and below it, indented, what is said where it fits.

    Padding length should be less than or equal to two times
        F.pad takes a pair of numbers for each axis, from the last one on. Here are more pairs than axes.
    derivative for aten::(\w+) is not implemented
        {1} has no derivative, so no gradient passes through it.
    expected scalar type (?:Double|Float|Half) but found → FLOAT32
        A tensor that you make, and the inputs, are of different dtypes: give it the inputs' dtype.
    unflatten: Provided sizes → sizes_do_not_multiply

The pattern is searched for in "Error: text"; `{1}` is what its first group found. Behind an arrow stands the name of a function
that says something or nothing, or of an effect: what causes it in the student's code is said rather than the sentence.
"""

import re
from collections.abc import Callable
from functools import partial

from grader.explain.code.effects import Effect
from grader.explain.code.read_code import Raising

Says = Callable[[Raising, re.Match], str]
Rule = tuple[str, Says]


def rules(table: str, *functions: Says) -> tuple[Rule, ...]:
    """Read a table; its functions are handed in, because the builder of the self-check follows names."""
    known = {function.__name__: function for function in functions}
    found: list[Rule] = []
    for row in re.split(r"\n(?! )", table.strip()):
        head, *lines = row.splitlines()
        pattern, _, name = head.partition(" → ")
        sentence = " ".join(line.strip() for line in lines)
        found.append((pattern, partial(_say, Effect[name] if name else None, sentence) if lines else known[name]))
    return tuple(found)


def _say(effect: Effect | None, sentence: str, raising: Raising, found: re.Match) -> str:
    """Say what causes an effect, if there is one and its cause is seen, or else the sentence."""
    cause = raising.clue(effect) if effect else ""
    return cause or re.sub(r"\{(\d)\}", lambda hole: found[int(hole[1])], sentence)
