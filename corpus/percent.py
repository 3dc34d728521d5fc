"""Reads answers in the percent format, in which people write them.

Each cell is the whole source of an answer cell, without its `# @exercise` line. Its title names and explains the answer:

    # %% [wrong] short_name | what is wrong, as a teacher would say it
    # %% [right] short_name | how it differs in style from the obvious answer
"""

from __future__ import annotations

import re

from corpus.answers import Answer

TITLE = re.compile(r"^# %% \[(wrong|right)\] (.+?) \| (.+)$", re.M)


def parse_percent(exercise: str, text: str) -> tuple[Answer, ...]:
    """Return the answers to an exercise that a text in the percent format has, in its order.

    Raises:
        ValueError: a cell has no title of the form above, or two answers have the same name.
    """
    before, *parts = TITLE.split(text)
    answers = tuple(
        Answer(exercise, name, kind == "right", cause, source.strip() + "\n")
        for kind, name, cause, source in zip(*(parts[start::4] for start in range(4)), strict=True)
    )
    if before.strip() or not answers:
        raise ValueError("the text does not begin with a title: # %% [wrong] name | cause")
    for answer in answers:
        if untitled := re.search(r"^# %%.*", answer.source, re.M):
            raise ValueError(f"write the title {untitled[0]!r} as # %% [wrong] name | cause")
    names = [answer.name for answer in answers]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two answers have the same name: {', '.join(twice)}")
    return answers


def as_percent(answer: Answer) -> str:
    """Return an answer in the percent format, which has neither its feedback nor its judgement."""
    title = " | ".join(filter(None, (answer.name, answer.cause)))
    return f"# %% [{'right' if answer.right else 'wrong'}] {title}\n{answer.source.rstrip()}\n"
