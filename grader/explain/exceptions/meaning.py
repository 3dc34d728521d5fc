"""Explains an exception by the line of the student's code that raised it, or by a cause around the code.

Such a cause is a name that the code binds again, a missing package, or a system call that the sandbox refuses.
"""

import ast
import builtins
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial

from grader.explain.code.clues import Clue, clue
from grader.explain.code.read_code import Effect, Raising, Shape, number_of, statement_at, tree_of
from grader.explain.exceptions.calls import CALL_RULES, own_refusal, too_many_to_unpack
from grader.explain.exceptions.names import NAME_RULES
from grader.explain.exceptions.shapes import SHAPE_RULES
from grader.explain.exceptions.torch_errors import TORCH_RULES
from grader.explain.exceptions.values import FINDING_RULES, VALUE_RULES
from grader.judge.reach import Reach, StudentCode

# What is true of a line in another exercise is only about what this exercise handed to it.
ELSEWHERE = "A value that you pass to this code does not fit: "

EXCEPTION_RULES = (*FINDING_RULES, *NAME_RULES, *CALL_RULES, *VALUE_RULES, *SHAPE_RULES, *TORCH_RULES)
# The rules that also hold for a line in another exercise.
FOREIGN_RULES = (
    (r"^(?:\w+Error|Exception)\b", own_refusal),
    (r"ValueError: (?:too many|not enough) values to unpack", too_many_to_unpack),
    *SHAPE_RULES,
)


def meaning(
    error: str, message: str, line: str, shapes: Mapping[str, Shape], source: str, lengths: Callable[[], str] = str
) -> str:
    """Return an explanation of an exception in a sentence or two, or "" if no explanation is known.

    Args:
        error: the class of the exception.
        message: the text of the exception.
        line: the text of the line that raised it; "" if no line of the student's code did.
        shapes: the shapes of the tensors that the line names.
        source: the student's answer. A line that is not in it belongs to another exercise.
        lengths: returns a text with the two lengths that do not match in the line, or "" if they are not known.
    """
    first = (message.strip().splitlines() or [""])[0]
    foreign = bool(line) and not number_of(line, source)
    node = statement_at(line, source) if line else None
    find_clue = partial(_clue, source)
    raising = Raising(error, first, line, shapes, source, tree_of(source), node, foreign, find_clue, lengths)
    for pattern, rule in FOREIGN_RULES if foreign else EXCEPTION_RULES:
        found = re.search(pattern, f"{error}: {first}")
        if found and (says := rule(raising, found)):
            return ELSEWHERE + says[0].lower() + says[1:] if foreign else says
    return ""


def _clue(source: str, effect: Effect) -> Clue | None:
    return clue(effect, source)


LIBRARIES = frozenset("math random torch nn F np".split())
REFUSED = "[Errno 1] "  # EPERM, as the filter of system calls answers
MOST_OF_LINE = 60  # characters of the line that is quoted


def shadowed(code: StudentCode, defines: Collection[str], others: Collection[str], message: str) -> str:
    """Return a hint if an exception is caused by a name such as `len` that the student's code binds again.

    Return "" if no such name is in the line.

    Args:
        defines: the names that the exercise asks for.
        others: the names that other exercises ask for.
        message: the message for the student, which quotes the line that raised the exception.
    """
    for statement in Reach(code).statements(defines, others):
        for name in sorted(statement.binds):
            known = name in LIBRARIES or name in vars(builtins)
            node = statement.node
            is_import = isinstance(node, (ast.Import, ast.ImportFrom))
            if known and not is_import and "Error: " in message and re.search(rf"`[^`]*\b{name}\b[^`]*`", message):
                line = ast.unparse(node).partition("\n")[0][:MOST_OF_LINE]
                return (
                    f"`{name}` has another meaning here, because your code has `{line}`. "
                    "Give your own variable another name."
                )
    return ""


def not_installed(message: str) -> str:
    """Return a hint if a message reports that a package is not installed, and "" otherwise."""
    found = re.search(r"No module named '(\w+)", message)
    if not found:
        return ""
    instead = " torch.einsum, reshape and permute do the same." if found[1] == "einops" else ""
    return f"`{found[1]}` is not installed where notebooks are graded. Use what the notebook imports.{instead}"


def refused_call(message: str) -> str:
    """Return a hint if a message reports that the sandbox refused a system call, and "" otherwise."""
    if REFUSED not in message:
        return ""
    return "The sandbox in which notebooks are graded does not allow this system call. Solve the exercise without it."
