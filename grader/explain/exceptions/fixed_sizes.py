"""Sizes that are written into the code as numbers, where the inputs have others."""

import ast
import re

from grader.explain.code.read_code import Raising, called_name, calls, integer, text_of

MADE_OF_SIZES = frozenset(
    "view reshape unflatten expand repeat zeros ones full empty eye arange randn causal_mask".split()
)


def fixed_size(raising: Raising, found: re.Match) -> str:
    """Name a number in the code that is one of the two sizes that do not fit together."""
    sizes = {int(size) for size in found.groups() if size} - {0, 1}
    lines: dict[int, str] = {}
    here = set(map(ast.dump, calls(raising.node)))  # other rules speak of the line that raised
    for call in calls(raising.tree, *MADE_OF_SIZES):
        if ast.dump(call) in here:
            continue
        given = call.args[1:] if called_name(call) == "unflatten" else call.args
        given = given[:2] if called_name(call) == "arange" else given  # a step is no size
        for part in given:
            for inner in part.elts if isinstance(part, (ast.Tuple, ast.List)) else [part]:
                if integer(inner) in sizes:
                    lines[call.lineno] = (
                        f"Line {call.lineno}: the {integer(inner)} in `{text_of(call)}` is a fixed number, "
                        "and this input has another. Take the size from what is handed in."
                    )
    return lines[min(lines)] if lines else ""
