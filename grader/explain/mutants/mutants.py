"""First-order mutants of a reference: wrong answers that nobody had to declare, each with a sentence for its author."""

from __future__ import annotations  # what is compiled here inherits it

import ast
import inspect
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from grader.declare.subject import ANY_SUBJECT, Subject
from grader.explain.mutants import slips
from grader.explain.mutants.calls import other_arguments, other_axes, other_chains, steps_left_out
from grader.explain.mutants.operators import Change, Place, changes, index_changes, parameters_of
from grader.explain.mutants.phrases import Words
from grader.explain.mutants.statements import statement_changes
from grader.explain.mutants.whole_functions import function_changes
from grader.explain.nodes import Path, called, is_text, replaced, walk

MOST = 150  # of one exercise
ONE_PLACE = ", in one place of several."
MOST_ALIKE = 4  # with the same sentence: one slip in one place of several
OPERATORS = (
    slips.Slips(slips.ARITHMETIC + slips.COMPARISONS + slips.SLICES), changes, index_changes,
    other_arguments, slips.Slips(slips.STEPS_LEFT_OUT), steps_left_out, other_axes,
    slips.Slips(slips.CALLS + slips.OTHER_NAMES), other_chains, slips.of_subject("slips"), slips.unshifted,
    statement_changes, slips.Slips(slips.FORMULAS), slips.of_subject("formulas"), function_changes,
)  # fmt: skip


class Mutant(NamedTuple):
    """A wrong answer made from the reference by one small change."""

    says: str  # what a student reads
    replaces: Mapping[str, Any]  # name in the notebook → the changed definition
    effect: str  # "values" or "gradient": the values stay the same
    cost: int  # how far-fetched: 1 for a frequent slip


class Edit(NamedTuple):
    """A change at its place in a tree."""

    change: Change
    node: ast.AST
    path: Path


class Definition(NamedTuple):
    """A function or class of the reference, as source."""

    name: str
    module: ModuleType
    tree: ast.Module
    depth: int  # 0: the exercise's own; 1: called by it, and so on
    original: Any


def mutants(definitions: Sequence[Any], public: frozenset[str], subject: Subject = ANY_SUBJECT) -> tuple[Mutant, ...]:
    """Return the mutants of an exercise's definitions, the least far-fetched first; computed once per process.

    The functions that they call of their own package are changed, too. Mutants may be equivalent to the reference.

    Args:
        definitions: functions and classes whose source can be read.
        public: the names that a sentence may tell.
        subject: its words and its own slips.
    """
    return _mutants(tuple(definitions), public, subject)


def public_names(definitions: Iterable[Any]) -> frozenset[str]:
    """Return the names that a task tells: functions, their parameters, and the layers that `__init__` makes.

    Parameters that can only be given by name are the reference's own business.
    """
    names: set[str] = set()
    for definition in definitions:
        if inspect.isfunction(definition):
            names.add(definition.__name__)
        tree = ast.parse(textwrap.dedent(inspect.getsource(definition)))
        names |= _layers(tree).keys()
        names |= {
            argument.arg
            for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
            for argument in node.args.args if argument.arg != "self"
        }  # fmt: skip
    return frozenset(names)


@lru_cache(maxsize=64)
def _mutants(definitions: tuple[Any, ...], public: frozenset[str], subject: Subject) -> tuple[Mutant, ...]:
    """Do the work of `mutants`, once for the same arguments."""
    program = _Program(definitions)
    found: list[tuple[int, str, str, CodeType, Definition]] = []
    for part in program.parts:
        kept = list(edits(part.tree, public, subject, program.takes_dim))
        inside = f", in {part.name}." if part.depth and part.name in public else ""
        groups = list(_joint(kept))
        in_groups = {(id(edit.node), edit.change.joint) for group in groups for edit in group}
        for together in (*groups, *([edit] for edit in kept if edit.change.says)):
            change = together[0].change
            says = change.says if len(together) == 1 else change.joint
            if len(together) == 1 and (id(together[0].node), says) in in_groups:
                if change.cost > 1:  # a far-fetched slip in one place of several is no explanation
                    continue
                says = says.removesuffix(".") + ONE_PLACE
            if code := _compiled(together, part.tree):
                if inside and any(one[1] == says for one in found):
                    says = says.removesuffix(".") + inside
                found.append((change.cost + part.depth, says, change.effect, code, part))
    found.sort(key=lambda one: one[0])
    made: list[Mutant] = []
    alike: Counter[str] = Counter()
    for cost, says, effect, code, part in found:
        most = MOST_ALIKE if says.endswith(ONE_PLACE) else 1
        if alike[says] < most and len(made) < MOST:
            made.append(Mutant(says, program.run(code, part), effect, cost))
            alike[says] += 1
    return tuple(made)


def _joint(found: Sequence[Edit]) -> Iterator[list[Edit]]:
    """Yield the changes that one sentence describes together, where there are several and none lies within another."""
    groups: dict[str, list[Edit]] = {}
    for edit in found:
        if edit.change.joint:
            groups.setdefault(edit.change.joint, []).append(edit)
    for group in groups.values():
        nodes = {id(edit.node) for edit in group}
        nested = any(id(part) in nodes for edit in group for part in ast.walk(edit.node) if part is not edit.node)
        if len(nodes) == len(group) > 1 and not nested:
            yield group


def edits(
    tree: ast.Module,
    public: frozenset[str],
    subject: Subject = ANY_SUBJECT,
    takes_dim: frozenset[str] = frozenset(),
    checks: bool = False,
) -> Iterator[Edit]:
    """Yield every change of a program, each at its place. Docstrings and annotations are left alone.

    Args:
        public: the names that a sentence may tell.
        takes_dim: functions that have a parameter `dim`.
        checks: also change what only tests arguments and writes messages.
    """
    words = Words(public, subject)
    layers = {id(definition): _layers(definition) for definition in tree.body}
    for path, node, above in walk(tree, lambda item: is_text(item) or (not checks and _is_check(item))):
        if above:
            own = layers[id((*above, node)[1])]
            place = Place(above, words, _parameters(above), own, takes_dim)
            for operator in OPERATORS:
                for change in operator(node, place):
                    yield Edit(change, node, path)


def _is_check(node: ast.AST) -> bool:
    """Tell whether a statement does nothing but refuse wrong arguments."""
    return isinstance(node, ast.Raise) or (
        isinstance(node, ast.If) and all(isinstance(s, ast.Raise) for s in node.body)
    )


def _parameters(above: Sequence[ast.AST]) -> dict[str, str]:
    """Return the parameters of the function around a place, with their annotations."""
    return next((parameters_of(node) for node in reversed(above) if isinstance(node, ast.FunctionDef)), {})


def _layers(definition: ast.AST) -> dict[str, str]:
    """Return the attributes that __init__ sets, with the class that each is made of."""
    found: dict[str, str] = {}
    for node in ast.walk(definition):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            pairs = (
                zip(target.elts, value.elts, strict=True)
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                else [(target, value)]
            )
            for one, its in pairs:
                its = its.body if isinstance(its, ast.IfExp) else its
                if isinstance(one, ast.Attribute) and isinstance(its, ast.Call):
                    found.setdefault(one.attr, called(its))
    return found


def changed_tree(tree: ast.Module, together: Sequence[Edit]) -> ast.Module | None:
    """Return a copy of a tree with some changes, none within another; None if they change nothing."""
    if all(ast.dump(edit.change.new) == ast.dump(edit.node) for edit in together):
        return None
    for edit in together:
        tree = replaced(tree, edit.path, edit.change.new)
    return ast.fix_missing_locations(tree)


def _compiled(together: Sequence[Edit], tree: ast.Module) -> CodeType | None:
    """Compile a mutant; None if it is the same program, or none."""
    new = changed_tree(tree, together)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            return compile(new, "<mutant>", "exec") if new else None
        except (SyntaxError, ValueError, TypeError):
            return None


class _Program:
    """Definitions and all that they call of their own package, ready to run with one of them changed."""

    def __init__(self, definitions: Sequence[Any]) -> None:
        self.parts: list[Definition] = []
        for definition in definitions:
            self._collect(definition, 0)
        self.takes_dim = frozenset(
            part.name for part in self.parts if "dim" in getattr(part.original, "__annotations__", {})
        )
        self._codes = [compile(part.tree, "<reference>", "exec") for part in self.parts]

    def _collect(self, definition: Any, depth: int) -> None:
        """Append a definition and the functions that it calls, callees last; a class that it uses is taken as given."""
        module = sys.modules[definition.__module__]
        tree = ast.parse(textwrap.dedent(inspect.getsource(definition)))
        self.parts.append(Definition(definition.__name__, module, tree, depth, definition))
        package = module.__name__.split(".")[0]
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                found = module.__dict__.get(node.id)
                is_own = inspect.isfunction(found) and found.__module__.split(".")[0] == package
                if is_own and all(part.original is not found for part in self.parts):
                    self._collect(found, depth + 1)

    def run(self, code: CodeType, changed: Definition) -> Mapping[str, Any]:
        """Return the exercise's definitions anew, with one definition run from other code."""
        spaces = {part.module.__name__: dict(part.module.__dict__) for part in self.parts}
        fresh: dict[int, Any] = {}
        for part, own in reversed(list(zip(self.parts, self._codes, strict=True))):
            space = spaces[part.module.__name__]
            exec(code if part is changed else own, space)
            fresh[id(part.original)] = space[part.name]
        for space in spaces.values():
            for name, value in space.items():
                if id(value) in fresh:
                    space[name] = fresh[id(value)]
        return {part.name: fresh[id(part.original)] for part in self.parts if part.depth == 0}
