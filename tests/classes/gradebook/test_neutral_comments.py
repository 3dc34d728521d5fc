"""What students write does nothing in a comment, although nbgrader's own feedback page renders comments as Markdown."""

from __future__ import annotations

import re

import pytest
from nbconvert.filters.markdown import markdown2html

from grader.classes.gradebook.cells import _without_markdown

HOSTILE = [
    "it raised ValueError: <script>alert(1)</script>",
    "it raised E: <img src=x onerror=alert(1)>",
    "it raised E: ![x](http://example.org/seen)",
    "it raised E: [your grade](http://example.org)",
    "it raised E: [a][b]\n\n[b]: http://example.org",
    "it raised E: [b]\n[b]: //example.org",
    "it raised E: http://example.org",
    "it raised E: $\\href{http://example.org}{x}$",
    "it raised E: \\(x\\)",
    "line 2:\n```\n<b>bold</b>\n```",
    "# heading <h1>",
]


@pytest.mark.parametrize("comment", HOSTILE)
def test_nothing_is_rendered(comment: str) -> None:
    rendered = markdown2html(_without_markdown(comment))
    assert not re.search(r"<(?!/?(?:pre|code|p|div|span|br)\b)\w", rendered), rendered
    assert re.sub(r"<[^>]*>", "", rendered).count("\n") <= comment.count("\n") + 2
    code = re.search(r"<pre>.*</pre>", rendered, re.DOTALL)
    assert code is not None, rendered  # formulas are not read in code


def test_what_the_grader_says_stays_as_it_is() -> None:
    said = "off by 0.49, allowed 1e-05, first at [0, 1]. Divide the scores by √d_k."
    assert _without_markdown(said) == said
