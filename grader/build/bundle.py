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


class Part(NamedTuple):
    """What a notebook needs of one module."""

    module: str  # "grader.judge.compare"
    source: str  # without imports from this project
    imports: dict[str, tuple[str, str]]  # name in the source → (module of an earlier part, its name there)


@cache
def bundle(*wanted: str) -> tuple[Part, ...]:
    """Return the parts of all modules that are needed, each after those that it imports from.

    Args:
        wanted: a module each, "grader.build.self_check", or some of its names: "grader.judge.compare:flatten shape".

    Raises:
        ValueError: a module or name does not exist, or modules import one another.
    """
    names: dict[str, set[str]] = {}  # of each module; an empty set: all of its names
    imports: dict[str, dict[str, tuple[str, str]]] = {}
    todo = [(module, set(some.split())) for module, _, some in (what.partition(":") for what in wanted)]
    while todo:
        module, some = todo.pop()
        known = names.get(module)
        if known is not None and (not known or (some and some <= known)):
            continue
        names[module] = (known or set()) | some if some else set()
        imports[module] = _used_imports(module, names[module])
        todo += [(there, {name}) for there, name in imports[module].values()]
    needs = {module: {there for there, _ in found.values()} for module, found in imports.items()}
    return tuple(Part(module, _extract(module, names[module]), imports[module]) for module in _in_order(needs))


@cache
def _text(module: str) -> str:
    """Return what a module runs: what it only says of types needs no code."""
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


def _used_imports(module: str, some: set[str]) -> dict[str, tuple[str, str]]:
    """Return the imports from this project that some names of a module need; that all need, if `some` is empty."""
    used = names_in(ast.parse(_extract(module, some)))
    return {name: home for name, home in _imports(module).items() if name in used}


def _extract(module: str, some: set[str]) -> str:
    return extract(_text(module), tuple(sorted(some)), module)


def _in_order(needs: dict[str, set[str]]) -> Iterator[str]:
    """Yield modules, each after those that it needs."""
    done: set[str] = set()
    while len(done) < len(needs):
        ready = [module for module in sorted(needs) if module not in done and needs[module] <= done]
        if not ready:
            raise ValueError(f"modules import one another: {', '.join(sorted(needs.keys() - done))}")
        yield from ready
        done.update(ready)
