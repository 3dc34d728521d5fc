"""Find torch's built-ins in answers to exercises that ask the student to write these functions.

There are two searches. `used_builtins` reads the source: it finds a function, a method, a module, an import
under another name, or a string that is passed to getattr. `ran_builtins` reads the report of the sandbox's
tripwire (grader/execution/guest/tripwire.py): which built-ins ran while the exercise was probed, by whatever
name. Comments and other strings may mention the built-in, and other exercises may call it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from grader.declaration.builtin_names import ATTENTION_OPERATORS, BUILTINS, HEAD_OPERATORS, operators
from grader.declaration.exercise import Exercise
from grader.notebook.source_names import cached_by_source, names_bound_by, parse_statements, without_magics

HIDDEN = "something out of sight"
# The tripwire reports this as an operator if student code has switched the tripwire off.
SWITCHED_OFF = "switched off"
MOST_PARTS = 200  # nodes of a sum of string constants that are read: no name has a hundred letters


def ran_builtins(
    exercise: Exercise, builtin_calls: Iterable[tuple[str, str]], flagged: Collection[str]
) -> tuple[str, ...]:
    """List the banned built-ins that ran while an exercise was probed, by the names that students know.

    Args:
        builtin_calls: the tripwire's report, `Evidence.trips`: (operator, the other exercise whose answer
            called it); "" if no other exercise's answer did. It comes from the sandbox and cannot be trusted;
            a student gains nothing by a forged report.
        flagged: exercises that already failed because their answers call built-ins; those calls do not count
            again.
    """
    banned = {*operators(exercise.bans), SWITCHED_OFF} if exercise.bans else set()
    ran = [operator for operator, where in builtin_calls if operator in banned and where not in flagged]
    return tuple(dict.fromkeys(_student_name(operator) for operator in ran))


def complaint(used: Sequence[str]) -> str:
    """Return the sentence that tells the student what is wrong; it names only the first built-in.

    Args:
        used: the banned built-ins, by the names that students know; at least one.
    """
    if used[0] == HIDDEN:
        return "it hides what it calls from the grader, so it cannot be seen that you wrote this yourself"
    return f"it calls {used[0]}, which does what this exercise asks you to write"


def _student_name(operator: str) -> str:
    """Translate an operator of torch into the name that a student would write."""
    if operator == SWITCHED_OFF:
        return HIDDEN
    if operator in ATTENTION_OPERATORS:
        return "flex_attention" if operator == "flex_attention" else "scaled_dot_product_attention"
    if operator in HEAD_OPERATORS:
        return "nn.Transformer" if "ransformer" in operator else "nn.MultiheadAttention"
    return operator.removeprefix("aten::").removeprefix("special_").lstrip("_")


def used_builtins(exercise: Exercise, answer: str, others: Sequence[str] = ()) -> tuple[str, ...]:
    """List the banned built-ins that an answer uses, directly or through the student's own helpers.

    Args:
        answer: source of the exercise's cell.
        others: sources of the cells that the student added. A helper in them counts if the answer mentions
            it, or if another helper that counts mentions it. Answers to other exercises do not count.
    """
    banned = frozenset().union(*(BUILTINS[ban] for ban in exercise.bans))
    if not banned:
        return ()
    helpers: dict[str, ast.stmt] = {}
    for source in others:
        for statement in _statements(source):
            for name in names_bound_by(statement):
                helpers[name] = statement
    used: list[str] = []
    seen: set[int] = set()
    queue = list(_statements(answer))
    while queue:
        statement = queue.pop(0)
        if id(statement) in seen:
            continue
        seen.add(id(statement))
        for node in ast.walk(statement):
            used += [name for name in _mentioned(node) if name in banned and name not in used]
            if isinstance(node, ast.Name) and node.id in helpers:
                queue.append(helpers[node.id])
    return tuple(used)


def same_definitions(answer: str, given: str, names: Sequence[str]) -> bool:
    """Tell whether an answer defines these names as a given cell does; False if it defines none of them.

    Docstrings, and the annotations of functions, do not matter.
    """
    in_answer, in_given = (
        {name: dump for name, dump in _definition_dumps(source).items() if name in names}
        for source in (answer, given)
    )
    return bool(in_answer) and in_answer == in_given


@cached_by_source
def _definition_dumps(source: str) -> Mapping[str, str]:
    """Map each function and class to a dump of its syntax tree, without docstrings and annotations.

    Only definitions at the top level of the cell, or directly inside an `if` there (as in a carry-on cell),
    are in it.
    """
    dumps = {}
    for statement in _statements(source):
        for node in [statement, *(statement.body if isinstance(statement, ast.If) else ())]:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                # Too deep a tree, as of a sum of a thousand terms, is left out: no given cell has one.
                with suppress(RecursionError):
                    dumps[node.name] = ast.dump(_WithoutDocs().visit(node))
    return dumps


class _WithoutDocs(ast.NodeTransformer):
    """Removes docstrings, and the annotations of functions, from a syntax tree."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node


def _mentioned(node: ast.AST) -> list[str]:
    """List the names by which a node of the syntax tree, without its children, may refer to a function."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.ImportFrom):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, ast.Call) and any(isinstance(argument, ast.Constant) for argument in node.args):
        # getattr(F, "softmax"), operator.attrgetter("softmax"), vars(F).get("softmax")
        return [
            argument.value
            for argument in node.args
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
    if isinstance(node, (ast.BinOp, ast.JoinedStr)) and (text := _constant_text(node)):
        return [text]  # "scaled_dot_product" + "_attention"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return [node.slice.value] if isinstance(node.slice.value, str) else []
    return []


def _constant_text(node: ast.AST) -> str:
    """Return the text of a string constant, of a sum of string constants, or of an f-string of them.

    Return "" for any other node, where any part is empty, and for more nodes than a name that is banned has.
    """
    parts: list[str] = []
    todo = [node]
    for _ in range(MOST_PARTS):  # a loop: a sum of a thousand terms is too deep for a call
        if not todo:
            return "".join(parts)
        match todo.pop():
            case ast.Constant(value=str(text)) if text:
                parts.append(text)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                todo += (right, left)
            case ast.JoinedStr(values=[_, *_] as values):
                todo += reversed(values)
            case ast.FormattedValue(value=value):
                todo.append(value)
            case _:
                return ""
    return ""


def _statements(source: str) -> list[ast.stmt]:
    """Parse a cell to its top-level statements, magics left out; return [] if it does not parse."""
    return parse_statements(without_magics(source)) or []
