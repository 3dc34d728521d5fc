"""Text of a submission can be stored and shown, whatever it is."""

import pytest

from grader.sandbox.text import plain


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("tab\tand\nline", "tab\tand\nline"),
        ("\x1b[2J\x07bell", "[2Jbell"),
        ("a\ud800b", "a?b"),
        ("left\u202eright", "leftright"),
        ("√d_k Q·Kᵀ 你好", "√d_k Q·Kᵀ 你好"),
        ("x" * 12, "x" * 9 + "…"),
        (None, ""),
        (7, ""),
    ],
)
def test_plain(given, kept):
    assert plain(given, 10 if given == "x" * 12 else 2000) == kept
    plain(given).encode("utf-8")
