"""Small changes to indices, slices and sizes: operators of mutants, as in mutation_operators."""

import ast
from collections.abc import Iterator

from grader.explain.mutants.operators import Change, Place
from grader.explain.mutants.phrases import number_of, ordinal_place, sentence, signed
from grader.explain.nodes import changed, is_library, literal


def index_changes(node: ast.AST, place: Place) -> Iterator[Change]:
    """Yield the changes of what stands in square brackets."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield from _sizes(node, place)
        yield from _elements(node, place)


def _elements(node: ast.Subscript, place: Place) -> Iterator[Change]:
    """Another element: the first for the last, the second for the first; another axis of a shape."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    for at, part in enumerate(parts):
        old = number_of(part)
        if not isinstance(old, int) or is_library(node.value):
            continue
        for new in {0: (1, -1), -1: (0, -2, 1), 1: (0,), -2: (-1, 0, 1)}.get(old, ()):
            other = [*parts[:at], literal(new), *parts[at + 1 :]]
            index = changed(node.slice, elts=other) if isinstance(node.slice, ast.Tuple) else other[0]
            says = _element(node, int(old), new, shape, place)
            yield Change(f"[{old}] → [{new}]", changed(node, slice=index), says)


def _sizes(node: ast.Subscript, place: Place) -> Iterator[Change]:
    """The size of another tensor in the place of a size."""
    if not (
        isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and isinstance(node.value.value, ast.Name)
    ):
        return
    own = node.value.value.id
    for name, kind in place.parameters.items():
        if name != own and kind == "Tensor" and {name, own} <= place.words.public:
            for axis in (-1, -2, 0):
                shape = changed(node.value, value=ast.Name(name, ast.Load()))
                says = sentence(f"the size of axis {signed(axis)} of {name} stood where a size of {own} is due")
                new = changed(node, value=shape, slice=literal(axis))
                yield Change(f"{own}.shape → {name}.shape[{axis}]", new, says)


def _element(node: ast.Subscript, old: int, new: int, shape: bool, place: Place) -> str:
    """Say which element was taken for which."""
    if shape and isinstance(node.value, ast.Attribute):
        of = place.words.noun(node.value.value)
        return (
            sentence(f"the size of axis {signed(new)} of {of} stood where that of axis {signed(old)} is due")
            if of
            else ""
        )
    of = place.words.noun(node.value)
    if isinstance(node.value, ast.Call):
        return sentence(f"the other one were taken of {of}") if of and new in (0, 1) else ""
    return sentence(f"{ordinal_place(new)} of {of} were read, not {ordinal_place(old)}") if of else ""
