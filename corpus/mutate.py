"""Mechanical mutants of a solution: one small change each, as a slip of the hand would make it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.course.common.attention_words import SUBJECT
from grader.explain.mutants.mutants import changed_tree, edits


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield every mutant of a cell: what was changed, and the changed source. Docstrings and annotations are left alone.

    The changes are those that explain wrong answers (grader/explain), and more: also those that no sentence describes.
    """
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    names = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(tree)}
    for edit in edits(tree, frozenset(names), SUBJECT, checks=True):
        changed = changed_tree(tree, [edit])
        try:
            text = ast.unparse(changed) if changed else ""
            compile(text, "mutant", "exec")
        except (SyntaxError, ValueError):
            continue
        if text and text not in seen:
            seen.add(text)
            yield f"line {getattr(edit.node, 'lineno', 0)}: {edit.change.what}", text
