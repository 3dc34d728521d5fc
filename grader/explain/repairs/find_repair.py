"""Makes small changes to a wrong answer, and finds the one that makes it right and tells most about the mistake.

A change that makes an answer right on new random inputs hardly does so by chance. It shows where the mistake is. The
student reads the place of the change and not the change itself: where to look, but not what to write.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from grader.explain.repairs.change import Changes, End, Look, changed, cut, is_text, put, replaced, walk, without
from grader.explain.repairs.expressions import is_negative, of_expressions, of_places
from grader.explain.repairs.sizes import of_sizes
from grader.explain.repairs.statements import of_statements

MOST = 160  # changes of one answer
MAX_SOURCE = 10_000  # characters; a solution has at most 3,000
LINE_END = re.compile(r"\r\n|\r|\n")

Node = Any  # of a syntax tree: which fields it has depends on its kind


class Repair(NamedTuple):
    """One small change of an answer, with the changed source and the hint for the student."""

    line: int  # of the answer, from 1
    look: Look
    source: str  # the changed answer
    rank: int  # the smaller, the more it says
    text: str  # the line
    in_part: bool = False  # whether another check fails all the same

    def of_axes(self) -> Repair:
        """Return the repair with a hint that does not mention inputs with different numbers of axes.

        It is used if all inputs have the same number of axes.
        """
        is_counted = self.look.end is End.COUNTED
        return self._replace(look=Look(f"check the axes in {self.look.at}.")) if is_counted else self

    @property
    def what(self) -> str:
        """The sentence for the student about the code to check, without the line."""
        return self.look.says(in_part=self.in_part)

    @property
    def says(self) -> str:
        """The hint for the student: the line and the sentence."""
        return f"Line {self.line}, `{cut(self.text)}`: {self.what}"


def repairs(source: str) -> list[Repair]:
    """Return at most MOST small changes of an answer. The changes that tell most about a mistake come first.

    Return [] if the source is too long or cannot be parsed.
    """
    if len(source) > MAX_SOURCE:
        return []
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    # Only definitions are tried: a cell may also train something, or print.
    tree.body = [
        node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign))
    ]
    lines = LINE_END.split(source)  # as Python counts them
    # Sort before anything is copied: to write out a changed answer takes most of the time.
    places = [
        (rank, line, number, path, look, new)
        for number, (path, node, _) in enumerate(walk(tree, whole=is_negative))
        for rank, look, line, new in _changes(node, lines)
    ]
    places.sort(key=lambda place: place[:3])
    found: dict[str, Repair] = {}
    for rank, line, _, path, look, new in places[:MOST]:
        other = replaced(tree, path, new() if callable(new) else new)
        try:
            text = ast.unparse(other)
        except (ValueError, RecursionError):
            continue
        whole = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        found.setdefault(text, Repair(line, look, text, rank, whole))
    return list(found.values())


def _changes(node: Node, lines: list[str]) -> Changes:
    """Yield the changes of one node of the tree."""

    def piece(part: Node) -> str:
        return cut(_text(part, lines))

    line = getattr(node, "lineno", 0)
    if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.While, ast.With)):
        yield from _dropped_statements(node)
    if isinstance(node, ast.With) and len(node.items) == 1:
        look = Look("if you remove this line and move the lines below to the left,", End.RIGHT)
        yield 1, look, line, ast.If(test=ast.Constant(True), body=node.body, orelse=[])
    if isinstance(node, ast.If) and node.orelse:
        yield 2, Look("if only the code under `else` runs,", End.RIGHT), line, changed(node, test=ast.Constant(False))
    yield from of_expressions(node, piece)
    yield from of_statements(node)
    yield from of_sizes(node, piece)
    yield from of_places(node, piece)


def _dropped_statements(node: Node) -> Changes:
    for field in ("body", "orelse"):
        for index, statement in enumerate(getattr(node, field, [])):
            if is_text(statement) or isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Pass)):
                continue
            if isinstance(statement, ast.Return) and not isinstance(node, (ast.If, ast.For, ast.With)):
                continue
            look = without(f"this {'block' if hasattr(statement, 'body') else 'line'}")
            yield 0, look, statement.lineno, changed(node, **{field: put(getattr(node, field), index, ast.Pass())})


def _text(node: Node, lines: list[str]) -> str:
    """Return the source of a node. This is faster than ast.get_source_segment, which splits the whole source."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    taken = [line.encode() for line in lines[first : last + 1]]
    taken[-1] = taken[-1][: node.end_col_offset]
    taken[0] = taken[0][node.col_offset :]
    return b" ".join(taken).decode(errors="replace")


# Runs changed answers on some trials, given by index, and returns for each answer whether it passes each of
# these trials; None where that is not known, for lack of time.
Try = Callable[[Sequence[str], Sequence[int]], Sequence[Sequence[bool | None]]]


def find_repair(
    source: str, checks: Sequence[str], passed: Sequence[bool], failed: str, try_: Try, *, telling: bool
) -> Repair | None:
    """Return the change that makes a wrong answer right and tells most about its mistake, or None if no change does.

    Every trial of the failed check must pass with the change. No other trial may fail that passes without the change.
    If the answer's values are weak evidence, such as a single yes or no, every trial of the exercise must pass.

    Args:
        source: the student's answer.
        checks: for each trial, the name of its check.
        passed: for each trial, whether the unchanged answer passes it.
        failed: the name of the first check that failed.
        try_: runs changed answers.
        telling: the answer's values are strong evidence.
    """
    changes = repairs(source)
    wrong = [index for index, check in enumerate(checks) if check == failed and not passed[index]]
    others = [index for index, check in enumerate(checks) if check != failed]
    # Most changes fall out on the first trial that fails.
    for trials in (wrong[:1], [i for i, check in enumerate(checks) if check == failed and i not in wrong[:1]]):
        if changes and trials:
            right = try_(_sources(changes), trials)
            changes = [change for change, passes in zip(changes, right, strict=True) if all(passes)]
    if not changes or not wrong:
        return None
    elsewhere = try_(_sources(changes), others) if others else [[]] * len(changes)
    # A change that spoils what was right passes by accident.
    known = [passed[index] for index in others]
    sound = [
        (sum(map(bool, right)), False not in right, change)
        for change, right in zip(changes, elsewhere, strict=True)
        if not any(before and now is False for now, before in zip(right, known, strict=True))
    ]
    best = max((count for count, _, _ in sound), default=-1)
    if best < (0 if telling else len(others)):
        return None
    # What was not tried for lack of time is held against no change.
    kept = [change for _, whole, change in sound if whole] if telling else []
    kept = kept or [
        change if whole else change._replace(in_part=True) for count, whole, change in sound if count == best
    ]
    first = kept[0]  # `repairs` sorts by what a change tells
    # Where lines can be left out, the last is the smallest: an earlier one may hold it.
    return first if first.rank else max((one for one in kept if one.rank == 0), key=lambda one: one.line)


def _sources(changes: Sequence[Repair]) -> list[str]:
    return [change.source for change in changes]
