"""Find the course and its files, and write files so that no reader sees a half-written file."""

import os
import time
from pathlib import Path

OUR_PACKAGES = ("grader", "attention")  # what an installed course adds to Python: the grader, and the solutions
PARTIAL = ".tmp"  # how the name of a half-written file ends
OWN_LESSONS = "lessons"  # the folder of a course with its own lessons, and the package that it is imported as
STALE_SECONDS = 3600.0  # age from which on a half-written file counts as left by a killed run


def course_root() -> Path:
    """Return the course's folder.

    It is $GRADER_COURSE, or else the nearest folder that contains solutions/ and notebooks/. The search goes upwards
    from the working directory, and then from the folder of this module.

    Raises:
        FileNotFoundError: no such folder was found, or $GRADER_COURSE contains neither solutions/ nor notebooks/.
    """
    if chosen := os.environ.get("GRADER_COURSE"):
        if not any((Path(chosen) / name).is_dir() for name in ("solutions", "notebooks")):
            raise FileNotFoundError(
                f"GRADER_COURSE={chosen} is not a course: it contains neither solutions/ nor notebooks/"
            )
        return Path(chosen)
    for start in (Path.cwd(), Path(__file__).resolve().parent):
        for folder in (start, *start.parents):
            if (folder / "solutions").is_dir() and (folder / "notebooks").is_dir():
                return folder
    raise FileNotFoundError(
        "this is not a course. Run the command in the course's folder, set GRADER_COURSE to it, or create a course "
        "with `grader init FOLDER`."
    )


def own_lessons() -> Path | None:
    """Return the folder lessons/ of the course.

    Return None if there is no course or no such folder. The course then uses
    the grader's own lessons.
    """
    try:
        folder = course_root() / OWN_LESSONS
    except FileNotFoundError:
        return None
    return folder.resolve() if folder.is_dir() else None


def shipped_root() -> Path:
    """Return the folder with the grader's own lessons: in the installed package, or else in the checkout."""
    package = Path(__file__).resolve().parent
    shipped = package / "shipped"  # pyproject.toml puts it into the wheel
    return shipped if shipped.is_dir() else package.parent


def notebook_path(root: Path, assignment: str) -> Path:
    """Return the path of an assignment's student notebook."""
    return root / "notebooks" / assignment / f"{assignment}.ipynb"


def write_atomically(path: Path, content: str | bytes, *, mode: int | None = None) -> None:
    """Write a file under a temporary name and then rename it, so that no reader ever sees half a file at `path`.

    Create its folder first. A killed run may leave the temporary file, whose name ends in PARTIAL. If an OSError is
    raised, for example because the disk is full, no temporary file is left.

    Args:
        mode: the file's permissions, from its first byte on; None for the usual permissions of a new file (umask).
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}{PARTIAL}")
    try:
        if mode is not None:
            partial.unlink(missing_ok=True)
            os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            partial.chmod(mode)
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def is_stale_partial(entry: os.DirEntry[str]) -> bool:
    """Return True if an entry is a half-written file that is older than STALE_SECONDS.

    Raises:
        OSError: the file no longer exists.
    """
    return entry.name.endswith(PARTIAL) and time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE_SECONDS
