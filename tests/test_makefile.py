"""`make clean` removes what can be made again, and nothing else."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MADE = (
    ".venv/bin/python",
    "dist/attention-course.zip",
    "examples/graded/gradebook.db",
    "examples/graded/.grader/secret",
    "examples/submitted/full-marks/1-attention/1-attention.ipynb",
    ".pytest_cache/README.md",
    ".mypy_cache/3.11/a.json",
    ".ruff_cache/a",
    ".hypothesis/a",
    "grader/__pycache__/cli.cpython-311.pyc",
    "tests/build/__pycache__/a.pyc",
)
KEPT = (
    ".grader/secret",
    "gradebook.db",
    "gradebook.db.2026-01-01",
    "autograded/zoe/1-attention/1-attention.ipynb",
    "feedback/zoe/1-attention/1-attention.html",
    "submitted/zoe/1-attention/1-attention.ipynb",
    "downloaded/1-attention/archive/canvas.zip",
    "notebooks/1-attention/1-attention.ipynb",
    "nbgrader_config.py",
    "grader/cli.py",
)


def test_clean_keeps_the_secret_the_gradebook_and_the_class(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in (*MADE, *KEPT):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for folder in ("benchmarks", "source", "assets"):
        (tmp_path / folder).mkdir()
    for _ in range(2):  # a second time, nothing of it is there
        subprocess.run(["make", "clean"], cwd=tmp_path, capture_output=True, text=True, check=True)
        left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
        assert left == {*KEPT, "Makefile"}


def test_git_ignores_what_clean_removes() -> None:
    names = [name for name in MADE if ".db" not in name]
    ran = subprocess.run(["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert set(ran.stdout.splitlines()) == set(names)
