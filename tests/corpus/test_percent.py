"""The percent format of answers: read as it is written, and refused where a title is missing."""

from __future__ import annotations

import pytest

from corpus.answers import Answer
from corpus.percent import as_percent, parse_percent

TEXT = """\
# %% [wrong] unscaled | the division by √d_k is missing
def scaled_scores(query, key):

    return query @ key.mT


# %% [right] root of the width | divides by `query.shape[-1] ** 0.5`, a | b
def scaled_scores(query, key):
    return query @ key.mT / query.shape[-1] ** 0.5
"""
ANSWERS = (
    Answer(
        exercise="1.2",
        name="unscaled",
        right=False,
        cause="the division by √d_k is missing",
        source="def scaled_scores(query, key):\n\n    return query @ key.mT\n",
    ),
    Answer(
        exercise="1.2",
        name="root of the width",
        right=True,
        cause="divides by `query.shape[-1] ** 0.5`, a | b",
        source="def scaled_scores(query, key):\n    return query @ key.mT / query.shape[-1] ** 0.5\n",
    ),
)


def test_it_is_read_with_names_and_causes():
    assert parse_percent("1.2", TEXT) == ANSWERS


def test_what_is_written_is_read_again():
    assert parse_percent("1.2", "\n".join(map(as_percent, ANSWERS))) == ANSWERS


def test_an_answer_without_a_cause_has_a_title_without_one():
    assert as_percent(ANSWERS[0]._replace(cause="")).startswith("# %% [wrong] unscaled\ndef ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "does not begin with a title"),
        ("import math\n" + TEXT, "does not begin with a title"),
        ("# %% [wrong] unscaled\nx = 1\n", "does not begin with a title"),
        (TEXT + "# %% [wrong] no_cause\nx = 1\n", r"write the title '# %% \[wrong\] no_cause' as"),
        (TEXT + "# %%\nx = 1\n", "write the title '# %%' as"),
        (TEXT + TEXT, "the same name: root of the width, unscaled"),
    ],
)
def test_a_text_that_would_be_misread_is_refused(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        parse_percent("1.2", text)
