"""Tells which wrong answers stand somewhere as code: those that edits make do not."""

from __future__ import annotations

import inspect


def made_by_an_edit(definition: object) -> bool:
    """Tell whether a wrong answer was made by an edit of the right one, and so has no source of its own."""
    code = getattr(inspect.unwrap(getattr(definition, "forward", definition)), "__code__", None)  # type: ignore[arg-type]
    return code is not None and code.co_filename.startswith("<")
