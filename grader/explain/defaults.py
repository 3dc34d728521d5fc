"""Compare the default values of an answer's parameters with those that the task asks for.

In: the answer's source, and the task's defaults as `Exercise.defaults` returns them. Out: the defaults that differ, and
the answer's source with the task's defaults.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grader.explain.code.clues import Clue
from grader.explain.code.data_flow import Place, place_of
from grader.explain.code.read_code import UNREADABLE, tree_of
from grader.explain.repairs.find_repair import Try
from grader.explain.seen import Explanation

LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|$)")  # as Python counts lines
Defaults = Mapping[str, Mapping[str, Any]]  # by "function" or "Class.method", then by parameter


class WrongDefault(NamedTuple):
    """A default value that differs from the task's."""

    parameter: str
    got: Any
    expected: Any
    place: Place  # of the default in the answer's source

    @property
    def is_sure(self) -> bool:
        """True if neither default is None.

        An answer may replace None by the right value in its code, so a difference from None need not be wrong.
        """
        return self.got is not None and self.expected is not None


def wrong_defaults(source: str, expected: Defaults) -> list[WrongDefault]:
    """Return the default values of an answer that differ from the task's, in the order of the code.

    Only constants are compared.
    """
    found = []
    for name, function in _functions(tree_of(source)):
        for parameter, node in _defaults(function.args):
            right, got = expected.get(name, {}).get(parameter, ...), _constant(node)
            if ... not in (right, got) and got != right and node.lineno == node.end_lineno:
                found.append(WrongDefault(parameter, got, right, place_of(node)))
    return sorted(found, key=lambda wrong: wrong.place)


def with_task_defaults(source: str, wrong: Sequence[WrongDefault]) -> str:
    """Return an answer's source with the task's default values instead of wrong ones. Line numbers do not change."""
    lines = LINE.findall(source)
    for default in reversed(wrong):
        line, start, _, end = default.place
        text = lines[line - 1].encode()
        lines[line - 1] = (text[:start] + repr(default.expected).encode() + text[end:]).decode()
    return "".join(lines)


def explain_default(wrong: Sequence[WrongDefault]) -> Explanation:
    """Return the explanation that these default values differ from the task's. There must be at least one."""
    sentences = [
        f"he default of `{one.parameter}` is {one.got!r}; the task asks for {one.expected!r}." for one in wrong
    ]
    return Explanation("default", clue=Clue(wrong[0].place[0], f"t{' T'.join(sentences)}"))


def find_default(
    source: str, expected: Defaults, checks: Sequence[str], passed: Sequence[bool], failed: str, try_: Try
) -> Explanation | None:
    """Explain a failed check by wrong default values. Return None if the check fails with the task's defaults, too.

    Args:
        source: the source of the answer.
        expected: the task's defaults.
        checks: for each trial, the name of its check.
        passed: for each trial, whether the unchanged answer passes it.
        failed: the name of the failed check.
        try_: runs changed answers on trials.
    """
    wrong = wrong_defaults(source, expected)
    trials = [index for index, check in enumerate(checks) if check == failed and not passed[index]]
    if not wrong or not all(try_([with_task_defaults(source, wrong)], trials)[0]):
        return None
    return explain_default(wrong)


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield each function of an answer and each method of its classes, with its name: "function" or "Class.method"."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{part.name}", part) for part in node.body if isinstance(part, ast.FunctionDef))


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    """Yield each parameter that has a default value, with the node of this value."""
    ordered = [*arguments.posonlyargs, *arguments.args]
    with_default = ordered[len(ordered) - len(arguments.defaults) :]
    yield from ((one.arg, node) for one, node in zip(with_default, arguments.defaults, strict=True))
    for one, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if node is not None:
            yield one.arg, node


def _constant(node: ast.expr) -> Any:
    """Return the value of a literal number, string, bool or None, or `...` for any other expression."""
    try:
        value = ast.literal_eval(node)
    except (*UNREADABLE, TypeError):
        return ...
    return value if value is None or isinstance(value, (int, float, str)) else ...
