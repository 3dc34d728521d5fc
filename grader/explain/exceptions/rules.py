"""A rule explains a type of exception: a regular expression, and a function that returns an explanation.

The expression is searched for in "Error: message". The function returns a message for the student, or "" if it has no
explanation. It is one of this folder's, or is made by `sentence` from a fixed sentence, in which `{1}` is replaced by
the expression's first group. A sentence may have an effect: if the cause of the effect is found in the student's code,
the explanation is that cause and not the sentence.
"""

import re
from collections.abc import Callable
from functools import partial

from grader.explain.code.read_code import Effect, Raising

Says = Callable[[Raising, re.Match], str]
Rule = tuple[str, Says]


def sentence(text: str, effect: Effect | None = None) -> Says:
    """Return the function of a rule that returns this sentence, or the cause of an effect if the cause is found."""
    return partial(_say, effect, text)


def _say(effect: Effect | None, sentence: str, raising: Raising, found: re.Match) -> str:
    """Return the cause of an effect if it is found in the code, or else the sentence with its holes filled."""
    cause = raising.clue(effect) if effect else None
    return cause.says if cause else re.sub(r"\{(\d)\}", lambda hole: found[int(hole[1])], sentence)
