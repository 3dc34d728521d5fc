"""Copies code of the repository into a notebook, so that the notebook needs no other file."""

import ast
import bz2
import importlib
import inspect
from base64 import b85encode
from pathlib import Path
from types import ModuleType

from grader.build.slim import is_text
from grader.paths import OUR_PACKAGES, OWN_LESSONS
from grader.submission.code.source import names_bound_by

PROJECT = (*OUR_PACKAGES, OWN_LESSONS)  # packages whose imports are left out of a notebook
LINE = 10_000  # characters of a line of compressed text: few lines, and no editor stumbles over one


def inline(what: str) -> str:
    """Return the source of a module, or of some of its names, without imports of this project.

    The source of some names includes everything that they use. If the module reads a text from a
    file next to it, the text itself replaces the file, because a notebook has no such files.

    Args:
        what: "attention.data.digits" for a whole module, or
            "attention.plots.map_plots:show_map show_curve" for some of its names.

    Raises:
        ValueError: the module or a name does not exist.
    """
    name, _, wanted = what.partition(":")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ValueError(f"provided={what!r}: {error}") from error
    source = Path(inspect.getfile(module)).read_text("utf-8")
    return extract(_with_texts_of_files(source, module), tuple(wanted.split()), what)


def _with_texts_of_files(source: str, module: ModuleType) -> str:
    """Return a source in which each statement `NAME = …` with `__file__` assigns its value, compressed."""
    lines = source.splitlines()
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.Assign) and "__file__" in names_in(node.value):
            (name,) = names_bound_by(node)
            packed = b85encode(bz2.compress(getattr(module, name).encode())).decode()
            lines[node.lineno - 1 : node.end_lineno] = [
                "import bz2",
                "from base64 import b85decode",
                f'{name} = bz2.decompress(b85decode("".join("""',
                *in_lines(packed),
                '""".split()))).decode()',
            ]
    return "\n".join(lines)


def in_lines(text: str) -> list[str]:
    """Return a compressed text, cut into lines of LINE characters."""
    return [text[start : start + LINE] for start in range(0, len(text), LINE)]


def extract(source: str, wanted: tuple[str, ...] = (), what: str = "the module") -> str:
    """Return the statements of a module that define the wanted names, and all statements that they need, in order.

    The result has neither the module's docstring nor imports from this project.

    Args:
        wanted: the names; () for all names that the module defines.
        what: the value of the script's marker, for the message.

    Raises:
        ValueError: the module does not define a wanted name.
    """
    lines = source.splitlines()
    statements = [node for node in ast.parse(source).body if not is_text(node) and not _is_import_of_project(node)]
    defined = {name: node for node in statements for name in names_bound_by(node)}
    if missing := [name for name in wanted if name not in defined]:
        raise ValueError(f"provided={what!r}: the module does not define {', '.join(missing)}")
    keep: set[ast.stmt] = set()
    used: set[str] = set()
    todo = list(wanted or (name for name in defined if not isinstance(defined[name], (ast.Import, ast.ImportFrom))))
    while todo:
        node = defined.get(todo.pop())
        if node is not None and node not in keep:
            keep.add(node)
            names = names_in(node)
            used |= names
            todo += names
    imports, body = [], []
    for node in [node for node in statements if node in keep]:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            node.names = [alias for alias in node.names if (alias.asname or alias.name).partition(".")[0] in used]
            imports.append((ast.unparse(node), False))
        else:
            text = "\n".join(lines[_first_line(node) - 1 : node.end_lineno])
            body.append((text, isinstance(node, (ast.FunctionDef, ast.ClassDef))))
    future = ["from __future__ import annotations", ""] if "from __future__ import annotations" in source else []
    return "\n".join(future) + _join([*imports, *body])


def names_in(node: ast.AST) -> set[str]:
    """Return the names that occur in code, except attributes and the names that an import binds."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def title_of(what: str) -> str:
    """Return the title of a cell of provided code: the first line of the module's docstring, without a full stop.

    The module must have a docstring.
    """
    module = importlib.import_module(what.partition(":")[0])
    return (module.__doc__ or "").strip().splitlines()[0].rstrip(".")


def _join(parts: list[tuple[str, bool]]) -> str:
    """Return the texts of statements as one text, with blank lines around functions and classes.

    Args:
        parts: the text of each statement, and True for a function or class.
    """
    text, after_block = "", False
    for part, is_block in parts:
        gap = "" if not text else "\n\n\n" if is_block or after_block else "\n"
        text, after_block = text + gap + part, is_block
    return text


def _is_import_of_project(node: ast.stmt) -> bool:
    """Return True if a statement imports from this project or from __future__, which `extract` adds itself."""
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in (*PROJECT, "__future__")
    return isinstance(node, ast.Import) and any(alias.name.partition(".")[0] in PROJECT for alias in node.names)


def _first_line(node: ast.stmt) -> int:
    """Return the number of the line where a statement begins, including its decorators."""
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
