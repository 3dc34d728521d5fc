"""`grader build --watch`: builds again after each change, and prints the changed cells of the student notebooks."""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat

from grader.build.links import BADGE_CELL
from grader.commands.console import Terminal
from grader.course import shipped_packages
from grader.paths import own_lessons
from grader.submission.cells import Role, role

PAUSE = 0.5  # seconds between two looks at the files
LEFT_OUT = (Role.TOOLS, Role.CHECK, Role.CARRY_ON, Role.PROVIDED)  # cells that the author did not write

Cells = Mapping[tuple[str, str], str]  # assignment and id of a cell → its source


def watch(root: Path, terminal: Terminal) -> None:
    """Build now and after each change, until a KeyboardInterrupt.

    Each build is a separate process, because Python imports a changed declaration only once.
    """
    for _ in changes(root):
        before = student_cells(root)
        subprocess.run([sys.executable, "-m", "grader", "build"], cwd=root, check=False)
        for (name, cell), source in student_cells(root).items():
            if before.get((name, cell)) != source:
                terminal.say(f"── {name}, cell {cell}\n{source}\n")
        terminal.note("waiting for a change; press Ctrl-C to stop")


def changes(root: Path) -> Iterator[None]:
    """Yield once at the beginning, and again each time a script or a declaration is written, added or removed."""
    known: Mapping[Path, int] = {}
    while True:
        now = write_times(root)
        if now != known:
            known = now
            yield
        else:
            time.sleep(PAUSE)


def write_times(root: Path) -> dict[Path, int]:
    """Map each file that an author edits to the time of its last change, in nanoseconds."""
    folders = [own] if (own := own_lessons()) else shipped_packages().values()
    files = [*(root / "solutions").glob("*.py"), *(file for folder in folders for file in folder.rglob("*.py"))]
    times = {}
    for file in files:
        try:
            times[file] = file.stat().st_mtime_ns
        except FileNotFoundError:  # an editor replaces it at this moment
            continue
    return times


def student_cells(root: Path) -> Cells:
    """Return the sources of the student notebooks' cells, except cells that the build generates.

    The keys are the name of the notebook and the id of the cell.
    """
    books = ((path.stem, nbformat.read(path, as_version=4)) for path in sorted((root / "notebooks").glob("*/*.ipynb")))
    return {
        (name, cell.id): cell.source
        for name, book in books
        for cell in book.cells
        if cell.id != BADGE_CELL and role(cell.id) not in LEFT_OUT
    }
