"""What students get, as one zip: `make release`, or `python -m grader.build.student_zip dist`.

The same files give the same bytes on every machine: members are sorted, stored as they are (compressed bytes depend on
the library), and carry one fixed date.
"""

from __future__ import annotations

import io
import sys
import tomllib
import zipfile
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader.build.errors import BuildError
from grader.course import lessons
from grader.paths import course_root, notebook_path, write_atomically

DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can hold
FIGURES = ("*.svg", "*.png")


def bundle(root: Path) -> tuple[str, bytes]:
    """The bundle's name without its suffix, and the zip.

    Raises:
        BuildError: a notebook was never built, or pyproject.toml does not say what students install.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    name = project["project"]["name"]
    files = {
        "README.md": (root / "docs" / "students.md").read_bytes(),
        "requirements.txt": _requirements(project).encode(),
        "environment.yml": _environment(project).encode(),
        "LICENSE": (root / "LICENSE").read_bytes(),
    }
    for lesson in lessons().values():
        notebook = notebook_path(root, lesson.assignment)
        if not notebook.is_file():
            raise BuildError(f"{notebook} is missing; run: grader build")
        files[notebook.name] = notebook.read_bytes()
    for pattern in FIGURES:
        files |= {f"assets/{path.name}": path.read_bytes() for path in (root / "assets").glob(pattern)}
    return name, pack({f"{name}/{path}": content for path, content in files.items()})


def pack(files: dict[str, bytes], executable: tuple[str, ...] = ()) -> bytes:
    """A zip of these files, the same bytes every time."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as archive:
        for path, content in sorted(files.items()):
            info = zipfile.ZipInfo(path, DATE)
            info.create_system = 3  # Unix, wherever it is made
            info.external_attr = (0o100755 if path in executable else 0o100644) << 16
            archive.writestr(info, content)
    return held.getvalue()


def _needed(project: dict) -> list[str]:
    """What students install, with the ranges of the project's own dependencies."""
    extras = project["project"].get("optional-dependencies", {}).values()
    declared = [*project["project"]["dependencies"], *(one for extra in extras for one in extra)]
    ranges = {canonicalize_name(Requirement(one).name): one for one in declared}
    try:
        return [ranges[canonicalize_name(name)] for name in project["tool"]["course"]["students"]]
    except KeyError as error:
        raise BuildError(
            f"pyproject.toml: {error} is missing; [tool.course] students names what students install, and each "
            "of it must be among the dependencies"
        ) from error


def _requirements(project: dict) -> str:
    return "\n".join(["# python -m pip install -r requirements.txt", *_needed(project), ""])


def _environment(project: dict) -> str:
    python = project["project"]["requires-python"]
    return (
        "# conda env create -f environment.yml\n"
        "name: attention-students\nchannels:\n  - conda-forge\n"
        f"dependencies:\n  - python{python}\n  - pip\n  - pip:\n      - -r requirements.txt\n"
    )


def main() -> None:
    """Write the bundle into a folder and say where."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    try:
        name, content = bundle(course_root())
    except (BuildError, FileNotFoundError) as error:
        sys.exit(f"release: {error}")
    path = folder / f"{name}.zip"
    write_atomically(path, content)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
