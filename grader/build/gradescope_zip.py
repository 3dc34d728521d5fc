"""Makes the zip for Gradescope's "Configure Autograder": setup.sh, run_autograder, and the grader itself.

Documentation: https://gradescope-autograders.readthedocs.io/en/latest/specs/. Gradescope unpacks the zip to
/autograder/source and runs setup.sh once and run_autograder for each submission.
"""

from __future__ import annotations

import json
from pathlib import Path

from grader.build.student_zip import pack

COURSE = "course"  # the folder of the repository's files in the zip
SETTINGS = "settings.json"
FILES = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE")
CODE = ("grader", "source/attention")

SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image. For a trial elsewhere: AUTOGRADER_ROOT.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
course="$root/source/course"

find_python() {
    for name in python3.13 python3.12 python3.11 python3; do
        if "$name" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
}

if [ -z "$(find_python)" ]; then
    apt-get update -qq
    apt-get install -y -qq python3 python3-venv
    [ -n "$(find_python)" ] || apt-get install -y -qq python3.11 python3.11-venv || true
fi
python="$(find_python)"
if [ -z "$python" ]; then
    echo "Python 3.11 or newer is needed. Choose Ubuntu 24.04 or newer as the base image." >&2
    exit 1
fi

sh "$course/grader/execution/install-libseccomp.sh"
"$python" -m venv "$root/venv"
# PyTorch without CUDA: an image of one gigabyte rather than five.
export PIP_EXTRA_INDEX_URL="${PIP_EXTRA_INDEX_URL-https://download.pytorch.org/whl/cpu}"
"$root/venv/bin/python" -m pip install --quiet --disable-pip-version-check -c "$course/constraints.txt" "$course"
"$root/venv/bin/grader" doctor
# The reference's training: once in the image, and not for each submission.
GRADER_TRAININGS="$root/trainings" "$root/venv/bin/python" -m grader.course.trainings
"""

RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission. For a trial elsewhere: AUTOGRADER_ROOT and AUTOGRADER_PYTHON.
root="${AUTOGRADER_ROOT:-/autograder}"
python="${AUTOGRADER_PYTHON:-$root/venv/bin/python}"
results="$root/results/results.json"
mkdir -p "$root/results"
rm -f "$results"
GRADER_TRAININGS="$root/trainings" GRADER_COURSE="$root/source/course" "$python" -P -m grader.commands.gradescope "$root"
if [ ! -s "$results" ]; then
    # Without a score: Gradescope then says that the autograder failed, and gives no 0.
    echo '{"output": "The grader failed; this costs you nothing. Your instructor will run it again.",' \\
         '"stdout_visibility": "hidden"}' > "$results"
fi
"""


def autograder(root: Path, *, assignment: str, isolation: str, secret: str) -> bytes:
    """Make the zip for one assignment; upload it to Gradescope only: it holds the course secret.

    Raises:
        FileNotFoundError: the assignment's notebook is not built, or the course is not whole.
    """
    notebook = f"notebooks/{assignment}/{assignment}.ipynb"
    if not (root / notebook).is_file():
        raise FileNotFoundError(f"{root / notebook} is missing; run: grader build")
    settings = {"assignment": assignment, "isolation": isolation, "secret": secret}
    files = {
        "setup.sh": SETUP.encode(),
        "run_autograder": RUN.encode(),
        SETTINGS: (json.dumps(settings, indent=1) + "\n").encode(),
    }
    for name in (*FILES, notebook, *_code_files(root)):
        if not (root / name).is_file():
            raise FileNotFoundError(f"{root / name} is missing; run this in a whole copy of the course")
        files[f"{COURSE}/{name}"] = (root / name).read_bytes()
    return pack(files, executable=("setup.sh", "run_autograder"))


def _code_files(root: Path) -> list[str]:
    """List the files of the folders in CODE, relative to root, without __pycache__."""
    files = [path for folder in CODE for path in (root / folder).rglob("*") if path.is_file()]
    return [path.relative_to(root).as_posix() for path in files if "__pycache__" not in path.parts]
