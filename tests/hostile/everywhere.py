"""Run the hostile corpus in each tier, as root and as an ordinary user, from the checkout and from the wheel.

    python -m tests.hostile.everywhere [what pytest takes, as -k secrets]

It takes the time of the corpus eight times. The tests of the suite run it in tier full, from the checkout, as who runs them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from tests.sandbox.as_user import USER, command_as
from tests.sandbox.environments import with_wheel, without_course
from tests.wheels import build_wheel

ROOT = Path(__file__).resolve().parents[2]
CODE = ("grader", "source")
NOT_COPIED = shutil.ignore_patterns(".venv", ".git", "__pycache__", ".*_cache", "graded")


def main(arguments: list[str]) -> None:
    """Run the corpus in each way, and print how each ended."""
    with tempfile.TemporaryDirectory(prefix="everywhere-") as top:
        Path(top).chmod(0o755)
        for install in ("checkout", "wheel"):
            folder = Path(top) / install
            folder.mkdir()
            environment = with_wheel(folder, build_wheel(folder)) if install == "wheel" else without_course(folder)
            course = folder / "course"
            shutil.copytree(ROOT, course, ignore=NOT_COPIED)
            if install == "wheel":
                for name in CODE:
                    shutil.rmtree(course / name)
            for tier, user in product(("full", "partial"), (0, USER)):
                print(f"{install:9} {tier:8} {'root' if user == 0 else 'user':5}", end=" ", flush=True)
                print(_run(environment / "bin" / "python", course, folder, tier, user, arguments), flush=True)


def _run(python: Path, course: Path, folder: Path, tier: str, user: int, arguments: list[str]) -> str:
    """Run pytest in one way; return its last lines: what failed, and the sum."""
    temporary = folder / f"{tier}-{user}"
    temporary.mkdir()
    os.chown(temporary, user, user)
    options = ["-q", "-p", "no:cacheprovider", "--basetemp", str(temporary / "pytest"), *arguments]
    command = command_as(user, folder, python, "-B", "-m", "pytest", "tests/hostile", *options)
    path = f"{course}:{course / 'source'}"  # of the wheel's copy neither has the grader or the solutions
    environment = {"PATH": os.environ["PATH"], "HOME": str(temporary), "TMPDIR": str(temporary), "OMP_NUM_THREADS": "1",
                   "PYTHONPATH": path, "HOSTILE_TIER": tier,
                   "HYPOTHESIS_STORAGE_DIRECTORY": str(temporary)}  # fmt: skip
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, check=False)
    lines = (done.stdout or done.stderr).strip().splitlines()
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return "\n    ".join([lines[-1] if lines else done.stderr[-300:], *failed])


if __name__ == "__main__":
    main(sys.argv[1:])
