"""Builds the wheel of this checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build_wheel(folder: Path) -> Path:
    """Build the wheel in a folder that has none; return its path."""
    command = ["pip", "--quiet", "--disable-pip-version-check", "wheel", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run([sys.executable, "-m", *command], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel
