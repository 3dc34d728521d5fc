"""Shows the results of a self-check in a notebook.

For numbers of a trial it shows the result, the expected values and the inputs.
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
    """Return a message with the first wrong place: "output[0, 1] is 0.512, expected −0.108 (in 2 of 6 places)".

    Return "" where form or type differ, so that numbers say nothing.
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
    """List the inputs of a trial, one line each, if they are few numbers; return nothing for a layer's weights."""
    tensors = {name.removeprefix("arguments."): value for name, value in inputs.items() if isinstance(value, Tensor)}
    if any(name.partition(".")[0] in NOT_SHOWN for name in tensors):
        return []
    if sum(tensor.numel() for tensor in tensors.values()) > MOST_NUMBERS:
        return []
    return [f"    {name} = {nested(tensor.tolist())}" for name, tensor in tensors.items()]


def nested(value: Any) -> str:
    """Write nested lists of numbers: "[[0.51, −1.2], [2, 0]]"."""
    return f"[{', '.join(map(nested, value))}]" if isinstance(value, list) else number(value, 3)


def told_apart(came: Any, due: Any) -> tuple[str, str]:
    """Write two numbers with as many digits as tell them apart, from 4 to 9."""
    digits = next((count for count in range(4, 9) if number(came, count) != number(due, count)), 9)
    return number(came, digits), number(due, digits)


def number(value: Any, digits: int = 4) -> str:
    """Format a float with so many significant digits and "−", and NaN as "NaN"; format any other value with `str`."""
    if isinstance(value, float):
        return "NaN" if value != value else f"{value:.{digits}g}".replace("-", "−")
    return str(value)


def show(mark: str, message: str) -> None:
    """Show a message with the mark of an answer: as HTML in a notebook, else as text."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python else None
    if shell is None or not hasattr(shell, "kernel"):
        print(f"{mark} {message}")
    else:
        shell.display_pub.publish({"text/html": as_html(mark, message), "text/plain": f"{mark} {message}"})


def as_html(mark: str, message: str) -> str:
    """Write a message as HTML: the mark as a badge, the rest of the message folded, text between backticks as code.

    The first line is in bold where something is wrong.
    """
    line, _, more = message.partition("\n")
    label, colour = BADGES[mark]
    first = f"<strong>{_with_code(line)}</strong>" if mark == WRONG else _with_code(line)
    folded = FOLDED.format(more=_with_code(more)) if more else ""
    return HTML.format(badge=BADGE.format(label=label, colour=colour, mark=mark), first=first, folded=folded)


def _with_code(text: str) -> str:
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escape(text, quote=False))
