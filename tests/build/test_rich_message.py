"""A failed self-check in a notebook: what to do stands first, the example and its numbers are folded below."""

from __future__ import annotations

import subprocess
import sys

from grader.build.show import as_html, show_rich

MESSAGE = "1.3 scaled_scores — Divide by `√d_k`, not by `a<b`.\n2 queries: line 2: `x & y`: scores[0] is 1 & not 2\n    query = [[1]]"
IN_A_KERNEL = """
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from grader.build.self_check import NotYet

shell = InteractiveShell.instance()
assert NotYet("1.1 f — wrong\\nnumbers")._render_traceback_() == ["\\x1b[1m✘ 1.1 f — wrong\\x1b[0m", "numbers"]
shell.kernel = object()
with capture_output() as shown:
    error = NotYet("1.1 f — wrong\\nnumbers")
    lines = error._render_traceback_()
    assert lines == error._render_traceback_()  # IPython asks twice
assert lines == ["1.1: not right yet"], lines
(one,) = shown.outputs
assert one.data["text/plain"] == "✘ 1.1 f — wrong\\nnumbers", one.data
assert "<strong>✘ 1.1 f — wrong</strong>" in one.data["text/html"]
"""


def test_what_to_do_is_bold_and_the_numbers_are_folded() -> None:
    html = as_html(MESSAGE)
    bold, _, folded = html.partition("</strong>")
    assert bold.endswith("✘ 1.3 scaled_scores — Divide by <code>√d_k</code>, not by <code>a&lt;b</code>.")
    assert "<details><summary>" in folded
    assert "line 2: <code>x &amp; y</code>: scores[0] is 1 &amp; not 2\n    query = [[1]]</pre>" in folded
    assert "<details>" not in as_html("1.3 f — one line says it all")


def test_where_there_is_no_notebook_nothing_is_shown() -> None:
    assert not show_rich(MESSAGE)


def test_a_notebook_shows_it_as_html_and_a_terminal_as_text() -> None:
    ran = subprocess.run([sys.executable, "-c", IN_A_KERNEL], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
