"""Shows the results of a self-check in a notebook.

If a result is wrong, it shows the result, the expected numbers and the inputs.
"""

import re
import sys
from collections.abc import Mapping
from html import escape
from typing import Any

from torch import Tensor

from grader.judge.compare import first_place, places_off

RIGHT, WRONG, UNSOLVED = "✔", "✘", "☐"  # the marks of an answer
BADGES = {RIGHT: ("right", "#1a7f37"), WRONG: ("not right yet", "#b42318"), UNSOLVED: ("not solved yet", "#57606a")}
# A line that is too long is broken between words. Text has the notebook's own colours, light or
# dark; a badge is white on its own colour.
BADGE = """<span role="img" aria-label="{label}" style="background: {colour}; color: #fff; border-radius: 0.25em; \
padding: 0 0.4em">\
{mark}</span>"""
HTML = """<div style="max-width: 60em; padding-left: 0.6em; line-height: 1.6; overflow-wrap: anywhere">\
{badge} {first}{folded}</div>"""
FOLDED = """<details><summary>The example and its numbers</summary>
<pre style="white-space: pre-wrap; word-break: normal; margin: 0.4em 1.2em">{more}</pre></details>"""

MOST_NUMBERS = 24  # of inputs that are shown
NOT_SHOWN = ("weights", "grad_outputs")  # with these numbers among the inputs, nobody computes by hand


def what_is_off(name: str, got: Any, want: Any, rtol: float) -> str:
    """Return a message about the first wrong number of a result.

    For example, "output[0, 1] is 0.512, expected −0.108 (wrong in 2 of 6 places)". Return "" if
    form or type differ, because numbers then explain nothing.
    """
    if isinstance(want, float) and isinstance(got, (int, float)) and not isinstance(got, bool):
        came, due = told_apart(got, want)
        return f"{name} is {came}, expected {due}"
    if not isinstance(want, Tensor) or not isinstance(got, Tensor):
        return ""
    if got.shape != want.shape or got.dtype != want.dtype:
        return ""
    got = got.detach().cpu()
    wrong = places_off(got, want, rtol)
    place = first_place(wrong)
    came, due = told_apart(got[place].item(), want[place].item())
    text = f"{name}{list(place) if place else ''} is {came}, expected {due}"
    return f"{text} (wrong in {int(wrong.sum())} of {wrong.numel()} places)" if wrong.numel() > 1 else text


def shown_inputs(inputs: Mapping[str, Any]) -> list[str]:
    """Return the inputs of a trial, one line each, or [] if they are too many numbers or a layer's weights."""
    tensors = {name.removeprefix("arguments."): value for name, value in inputs.items() if isinstance(value, Tensor)}
    if any(name.partition(".")[0] in NOT_SHOWN for name in tensors):
        return []
    if sum(tensor.numel() for tensor in tensors.values()) > MOST_NUMBERS:
        return []
    return [f"    {name} = {nested(tensor.tolist())}" for name, tensor in tensors.items()]


def nested(value: Any) -> str:
    """Return nested lists of numbers as text: "[[0.51, −1.2], [2, 0]]"."""
    return f"[{', '.join(map(nested, value))}]" if isinstance(value, list) else number(value, 3)


def told_apart(came: Any, due: Any) -> tuple[str, str]:
    """Return two numbers as texts that differ, with as few digits as possible, from 4 to 9."""
    digits = next((count for count in range(4, 9) if number(came, count) != number(due, count)), 9)
    return number(came, digits), number(due, digits)


def number(value: Any, digits: int = 4) -> str:
    """Return a float as text with a number of significant digits and "−", or "NaN". Use `str` for other values."""
    if isinstance(value, float):
        return "NaN" if value != value else f"{value:.{digits}g}".replace("-", "−")
    return str(value)


def show(mark: str, message: str) -> None:
    """Show a message with the mark of an answer: as HTML in a notebook, otherwise as text."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python else None
    if shell is None or not hasattr(shell, "kernel"):
        print(f"{mark} {message}")
    else:
        shell.display_pub.publish({"text/html": as_html(mark, message), "text/plain": f"{mark} {message}"})


def as_html(mark: str, message: str) -> str:
    """Return a message as HTML.

    The mark is a badge, the lines after the first are folded, and text between backticks is code.
    The first line is bold if the answer is wrong.
    """
    line, _, more = message.partition("\n")
    label, colour = BADGES[mark]
    first = f"<strong>{_with_code(line)}</strong>" if mark == WRONG else _with_code(line)
    folded = FOLDED.format(more=_with_code(more)) if more else ""
    return HTML.format(badge=BADGE.format(label=label, colour=colour, mark=mark), first=first, folded=folded)


def _with_code(text: str) -> str:
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escape(text, quote=False))
