"""What a self-check shows in a notebook: a badge, what to do first, the example and its numbers folded below."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.build.show import RIGHT, UNSOLVED, WRONG, as_html, show

MESSAGE = "1.3 scaled_scores — Divide by `√d_k`, not by `a<b`.\n2 queries: line 2: `x & y`: scores[0] is 1 & not 2\n    query = [[1]]"
IN_A_KERNEL = """
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from grader.build.self_check import NotYet

shell = InteractiveShell.instance()
shell.kernel = object()
with capture_output() as shown:
    NotYet("1.1 f — wrong\\nnumbers").show()
(one,) = shown.outputs
assert one.data["text/plain"] == "✘ 1.1 f — wrong\\nnumbers", one.data
assert "<strong>1.1 f — wrong</strong>" in one.data["text/html"]
assert shown.stdout == "", shown.stdout
"""


def test_what_to_do_is_bold_and_the_numbers_are_folded() -> None:
    html = as_html(WRONG, MESSAGE)
    bold, _, folded = html.partition("</strong>")
    assert bold.endswith("<strong>1.3 scaled_scores — Divide by <code>√d_k</code>, not by <code>a&lt;b</code>.")
    assert "<details><summary>" in folded
    assert "line 2: <code>x &amp; y</code>: scores[0] is 1 &amp; not 2\n    query = [[1]]</pre>" in folded
    assert "<details>" not in as_html(WRONG, "1.3 f — one line says it all")


@pytest.mark.parametrize(("mark", "label"), [(RIGHT, "right"), (WRONG, "not right yet"), (UNSOLVED, "not solved yet")])
def test_the_badge_has_a_name_for_a_screen_reader(mark: str, label: str) -> None:
    html = as_html(mark, "1.1 f")
    assert f'role="img" aria-label="{label}"' in html
    assert f">{mark}</span>" in html


def test_where_there_is_no_notebook_it_is_printed(capsys) -> None:
    show(WRONG, "1.1 f — wrong\nnumbers")
    assert capsys.readouterr().out == "✘ 1.1 f — wrong\nnumbers\n"


def test_a_notebook_shows_it_as_html_and_a_terminal_as_text() -> None:
    ran = subprocess.run([sys.executable, "-c", IN_A_KERNEL], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
