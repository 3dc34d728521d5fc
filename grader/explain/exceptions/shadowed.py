"""Explain exceptions by what else is in the notebook: a name that has another meaning, a package that is not installed."""

import ast
import builtins
import re
from collections.abc import Collection

from grader.judge.reach import Reach, StudentCode

LIBRARIES = frozenset("math random torch nn F np".split())
MOST_OF_LINE = 60  # characters of the line that is quoted


def shadowed(code: StudentCode, defines: Collection[str], others: Collection[str], message: str) -> str:
    """Return a hint if an exception is about a name such as `len` that the student's code binds; "" if it is not.

    Args:
        defines, others: the names that the exercise, and that other exercises ask for.
        message: names the line that raised the exception.
    """
    for statement in Reach(code).statements(defines, others):
        for name in sorted(statement.binds):
            known = name in LIBRARIES or name in vars(builtins)
            node = statement.node
            is_import = isinstance(node, (ast.Import, ast.ImportFrom))
            if known and not is_import and "Error: " in message and re.search(rf"`[^`]*\b{name}\b[^`]*`", message):
                line = ast.unparse(node).partition("\n")[0][:MOST_OF_LINE]
                return f"`{name}` has another meaning here, because your code has `{line}`. Give your own variable another name."
    return ""


def not_installed(message: str) -> str:
    """Return a hint if a message says that a package is not installed; "" if it does not."""
    found = re.search(r"No module named '(\w+)", message)
    if not found:
        return ""
    instead = " torch.einsum, reshape and permute do the same." if found[1] == "einops" else ""
    return f"`{found[1]}` is not installed where notebooks are graded. Use what the notebook imports.{instead}"
