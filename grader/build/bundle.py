"""Collects definitions of this project, and all that they use, so that a notebook can run them without the project."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from grader.build.provided import extract, names_in
from grader.build.slim import slim
from grader.paths import OUR_PACKAGES
from grader.submission.code.source import names_bound_by


class Part(NamedTuple):
    """What a notebook needs of one module."""

    module: str  # "grader.judge.compare"
    source: str  # without imports from this project
    imports: dict[str, tuple[str, str]]  # name in the source → (module of an earlier part, its name there)


@cache
def bundle(*wanted: str) -> tuple[Part, ...]:
    """Return the parts of all modules that are needed, each after those that it imports from.

    Each of `wanted` is a module, "grader.build.self_check", or some of its names: "grader.judge.compare:flatten shape".
    Raise ValueError if a module does not define a name, or if modules import one another.
    """
    names: dict[str, set[str]] = {}  # that are needed of each module
    asked = ((module, some) for module, _, some in (what.partition(":") for what in wanted))
    todo = [(module, name) for module, some in asked for name in some.split() or _uses(module)]
    if missing := [f"{module} does not define {name}" for module, name in todo if name not in _uses(module)]:
        raise ValueError(", ".join(missing))
    while todo:
        module, name = todo.pop()
        if name not in names.setdefault(module, set()):
            names[module].add(name)
            home = _imports(module).get(name)
            todo += [home] if home else [(module, used) for used in _uses(module).get(name, ())]
    imports = {
        module: {name: home for name, home in _imports(module).items() if name in some}
        for module, some in names.items()
    }
    needs = {module: {there for there, _ in found.values()} for module, found in imports.items()}
    defined = {module: tuple(sorted(some & _uses(module).keys())) for module, some in names.items()}
    return tuple(
        Part(module, extract(_text(module), defined[module], module), imports[module]) for module in _in_order(needs)
    )


@cache
def _text(module: str) -> str:
    """Return a module's source without docstrings, comments and annotations, as `slim` makes it."""
    return slim(Path(inspect.getfile(importlib.import_module(module))).read_text("utf-8"))


@cache
def _imports(module: str) -> dict[str, tuple[str, str]]:
    """Map the names that a module imports from this project to the module that defines them, and their name there."""
    return {
        # A name that a module only imports is followed to the module that defines it.
        alias.asname or alias.name: _imports(node.module).get(alias.name, (node.module, alias.name))
        for node in ast.parse(_text(module)).body
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in OUR_PACKAGES
        for alias in node.names
    }


@cache
def _uses(module: str) -> dict[str, set[str]]:
    """Map each name that a module defines to the names in its definition."""
    nodes = [node for node in ast.parse(_text(module)).body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    return {name: names_in(node) for node in nodes for name in names_bound_by(node)}


def _in_order(needs: dict[str, set[str]]) -> Iterator[str]:
    """Yield modules, each after those that it needs; raise ValueError if some need one another."""
    done: set[str] = set()
    while len(done) < len(needs):
        ready = [module for module in sorted(needs) if module not in done and needs[module] <= done]
        if not ready:
            raise ValueError(f"modules import one another: {', '.join(sorted(needs.keys() - done))}")
        yield from ready
        done.update(ready)
