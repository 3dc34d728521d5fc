"""Makes the zip for Gradescope's "Configure Autograder": setup.sh, run_autograder, and the grader itself.

Documentation: https://gradescope-autograders.readthedocs.io/en/latest/specs/. Gradescope unpacks the zip to
/autograder/source and runs setup.sh once and run_autograder for each submission.
"""

import json
from pathlib import Path

from grader.build.built import package_folder
from grader.build.student_zip import pack
from grader.paths import own_lessons, shipped_root

COURSE = "course"  # the folder in the zip that pip installs, and that is the course there
SETTINGS = "settings.json"
FILES = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE")
CODE = {"grader": "grader", "attention": "source/attention"}  # package → its folder in the zip

SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image. For a trial elsewhere: AUTOGRADER_ROOT.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
course="$root/source/course"

find_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3; do
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

sh "$course/grader/sandbox/install-libseccomp.sh"
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
export GRADER_TRAININGS="$root/trainings" GRADER_COURSE="$root/source/course"
"$python" -P -m grader.commands.gradescope "$root"
if [ ! -s "$results" ]; then
    # Without a score: Gradescope then says that the autograder failed, and gives no 0.
    echo '{"output": "The grader failed. You lose no points. Your instructor will run it again.",' \\
         '"stdout_visibility": "hidden"}' > "$results"
fi
"""


def autograder(root: Path, *, assignment: str, isolation: str, secret: str) -> bytes:
    """Return the zip that grades one assignment at Gradescope.

    It contains the course secret, so upload it only to Gradescope.

    Raises:
        FileNotFoundError: the assignment's notebook is not built, or a file of the grader is
            missing.
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
    sources = {notebook: root / notebook, **{name: shipped_root() / name for name in FILES}, **_code_files()}
    for name, path in sources.items():
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; install the grader again")
        files[f"{COURSE}/{name}"] = path.read_bytes()
    return pack(files, executable=("setup.sh", "run_autograder"))


def _code_files() -> dict[str, Path]:
    """Map the path in the zip to the file on the disk for each file of code.

    The code is the grader, the reference and the course's own lessons.
    """
    folders = {place: package_folder(package) for package, place in CODE.items()}
    if (own := own_lessons()) is not None:
        folders[own.name] = own
    return {
        f"{place}/{path.relative_to(folder).as_posix()}": path
        for place, folder in folders.items()
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", "shipped"} & set(path.relative_to(folder).parts)
    }
