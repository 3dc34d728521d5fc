"""How much a submission may hold: what is larger takes the grader minutes or gigabytes to read."""

import re
from collections.abc import Iterable

from grader.submission.file import Unreadable

# Signs in the file's bytes that make Python objects when JSON is read. A megabyte of `{},` would take 25 MB of memory.
MOST_SIGNS = {b"{": 500_000, b"[": 500_000, b",": 5_000_000}
# What a student may write, over all cells: a whole lesson has 0.1 MiB and 25,000 words and signs. The grader parses it
# some twenty times, and a syntax tree takes up to 2 KB of memory for each word.
MOST_CODE = 512 << 10  # characters
MOST_WORDS = 150_000  # words and signs
WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")


def refuse_many_objects(content: bytes) -> None:
    """Refuse a file whose JSON would take gigabytes of memory.

    Raises:
        Unreadable: it has too many objects, lists or items.
    """
    for sign, most in MOST_SIGNS.items():
        if content.count(sign) > most:
            raise Unreadable(
                f"the file has more than {most:,} times {sign.decode()!r}: outputs with very much data, or no notebook. "
                "Clear the outputs (Edit, Clear all outputs) and save it again."
            )


def refuse_much_code(sources: Iterable[str]) -> None:
    """Refuse code that takes minutes to analyse.

    Args:
        sources: of the student's cells, without copies of released ones.

    Raises:
        Unreadable: together they are too long.
    """
    own = list(sources)
    too_long = sum(map(len, own)) > MOST_CODE
    if too_long or sum(1 for source in own for _ in WORD_OR_SIGN.finditer(source)) > MOST_WORDS:
        raise Unreadable(
            f"your cells hold more code than a lesson needs ({MOST_CODE >> 10} KiB, or {MOST_WORDS:,} words and "
            "signs). Remove numbers that were pasted into the code, and submit again."
        )
