"""Makes the zip that students get: `grader students`, or `make release`.

The same files give the same bytes on every machine: the members are sorted, have one fixed date, and are not
compressed, because compressed bytes depend on the library.
"""

import io
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import nbformat
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader.build.errors import BuildError
from grader.build.links import linked_pages, repository_of, setting_of, with_pages_beside
from grader.build.self_check_cell import needs_pytorch
from grader.course import lessons
from grader.paths import notebook_path, shipped_root
from grader.submission.cells import with_server

DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can hold
NO_REPOSITORY = (
    'no Colab link can be made: set repository = "account/name" under [tool.course] in pyproject.toml, or "" for a '
    "course that is not on GitHub, and run this again"
)
ABOVE = ("# python -m pip install -r requirements.txt",)  # the packages that students install
ABOVE_PYTORCH = (
    "# On Linux that brings PyTorch with CUDA, some 6 GB. Without an NVIDIA GPU take PyTorch for the CPU first, "
    "0.8 GB:",
    "# python -m pip install torch --index-url https://download.pytorch.org/whl/cpu",
)
FIGURES = ("*.svg", "*.png")


def student_zip(root: Path, name: str = "", server: str = "") -> tuple[str, bytes]:
    """Make the zip for students, without optional lessons. Return its name without suffix, and its bytes.

    Args:
        root: the course.
        name: the zip's name, which the students' page also mentions; "" for the project's name.
        server: the server to which the notebooks' last cell submits; "" without a server.

    Raises:
        BuildError: a notebook is not built, or pyproject.toml does not list the packages that
            students install.
    """
    # A course that `grader init` made has no such files: those that came with the grader hold for it.
    of_project = root if (root / "pyproject.toml").is_file() else shipped_root()
    project = tomllib.loads((of_project / "pyproject.toml").read_text("utf-8"))
    name = name or project["project"]["name"]
    files = {"environment.yml": _environment(project).encode(), "LICENSE": (of_project / "LICENSE").read_bytes()}
    if (page := root / "docs" / "students.md").is_file():  # a course without copied lessons has none
        own_name = page.read_text("utf-8").replace(f"{project['project']['name']}.zip", f"{name}.zip")
        files["README.md"] = own_name.encode()
    declared, pytorch = lessons().values(), False
    for lesson in [one for one in declared if not one.optional] or declared:
        notebook = notebook_path(root, lesson.assignment)
        if not notebook.is_file():
            raise BuildError(f"{notebook} is missing; run: grader build")
        text = with_server(notebook.read_text("utf-8"), server)
        files |= {page: (root / "docs" / page).read_bytes() for page in linked_pages(text)}
        files[notebook.name] = with_pages_beside(text).encode()
        pytorch |= needs_pytorch(nbformat.reads(text, as_version=4))
    files["requirements.txt"] = "\n".join([*ABOVE, *_student_requirements(project, pytorch), ""]).encode()
    for pattern in FIGURES:
        files |= {f"assets/{path.name}": path.read_bytes() for path in (root / "assets").glob(pattern)}
    return name, pack({f"{name}/{path}": content for path, content in files.items()})


def handed_out(root: Path, name: str = "", server: str = "") -> tuple[str, bytes]:
    """Make the zip as `student_zip` does, if the course's address on GitHub is settled.

    Raises:
        BuildError: pyproject.toml does not state yet whether the course is on GitHub; or as for
            `student_zip`.
    """
    if repository_of(root) is None and not setting_of(root).is_none:
        raise BuildError(NO_REPOSITORY)
    return student_zip(root, name, server)


def pack(files: Mapping[str, bytes], executable: tuple[str, ...] = ()) -> bytes:
    """Return a zip of files. The same files give the same bytes.

    Args:
        files: the content of each file, by path.
        executable: the paths of files that can be run as programs.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path, content in sorted(files.items()):
            info = zipfile.ZipInfo(path, DATE)
            info.create_system = 3  # Unix, also where the zip is made on Windows
            info.external_attr = (0o100755 if path in executable else 0o100644) << 16
            archive.writestr(info, content)
    return buffer.getvalue()


def _student_requirements(project: dict, pytorch: bool) -> list[str]:
    """Return the packages that students install, with the project's version ranges.

    PyTorch is among them, with a comment on its size, only if a notebook needs it.

    Raises:
        BuildError: a package is not a dependency of the project.
    """
    extras = project["project"].get("optional-dependencies", {}).values()
    declared = [*project["project"]["dependencies"], *(line for extra in extras for line in extra)]
    ranges = {canonicalize_name(Requirement(line).name): line for line in declared}
    try:
        found = [ranges[canonicalize_name(name)] for name in project["tool"]["course"]["students"]]
    except KeyError as error:
        raise BuildError(
            f"pyproject.toml: {error} is missing; [tool.course] students names what students install, and each "
            "of it must be among the dependencies"
        ) from error
    return [*ABOVE_PYTORCH, *found] if pytorch else [line for line in found if Requirement(line).name != "torch"]


def _environment(project: dict) -> str:
    """Return the text of environment.yml for conda."""
    python = project["project"]["requires-python"]
    return (
        "# conda env create -f environment.yml\n"
        "name: attention-students\nchannels:\n  - conda-forge\n"
        f"dependencies:\n  - python{python}\n  - pip\n  - pip:\n      - -r requirements.txt\n"
    )
