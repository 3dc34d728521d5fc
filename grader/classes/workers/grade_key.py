"""Makes the key under which a rerun finds a grade, from all that the grade depends on."""

import platform
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import grader
from grader.paths import own_lessons

# A grade depends on every module of grader/ and attention/ except these: they run before or after the
# grading, or only pass submissions and grades on. A new module is part of the key until somebody adds it to
# this list.
NOT_IN_A_GRADE = (
    "__main__.py",
    "build",  # it only makes the student notebook, whose bytes are part of the key
    "classes",
    "cli.py",
    "commands",
    "report",
    "secret.py",  # it only reads the secret, which is part of the key
    "serve",
    "shipped",  # copies for `grader init`
)
PACKAGES = ("torch", "numpy", "matplotlib", "scikit-learn", "ipython", "papermill")


def grade_key(submission_sha256: str, *others: str) -> str:
    """Join a submission's digest and a digest of `others`, all else that a grade depends on, into its key."""
    return f"{submission_sha256}-{sha256(chr(31).join(others).encode()).hexdigest()}"


def code_digest(released: bytes) -> str:
    """Return a digest of the grader, lessons, reference code and packages here, and of a student notebook's bytes."""
    return sha256(_installed_code(own_lessons()).encode() + released).hexdigest()


@cache
def _installed_code(lessons: Path | None) -> str:
    """Return a digest of the versions of Python and PACKAGES and of the code of the grader, `attention` and the course's `lessons`."""
    import attention

    packages = [version(name) for name in PACKAGES]
    digest = sha256(f"{platform.python_version()}{packages}{grader.__version__}".encode())
    folders = (Path(grader.__file__).parent, Path(attention.__file__).parent, lessons)
    digest.update(source_digest(*filter(None, folders)).encode())
    return digest.hexdigest()


def source_digest(*folders: Path) -> str:
    """Return a digest of all source code that a grade depends on, file by file; of grader/, attention/ and lessons/."""
    digest = sha256()
    for folder in folders:
        for file in graded_sources(folder):
            digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def graded_sources(package: Path) -> Iterator[Path]:
    """Yield the modules of a package that a grade depends on: all but those in NOT_IN_A_GRADE."""
    for file in sorted(package.rglob("*.py")):
        if file.relative_to(package).parts[0] not in NOT_IN_A_GRADE:
            yield file
