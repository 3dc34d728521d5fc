"""Cleans text that a submission wrote, so that it can be stored and shown."""

import re
from typing import Any

# Control characters, also those that move the cursor or start a terminal sequence; tab and newline are kept.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")

# An absolute path with two parts or more: messages for the student must not show paths of this machine.
PATH = re.compile(r"(?:/[\w.+-]+){2,}")


def plain(value: Any, most: int = 2000) -> str:
    """Return text without control characters and lone surrogates, cut to `most` characters.

    Return "" for a value that is not a string.
    """
    if not isinstance(value, str):
        return ""
    text = value[: most + 1].encode("utf-8", "replace").decode("utf-8")
    text = CONTROL.sub("", text)
    return text if len(text) <= most else text[: most - 1] + "…"


def one_line(value: Any, most: int = 2000) -> str:
    """Return text on one line, cleaned as by `plain` and cut to `most` characters.

    Each run of white space becomes one space.
    """
    text = " ".join(plain(value, 4 * most).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def without_paths(text: str) -> str:
    """Return a text with "…" in place of each absolute path."""
    return PATH.sub("…", text)
