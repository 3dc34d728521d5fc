"""Mechanical mutants of a solution: one small change each, as a slip of the hand would make it."""

from __future__ import annotations

from collections.abc import Iterator

from grader.explain.repairs.find_repair import repairs


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield every mutant of a cell: what was changed, and the changed source.

    The changes are those that are tried to make a wrong answer right (grader/explain/repairs), applied to a right one.
    """
    for change in repairs(source):
        yield f"line {change.line}: {change.what}", change.source
