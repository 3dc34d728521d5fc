"""Global names by whose values code can tell a few steps of a training from all of it."""

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator, Sequence

from grader.submission.code.own_names import FUNCTIONS, outside_functions
from grader.submission.code.source_names import LONG, cached_by_source, free_names, parse_statements, without_magics

# IPython keeps in these what ran before, the number of steps included.
HISTORY = frozenset({"In", "Out"})
Unit = tuple[frozenset[str], frozenset[str]]  # the names that some statements read, and those that they bind


def told_names(given: Iterable[str], own: Sequence[str], first: Collection[str]) -> set[str]:
    """Return those global names: the names in `first`, what is computed from them, and all that are read and no cell binds.

    Args:
        given: the course's cells, but for those that train.
        own: the student's cells.
        first: the parameters of the notebook, and what the cells bind that train.
    """
    lent, made = [unit for source in given for unit in _units_of_given(source)], list(map(_unit_of_own, own))
    bound = {name for _, binds in (*lent, *made) for name in binds} | set(dir(builtins))
    read = {name for source in own for name in _names_read(source)}
    return spread((*lent, *made), {*first, *HISTORY, *(read - bound)})


def spread(units: Iterable[Unit], names: Collection[str]) -> set[str]:
    """Return `names` and all names bound by units that read one of these, or one that such units bind, and so on."""
    reading: dict[str, list[Unit]] = {}
    for unit in units:
        for name in unit[0]:
            reading.setdefault(name, []).append(unit)
    found, todo = set(names), list(names)
    while todo:
        for _, binds in reading.pop(todo.pop(), ()):
            todo += binds - found
            found |= binds
    return found


def names_in(node: ast.AST) -> frozenset[str]:
    """Return all names that stand in an expression or a statement."""
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))


@cached_by_source
def _units_of_given(source: str) -> Sequence[Unit]:
    """Return what each statement of a given cell reads, in its functions, too, and binds; () for a cell longer than LONG."""
    body = () if len(source) > LONG else parse_statements(without_magics(source)) or ()
    return [(free_names(ast.unparse(one)), frozenset(_bound([one]))) for one in body]


@cached_by_source
def _unit_of_own(source: str) -> Unit:
    """Return what a student's cell reads while it runs, its functions left out, and binds.

    All of it is bound where one statement reads: that one may stop the cell, or choose what is defined.
    """
    body = parse_statements(without_magics(source)) or []
    in_classes = {
        name for one in body for node in ast.walk(one) if isinstance(node, ast.ClassDef) for name in _bound(node.body)
    }
    bound = frozenset(_bound(body))
    read = {
        node.id for node in outside_functions(body) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return frozenset(read - (in_classes - bound - HISTORY)), bound


@cached_by_source
def _names_read(source: str) -> frozenset[str]:
    return free_names(source) | _unit_of_own(source)[0]


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements bind, in inner blocks, too, but not in functions and classes."""
    for node in outside_functions(body, classes=False):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)) and not isinstance(node, ast.Lambda):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
