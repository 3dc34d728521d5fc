"""Copies of the environment in which the tests run: with the course's wheel in it, or without the course."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def with_wheel(folder: Path, wheel: Path) -> Path:
    """Make an environment with the course's wheel instead of the checkout."""
    copy = without_course(folder)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [copy / "bin" / "python", *PIP, "install", "--no-deps", str(wheel)]
    subprocess.run(command, check=True, env=environment, cwd=folder)
    return copy


def without_course(folder: Path) -> Path:
    """Make an environment that has everything but the course."""
    copy = folder / "environment"
    shutil.copytree(sys.prefix, copy, symlinks=True, copy_function=_link_or_copy)
    for old in (copy / "lib").glob("python*/site-packages/*attention_course*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    return copy


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
