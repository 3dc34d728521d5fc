"""A rule says what an exception means: a pattern, and what is said where it fits.

The pattern is searched for in "Error: text". What is said is a function of the module, or a sentence, in which `{1}` is
what the pattern's first group found. A sentence may come with an effect: what causes it in the student's code is said
instead, if that is seen.
"""

import re
from collections.abc import Callable
from functools import partial

from grader.explain.code.read_code import Effect, Raising

Says = Callable[[Raising, re.Match], str]
Rule = tuple[str, Says]


def sentence(text: str, effect: Effect | None = None) -> Says:
    """Return what says a sentence, or what causes an effect."""
    return partial(_say, effect, text)


def _say(effect: Effect | None, sentence: str, raising: Raising, found: re.Match) -> str:
    """Return a sentence with the cause of an effect where the cause is seen, or else the plain sentence."""
    cause = raising.clue(effect) if effect else None
    return cause.says if cause else re.sub(r"\{(\d)\}", lambda hole: found[int(hole[1])], sentence)
