"""What a grade depends on, as a key: the submission, the grader's own code, the packages, the settings."""

from __future__ import annotations

import platform
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import grader

# What can change a grade, beside the submission and the secret.
SOURCES = (
    "course",
    "checks",
    "submission",
    "execution",
    "evidence",
    "draw.py",
    "exercise.py",
    "follow.py",
    "grading.py",
    "later.py",
    "names.py",
    "needed.py",
)
PACKAGES = ("torch", "numpy", "matplotlib", "scikit-learn", "ipython", "papermill")


def code_digest(released: bytes) -> str:
    """A digest of the grader, the declaration, the reference, the packages, and an assignment's student notebook."""
    return sha256(_sources().encode() + released).hexdigest()


@cache
def _sources() -> str:
    packages = [version(name) for name in PACKAGES]
    digest = sha256(f"{platform.python_version()}{packages}{grader.__version__}".encode())
    import attention

    here = Path(grader.__file__).parent
    places = [*(here / name for name in SOURCES), Path(attention.__file__).parent]
    for place in places:
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def cache_key(submission_sha256: str, *others: str) -> str:
    """The key of a grade: the submission, and everything else that it depends on."""
    return f"{submission_sha256}-{sha256(chr(31).join(others).encode()).hexdigest()}"
