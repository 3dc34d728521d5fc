"""Records the sources of the notebooks, so that a build repeats only what has changed.

`solutions/.built.json` contains two kinds of digests. The digest of a lesson covers its
notebooks and everything that they depend on. The digest of an exercise covers everything that
the numbers of its self-check are computed from. While that digest is the same, the numbers in
the committed notebook are kept, even if this processor would compute other last digits.
"""

import ast
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from grader.build.links import Repository
from grader.build.provided import PROJECT
from grader.build.script_texts import GLOSSARY
from grader.build.slim import slim
from grader.course import shipped_packages
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.judge.call_probe import parameters
from grader.paths import notebook_path, own_lessons

# What of grader/ the notebooks depend on. A test holds that the build imports nothing else.
BUILDING = tuple(
    "build course declare explain judge sandbox/guest/calling.py submission/cells.py submission/code "
    "complaint.py paths.py records.py".split()
)
SOURCES = (".py", ".html", ".css", ".js")
PACKAGES = ("torch", "numpy", "nbgrader", "nbformat", "jupytext")
COMPUTING = ("grader.build.self_check_numbers", "grader.build.other_rounding")  # the numbers of self-checks


class Built(NamedTuple):
    """The digests of the lessons and exercises at the last build."""

    lessons: Mapping[str, str]  # digests by assignment
    exercises: Mapping[str, str]  # digests by exercise


def read_built(root: Path) -> Built:
    """Return the digests of the last build, or no digests if the file cannot be read."""
    try:
        known = json.loads(built_path(root).read_text("utf-8"))
        return Built(dict(known["lessons"]), dict(known["exercises"]))
    except (OSError, ValueError, TypeError, KeyError):
        return Built({}, {})


def built_text(built: Built) -> str:
    """Return the content of `solutions/.built.json` for these digests."""
    return json.dumps(built._asdict(), indent=1) + "\n"


def built_path(root: Path) -> Path:
    return root / "solutions" / ".built.json"


def digest(root: Path, assignment: str, repository: Repository | None) -> str:
    """Return a digest of a lesson's notebooks, and of everything that they depend on."""
    return _digest([repository, *map(release, PACKAGES)], _files(root, assignment))


def _digest(head: object, files: Iterable[tuple[str, bytes]]) -> str:
    """Return a SHA-256 digest of the text of `head`, and of the names and contents of files."""
    digest = sha256(repr(head).encode())
    for name, content in files:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _files(root: Path, assignment: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of a lesson's notebooks, and of each file that they depend on."""
    # A lesson uses nothing of another lesson's declarations; a test holds that.
    others = {("course", folder.name) for name, folder in shipped_packages().items() if name != assignment}
    for package in map(package_folder, ("grader", "attention")):
        for file in sorted(package.rglob("*.*")):
            name = file.relative_to(package)
            if file.suffix not in SOURCES:
                continue
            if package.name != "grader" or (any(map(name.is_relative_to, BUILDING)) and name.parts[:2] not in others):
                yield f"{package.name}/{name.as_posix()}", file.read_bytes()
    if own := own_lessons():
        for file in sorted(own.rglob("*.py")):
            yield f"{own.name}/{file.relative_to(own).as_posix()}", file.read_bytes()
    for page in sorted((root / "docs").rglob("*.md")):
        # A lesson may link to a page, and may show the glossary.
        yield page.relative_to(root).as_posix(), page.read_bytes() if page == root / GLOSSARY else b""
    made = (root / "solutions" / assignment / f"{assignment}.ipynb", notebook_path(root, assignment))
    for file in (root / "solutions" / f"{assignment}.py", *sorted((root / "assets").glob("*.*")), *made):
        yield file.relative_to(root).as_posix(), file.read_bytes() if file.is_file() else b""


def package_folder(package: str) -> Path:
    """Return the folder of an installed package, without importing it.

    Raises:
        ModuleNotFoundError: no such module is installed.
    """
    return module_file(package).parent


def release(package: str) -> str:
    """Return the version of a package without a local suffix: "2.9.1" for "2.9.1+cpu".

    PyTorch's suffix names the device that it was compiled for.
    """
    return version(package).partition("+")[0]


def exercise_digest(lesson: Lesson, exercise: Exercise) -> str:
    """Return a digest of everything that an exercise's self-check is computed from.

    That includes PyTorch's version, without its device, because wrong answers raise errors with
    PyTorch's own texts.
    """
    modules = reached_modules({*COMPUTING, *declared_in(lesson, exercise), *_of_reference(lesson, exercise)})
    code = ((module, slim(module_file(module).read_text("utf-8")).encode()) for module in sorted(modules))
    return _digest([release("torch"), sorted(lesson.definitions)], code)


def declared_in(lesson: Lesson, exercise: Exercise) -> list[str]:
    """Return the names of the modules that declare an exercise, recognised by a global with this exercise.

    A module that also has the lesson as a global is left out, unless there is no other module.
    """
    holding = [
        name
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in PROJECT and any(one is exercise for one in vars(module).values())
    ]
    own = [name for name in holding if all(one is not lesson for one in vars(sys.modules[name]).values())]
    return own or holding


def _of_reference(lesson: Lesson, exercise: Exercise) -> Iterator[str]:
    """Yield the modules that define those parts of the reference that the exercise's probes use.

    A probe may also use reference code of other exercises.
    """
    for check in exercise.checks:
        for parameter in parameters(check.probe):
            definition = lesson.reference.get(check.names.get(parameter, parameter))
            if definition is not None:
                yield getattr(definition, "__module__", type(definition).__module__)


def reached_modules(modules: Iterable[str]) -> set[str]:
    """Return the modules of this project among `modules`, and all modules of this project that they import.

    Indirect imports are included.
    """
    reached: set[str] = set()
    todo = [module for module in modules if module.partition(".")[0] in PROJECT]
    while todo:
        module = todo.pop()
        if module not in reached:
            reached.add(module)
            todo += _imports(module)
    return reached


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Return the names of the project's modules that a module imports, also inside functions."""
    found: list[str] = []
    for node in ast.walk(ast.parse(module_file(module).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [_module_of(node.module, alias.name) for alias in node.names]
    return tuple(name for name in found if name.partition(".")[0] in PROJECT)


@cache
def _module_of(module: str, name: str) -> str:
    """Return the module that `from module import name` imports.

    This is `module.name` if such a module exists, and `module` otherwise.
    """
    inner = f"{module}.{name}"
    if module.partition(".")[0] not in PROJECT or module_file(module).name != "__init__.py":
        return module
    return inner if find_spec(inner) else module


@cache
def module_file(module: str) -> Path:
    """Return the file of a module or package, without importing it.

    Raises:
        ModuleNotFoundError: no such module is installed.
    """
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return Path(spec.origin)
