"""Removes the parts of a source that have no effect when it runs.

All other parts keep their exact text, on every version of Python.
"""

import ast
from functools import cache
from itertools import accumulate
from tokenize import COMMENT, generate_tokens


@cache
def slim(source: str) -> str:
    """Return code without docstrings, other string statements, comments and empty lines.

    Annotations are removed, too. In the body of a class, where annotations define the fields, None
    replaces them. `ast.unparse` would be shorter, but its quotes in f-strings depend on the version
    of Python.
    """
    text = source.encode()
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    lines = source.split("\n")

    def span(node: ast.expr | ast.stmt | ast.arg) -> tuple[int, int]:
        last, end = node.end_lineno or 1, node.end_col_offset or 0  # which a parsed node has
        return starts[node.lineno - 1] + node.col_offset, starts[last - 1] + end

    cuts: list[tuple[int, int, bytes]] = []  # start, end and replacement
    fields: set[ast.stmt] = set()
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        texts = [one for one in body if is_text(one)] if isinstance(body, list) else []
        cuts += ((*span(one), b"pass" if [one] == body else b"") for one in texts)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns:
            arrow = text.rindex(b"->", 0, span(node.returns)[0])
            cuts.append((len(text[:arrow].rstrip()), span(node.returns)[1], b""))
        elif isinstance(node, ast.ClassDef):
            fields.update(node.body)
        elif isinstance(node, ast.arg) and node.annotation:
            cuts.append((span(node)[0] + len(node.arg.encode()), span(node)[1], b""))
        elif isinstance(node, ast.AnnAssign) and node in fields:
            cuts.append((*span(node.annotation), b"None"))
        elif isinstance(node, ast.AnnAssign):
            start, end = span(node.target)[1], span(node.annotation)[1]
            cuts.append((start, end, b"") if node.value else (*span(node), b"pass"))
    for token in generate_tokens(iter([f"{line}\n" for line in lines]).__next__):
        if token.type == COMMENT:
            row, column = token.start
            start = starts[row - 1] + len(lines[row - 1][:column].encode())
            cuts.append((start, start + len(token.string.encode()), b""))
    for start, end, instead in sorted(cuts, reverse=True):
        text = text[:start] + instead + text[end:]
    return _without_empty_lines(text.decode())


def is_text(node: ast.stmt) -> bool:
    """Return True if a statement is only a string, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _without_empty_lines(source: str) -> str:
    """Return code without empty lines and spaces at the end of lines, except those within a string."""
    texts = {
        row
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno
        for row in range(node.lineno, node.end_lineno)
    }
    lines = enumerate(source.split("\n"), 1)
    return "\n".join(line if row in texts else line.rstrip() for row, line in lines if row in texts or line.strip())
