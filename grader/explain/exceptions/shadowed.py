"""Explain exceptions by what surrounds the code: another meaning of a name, a package or a system call that is not there."""

import ast
import builtins
import re
from collections.abc import Collection

from grader.judge.reach import Reach, StudentCode

LIBRARIES = frozenset("math random torch nn F np".split())
REFUSED = "[Errno 1] "  # EPERM, as the filter of system calls answers
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


def refused_call(message: str) -> str:
    """Return a hint if a message says that the sandbox refused a system call; "" if it does not."""
    if REFUSED not in message:
        return ""
    return "The sandbox in which notebooks are graded does not allow this system call. Solve the exercise without it."
