"""Declares wrong answers as small changes in the text of a right one.

Each mistake is a name with the hint that students read. The lines below it contain its changes:

    edits(attention_scores, '''
        scaled_too_early: These scores are divided already; 1.1 asks for
            the plain dot products. Scaling is 1.2.
            = result / query.shape[-1] ** 0.5
        transposes_the_batch: .T turns all axes around. Swap only the last two: .transpose(-2, -1).
            key.transpose(-2, -1)  →  key.mT if key.ndim == 2 else key.permute(2, 1, 0)
        doubles_the_query: The query counts twice.
            + query = query * 2
    ''')

- `old → new` replaces text in the definition. Without text after the arrow, the old text is deleted. The old text
  must occur exactly once, not counting docstrings, and must not begin with `+ ` or `= `.
- `+ statement` adds a statement at the beginning of the function's body, or of a class's `forward`.
  `+ method: statement` adds it to another method.
- `= expression` makes the function, or a class's `forward`, return another value. In the expression, `result` is the
  value that the right answer returns.

All other lines belong to the hint. A long change continues in the lines below it that are indented further. The
first of these lines may begin with the arrow.
"""

from __future__ import annotations  # what is compiled here inherits it

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, cached_property
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from grader.declare.errors import DeclarationError
from grader.declare.exercise import Mistake

HEAD = re.compile(r"(?P<name>[a-z]\w*)(?P<slip> \(slip\))?: (?P<hint>.+)")
ARROW = re.compile(r"\s+→(?:\s+|$)")
ALWAYS_THERE = {"torch": torch, "nn": nn, "F": F}  # as in a notebook


class _Written(NamedTuple):
    """A mistake as it is written in the text, split into its parts. No change has been applied yet."""

    name: str
    slip: bool
    hint: list[str]
    changes: list[list[str]]  # old, new
    first: list[str]  # statements
    back: list[str]  # an expression, or nothing


def edits(right: Any, text: str, *, defines: str = "", **names: Any) -> tuple[Mistake, ...]:
    """Return the mistakes that a text describes, in the same order.

    Args:
        right: a right function or class whose source can be read: the reference, or another version of it.
        text: the mistakes. The module's docstring describes their form.
        defines: the name in the notebook, if it differs from the name of `right`; otherwise "".
        names: values that the new texts use and that the module of `right` does
            not define. The names torch, nn and F are always defined.

    Raises:
        DeclarationError: a line cannot be read, or an old text does not occur exactly once. If the
            changed text is not valid Python, the error is raised when the wrong definition is
            first used, for example by `grader build`.
    """
    source = _source(right)
    space = {**vars(sys.modules[right.__module__]), **ALWAYS_THERE, **names}
    made = []
    for written in _written(right.__name__, text):
        changed = _changed(right.__name__, source, written)
        wrong = _Wrong(right.__name__, defines or right.__name__, changed, written, space)
        # `+` and `=` say what comes out, not what stands there.
        shown = ("", "") if written.first or written.back else (source, changed)
        made.append(Mistake(written.name, wrong, " ".join(written.hint), written.slip, shown))
    return tuple(made)


class _Wrong(Mapping[str, Any]):
    """The wrong definition of a mistake, under its name in the notebook.

    It is compiled when it is first looked up, because a lesson has hundreds of mistakes and most submissions need none.
    The look-up raises DeclarationError if the changed text is not valid Python.
    """

    def __init__(self, right: str, name: str, source: str, written: _Written, space: Mapping[str, Any]) -> None:
        self._right, self._name, self._source, self._written, self._space = right, name, source, written, space

    def __getitem__(self, name: str) -> Any:
        if name != self._name:
            raise KeyError(name)
        return self._definition

    def __iter__(self) -> Iterator[str]:
        return iter((self._name,))

    def __len__(self) -> int:
        return 1

    @cached_property
    def _definition(self) -> Any:
        written, space = self._written, dict(self._space)
        try:
            code = _with_more(self._source, written) if written.first or written.back else self._source
            exec(compile(code, f"<{written.name}>", "exec"), space)
        except (SyntaxError, NameError, LookupError) as error:
            where = f"edits of {self._right}, {written.name}"
            raise DeclarationError(f"{where}: what comes out is no Python: {error}") from error
        return space[self._right]


def in_both(mistakes: Sequence[Mistake], **pairs: str) -> tuple[Mistake, ...]:
    """Return mistakes called NAME_in_both. Each replaces two functions of one exercise at once.

    Args:
        pairs: name of a mistake in one function → name of the same mistake in
            the other function. Students read the hint of the first.

    Raises:
        DeclarationError: there is no mistake with one of these names.
    """
    named = {mistake.name: mistake for mistake in mistakes}
    if missing := ({*pairs, *pairs.values()} - named.keys()):
        raise DeclarationError(f"in_both: there is no mistake {', '.join(sorted(missing))}")
    return tuple(
        replace(
            named[one], name=f"{one}_in_both", replaces={**named[one].replaces, **named[other].replaces}, codes=("", "")
        )
        for one, other in pairs.items()
    )


def _source(right: Any) -> str:
    """Return the source of a definition at the top level of its module, without its docstrings."""
    text, tree = _module_of(right.__module__)
    lines = text.splitlines(keepends=True)
    definitions = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    whole = next(node for node in definitions if node.name == right.__name__)
    for node in ast.walk(whole):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            lines[first - 1 : last] = ["\n"] * (last - first + 1)
    first = min(node.lineno for node in [whole, *whole.decorator_list])
    return "".join(lines[first - 1 : whole.end_lineno])


@cache
def _module_of(name: str) -> tuple[str, ast.Module]:
    """Return the source and the syntax tree of an imported module.

    The result is cached, because a module usually contains several definitions with mistakes.
    """
    text = inspect.getsource(sys.modules[name])
    return text, ast.parse(text)


def _written(right: str, text: str) -> list[_Written]:
    """Return the mistakes that a text contains, each split into its parts.

    Raises:
        DeclarationError: a line belongs to no mistake, or has both `+` or `=` and an arrow.
    """
    found: list[_Written] = []
    for line in _joined(textwrap.dedent(text).strip().splitlines()):
        stripped = line.strip()
        if head := HEAD.fullmatch(line):
            found.append(_Written(head["name"], bool(head["slip"]), [head["hint"]], [], [], []))
        elif not found or not line.startswith(" "):
            raise DeclarationError(f"edits of {right}: {line!r} is no `name: hint`")
        elif stripped.startswith(("+ ", "= ")) and ARROW.search(stripped):
            raise DeclarationError(
                f"edits of {right}, {found[-1].name}: {stripped!r} begins with {stripped[0]!r}, which adds a line, and "
                "has →, which changes text. To change or delete text, begin the old text one word earlier, "
                "as in `x + bias → x`"
            )
        elif stripped.startswith(("+ ", "= ")):
            (found[-1].first if stripped[0] == "+" else found[-1].back).append(stripped[2:])
        elif ARROW.search(stripped):
            found[-1].changes.append(ARROW.split(stripped, maxsplit=1))
        else:
            found[-1].hint.append(stripped)
    return found


def _joined(lines: Iterable[str]) -> list[str]:
    """Return the lines, with each change that continues in further indented lines as a single line."""
    joined: list[str] = []
    for line in lines:
        text = line.lstrip()
        before = joined[-1] if joined else ""
        is_change = text.startswith("→") or ARROW.search(before) or before.lstrip().startswith(("+ ", "= "))
        if is_change and _indent(line) > _indent(before):
            joined[-1] = f"{before} {text}"
        else:
            joined.append(line)
    return joined


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _changed(right: str, source: str, written: _Written) -> str:
    """Return the source of a definition with the `old → new` changes of a mistake applied.

    Raises:
        DeclarationError: an old text does not occur exactly once, or the mistake changes nothing.
    """
    where = f"edits of {right}, {written.name}"
    for old, new in written.changes:
        if (count := source.count(old)) != 1:
            near = get_close_matches(old, map(str.strip, source.splitlines()), 1, 0)
            said = f"{old!r} stands there {count} times, and must stand there once"
            raise DeclarationError(f"{where}: {said}. A line like it: {near[0]!r}")
        source = source.replace(old, new)
    if not (written.changes or written.first or written.back):
        raise DeclarationError(f"{where}: no line changes anything. Between old and new stands → (not ->)")
    return source


def _with_more(source: str, written: _Written) -> ast.Module:
    """Return the syntax tree of a definition with the `+` and `=` lines of a mistake applied."""
    tree = ast.parse(source)
    for statement in reversed(written.first):
        name, _, rest = statement.partition(": ")
        method = name if name.isidentifier() and rest else "forward"
        _function(tree.body[0], method).body[:0] = ast.parse(rest if method == name else statement).body
    for expression in written.back:
        given = ast.parse(expression, mode="eval").body
        _GiveBack(given).generic_visit(_function(tree.body[0], "forward"))
    return ast.fix_missing_locations(tree)


def _function(definition: ast.stmt, method: str) -> ast.FunctionDef:
    """Return the method of a class with this name. For a function, "forward" means the function itself.

    Raises:
        KeyError: the definition has no such method.
    """
    if isinstance(definition, ast.FunctionDef):
        return {"forward": definition}[method]
    methods = {node.name: node for node in getattr(definition, "body", ()) if isinstance(node, ast.FunctionDef)}
    return methods[method]


class _GiveBack(ast.NodeTransformer):
    """Replaces each `return x` of a function by `result = x; return EXPRESSION`."""

    def __init__(self, expression: ast.expr) -> None:
        self.expression = expression

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # what an inner function returns is its own

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        kept = ast.Assign([ast.Name("result", ast.Store())], node.value or ast.Constant(None))
        return [kept, ast.Return(self.expression)]
