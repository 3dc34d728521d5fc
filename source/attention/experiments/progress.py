"""A progress bar with the time left, in plain text: it needs no widgets."""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import TypeVar

Step = TypeVar("Step")
WIDTH, EVERY = 30, 0.5  # characters of the bar; seconds between two drawings


def progress(steps: Sequence[Step], title: str) -> Iterator[Step]:
    """Go through the steps, and show how far they are and how long the rest will take.

    The bar is one output that is replaced, so that a saved notebook keeps its last state alone. Nothing is drawn
    in the first half second, or outside a notebook.
    """
    display = _notebook_display()
    if display is None:
        yield from steps
        return
    started = drawn = perf_counter()
    handle = None
    for done, step in enumerate(steps):
        now = perf_counter()
        if done and now - drawn > EVERY:
            handle = _show(display, handle, bar(title, done, len(steps), now - started))
            drawn = now
        yield step
    if handle is not None:
        _show(display, handle, bar(title, len(steps), len(steps), perf_counter() - started))


def bar(title: str, done: int, count: int, seconds: float) -> str:
    """Return one line: `reader ██████░░░░░░  50 %, 1.2 s, about 1.2 s left`; `done` is at least 1."""
    full = WIDTH * done // count
    left = "" if done == count else f", about {seconds * (count - done) / done:.0f} s left"
    return f"{title} {'█' * full}{'░' * (WIDTH - full)} {100 * done // count:3} %, {seconds:.1f} s{left}"


def _notebook_display():
    """IPython's `display`, or None where no notebook would show it."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return None
    return display if get_ipython() else None


def _show(display, handle, text: str):
    """Draw the text in place of the last one; returns what the next drawing replaces."""
    plain = {"text/plain": text}
    if handle is None:
        return display(plain, raw=True, display_id=True)
    handle.update(plain, raw=True)
    return handle
