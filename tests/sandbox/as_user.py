"""Run a program as another user, who can reach this Python and this project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USER = 54_321  # an ordinary one
# Where Python lives in a private home, only a mount namespace lets another user see it.
REACHABLE = """
set -e
python=$(dirname "$(dirname "$(readlink -f "$1")")")
home=~root
case "$python" in
    "$home"/*)
        mkdir -p "$2/python"; mount --bind "$python" "$2/python"
        mount -t tmpfs -o mode=755 none "$home"; mkdir -p "$python"; mount --bind "$2/python" "$python";;
esac
python=$1 user=$3; shift 3
[ "$user" = 0 ] && exec "$python" "$@"
exec setpriv --reuid="$user" --regid="$user" --clear-groups "$python" "$@"
"""


def command_as(user: int, folder: Path, python: Path, *arguments: str) -> list[str]:
    """Return the command with which a user runs this Python, who can reach it and a folder.

    Skip the test if this process is not root and `user` is another one.
    """
    for path in (folder, *folder.parents, *(python.parents if python != Path(sys.executable) else ())):
        if path != Path(path.anchor) and path.owner() == Path.home().owner():
            path.chmod(path.stat().st_mode | 0o055)
    if os.getuid() == 0:
        if not shutil.which("setpriv") or not shutil.which("unshare"):
            pytest.skip("setpriv and unshare (util-linux) are not there")
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", REACHABLE, "sh",
                str(python), str(folder), str(user), *arguments]  # fmt: skip
    if user == 0:
        pytest.skip("these tests do not run as root")
    return [str(python), *arguments]


def run_as(user: int, folder: Path, program: Path, *arguments: str, python: Path = Path(sys.executable)) -> dict:
    """Run a Python program as a user, and return the JSON object that it prints last.

    Skip the test if this process is not root and `user` is another one, or if the program prints {"skip": reason}.

    Args:
        python: of the checkout, or of an environment that does without the checkout.
    """
    installed = python != Path(sys.executable)
    command = command_as(user, folder, python, str(program), *arguments)
    environment = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "HOME": str(folder)}
    if "PYTHONPATH" in os.environ and not installed:
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    done = subprocess.run(
        command,
        cwd=folder if installed else ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    if "skip" in told:
        pytest.skip(told["skip"])
    return told
