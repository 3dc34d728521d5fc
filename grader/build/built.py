"""Remembers what the notebooks were built from, so that a build does again only what has changed.

`solutions/.built.json` has two kinds of digests. That of a lesson is of all that its notebooks depend on, and of the notebooks.
That of an exercise is of all that the numbers of its self-check are computed from: while it stays, the numbers in the
committed notebook stay, whatever the last digits are on the processor of whoever builds.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from grader.build.links import Repository
from grader.course import shipped_packages
from grader.paths import notebook_path, own_lessons

# What of grader/ the notebooks depend on. A test holds that the build imports nothing else.
BUILDING = tuple(
    "build course declare explain judge submission/cells.py submission/code complaint.py paths.py records.py".split()
)
SOURCES = (".py", ".html", ".css", ".js")
PACKAGES = ("torch", "numpy", "nbgrader", "nbformat", "jupytext")


class Built(NamedTuple):
    """What the last build was made from."""

    lessons: Mapping[str, str]  # digests by assignment
    exercises: Mapping[str, str]  # digests by exercise


def read_built(root: Path) -> Built:
    """Return the digests of the last build; none where they cannot be read."""
    try:
        known = json.loads(built_path(root).read_text("utf-8"))
        return Built(dict(known["lessons"]), dict(known["exercises"]))
    except (OSError, ValueError, TypeError, KeyError):
        return Built({}, {})


def built_text(built: Built) -> str:
    """Return what is written to `solutions/.built.json`."""
    return json.dumps(built._asdict(), indent=1) + "\n"


def built_path(root: Path) -> Path:
    return root / "solutions" / ".built.json"


def digest(root: Path, assignment: str, repository: Repository | None) -> str:
    """Return a digest of all that a lesson's notebooks depend on, and of the notebooks."""
    digest = sha256(repr([repository, *map(release, PACKAGES)]).encode())
    for name, content in _files(root, assignment):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _files(root: Path, assignment: str) -> Iterator[tuple[str, bytes]]:
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
        yield page.relative_to(root).as_posix(), b""  # a lesson may link to it
    made = (root / "solutions" / assignment / f"{assignment}.ipynb", notebook_path(root, assignment))
    for file in (root / "solutions" / f"{assignment}.py", *sorted((root / "assets").glob("*.*")), *made):
        yield file.relative_to(root).as_posix(), file.read_bytes() if file.is_file() else b""


def package_folder(package: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(package)
    return Path(spec.origin).parent


def release(package: str) -> str:
    """Return the version of a package, for whatever device it was compiled."""
    return version(package).partition("+")[0]
