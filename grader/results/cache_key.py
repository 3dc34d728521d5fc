"""What a grade depends on, as a key: the submission, the grader's own code, the packages, the settings."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import grader

# A grade depends on every module of grader/ and attention/ but these, which run after a grade is given or only carry
# submissions and grades around. A new module counts until somebody names it here.
NOT_IN_A_GRADE = (
    "__main__.py",
    "build",  # a grade depends on what it writes, the student notebook, which is in the key
    "cli.py",
    "commands",
    "gradebook",
    "nbgrader_plugins",
    "report",
    "results",
    "secret.py",  # the secret itself is in the key
    "workers",
)
PACKAGES = ("torch", "numpy", "matplotlib", "scikit-learn", "ipython", "papermill")


def cache_key(submission_sha256: str, *others: str) -> str:
    """Return the key of a grade, made of the submission's digest and everything else that the grade depends on."""
    return f"{submission_sha256}-{sha256(chr(31).join(others).encode()).hexdigest()}"


def code_digest(released: bytes) -> str:
    """Return a digest of the grader, the lessons, the reference, the packages, and an assignment's student notebook."""
    return sha256(_installed_code().encode() + released).hexdigest()


@cache
def _installed_code() -> str:
    import attention

    packages = [version(name) for name in PACKAGES]
    digest = sha256(f"{platform.python_version()}{packages}{grader.__version__}".encode())
    digest.update(source_digest(Path(grader.__file__).parent, Path(attention.__file__).parent).encode())
    return digest.hexdigest()


def source_digest(grader_folder: Path, attention_folder: Path) -> str:
    """Return a digest of all source code that a grade depends on, file by file."""
    digest = sha256()
    for folder in (grader_folder, attention_folder):
        for file in graded_sources(folder):
            digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def graded_sources(package: Path) -> Iterator[Path]:
    """Yield the modules of a package that a grade depends on: all but those in NOT_IN_A_GRADE."""
    for file in sorted(package.rglob("*.py")):
        if file.relative_to(package).parts[0] not in NOT_IN_A_GRADE:
            yield file
