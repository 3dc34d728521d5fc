"""Digests all that the self-check of one exercise is computed from: its declaration, its reference, and what they import."""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from grader.build.built import release
from grader.build.bundle import PROJECT
from grader.build.slim import slim
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.judge.planned_trial import parameters
from grader.paths import OWN_LESSONS

COMPUTING = ("grader.build.self_check_numbers", "grader.build.other_rounding")
PACKAGES = (*PROJECT, OWN_LESSONS)


def exercise_digest(lesson: Lesson, exercise: Exercise) -> str:
    """Return a digest of all that an exercise's self-check is computed from.

    PyTorch's version is part of it, for whatever device: what a wrong answer raises is PyTorch's own text.
    """
    digest = sha256(repr([release("torch"), sorted(lesson.definitions)]).encode())
    for module in sorted(_reached({*COMPUTING, *declared_in(lesson, exercise), *_of_reference(lesson, exercise)})):
        content = slim(_file(module).read_text("utf-8")).encode()
        digest.update(f"{module}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def declared_in(lesson: Lesson, exercise: Exercise) -> list[str]:
    """Name the modules that hold an exercise; the lesson's own, which holds all of them, only if there is no other."""
    holding = [
        name
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in PACKAGES and any(one is exercise for one in vars(module).values())
    ]
    own = [name for name in holding if all(one is not lesson for one in vars(sys.modules[name]).values())]
    return own or holding


def _of_reference(lesson: Lesson, exercise: Exercise) -> Iterator[str]:
    """Yield the modules of the definitions that the exercise's probes take, its own and other exercises'."""
    for check in exercise.checks:
        for parameter in parameters(check.probe):
            definition = lesson.reference.get(check.names.get(parameter, parameter))
            if definition is not None:
                yield getattr(definition, "__module__", type(definition).__module__)


def _reached(modules: Iterable[str]) -> set[str]:
    """Return modules of this project, and all of it that they import."""
    reached: set[str] = set()
    todo = [module for module in modules if module.partition(".")[0] in PACKAGES]
    while todo:
        module = todo.pop()
        if module not in reached:
            reached.add(module)
            todo += _imports(module)
    return reached


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Name the modules of this project that a module imports, inside its functions, too."""
    found: list[str] = []
    for node in ast.walk(ast.parse(_file(module).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [_module_of(node.module, alias.name) for alias in node.names]
    return tuple(name for name in found if name.partition(".")[0] in PACKAGES)


@cache
def _module_of(module: str, name: str) -> str:
    """Return the module that `from module import name` imports: `module.name` if there is one."""
    inner = f"{module}.{name}"
    if module.partition(".")[0] not in PACKAGES or _file(module).name != "__init__.py":
        return module
    return inner if find_spec(inner) else module


@cache
def _file(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return Path(spec.origin)
