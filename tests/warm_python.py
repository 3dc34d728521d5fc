"""Programs of Python in forks of one process that has imported what they need: each that starts anew takes seconds for that."""

from __future__ import annotations

import atexit
import json
import os
import select
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 1200  # seconds, for what hangs alone
# Reads a line of JSON for each program, forks, and answers with its exit status. The fork leaves the loop and ends as Python does.
FORKING = """
import gc, json, os, runpy, sys, warnings
import grader.cli, grader.commands.grade, grader.commands.export, grader.commands.report, grader.report.page
import nbgrader.apps.nbgraderapp
gc.collect()
gc.freeze()
for line in sys.stdin:
    told = json.loads(line)
    pid = os.fork()
    if not pid:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
else:
    sys.exit()
os.chdir(told["folder"])
os.environ.clear()
os.environ.update(told["environment"])
for number, file in enumerate(told["files"]):
    os.dup2(os.open(file, os.O_WRONLY | os.O_APPEND if number else os.O_RDONLY), number)
sys.stdin = open(0)
if told["strict"]:
    warnings.simplefilter("error")
first, *sys.argv[1:] = told["arguments"]
if first.endswith(".py"):
    sys.argv[0] = first
    runpy.run_path(first, run_name="__main__")
else:
    runpy.run_module(first, run_name="__main__", alter_sys=True)
"""


class Ran(NamedTuple):
    """How a program ended, and what it printed."""

    returncode: int
    out: str
    err: str

    @property
    def output(self) -> str:
        """What it printed to standard output, and then what to standard error."""
        return self.out + self.err


def run_python(
    *arguments: str, folder: Path, environment: Mapping[str, str], told: str = "", strict: bool = False
) -> Ran:
    """Run a module or a file of Python in a process of its own.

    Args:
        arguments: the module's name or the file's path, and then the program's own arguments.
        folder: in which it runs.
        environment: all of its environment, but for what Python reads as it starts.
        told: what it finds in standard input.
        strict: whether its warnings are errors.
    """
    file = tempfile.NamedTemporaryFile
    with file("w") as given, file("r") as said, file("r") as complained:
        given.write(told)
        given.flush()
        line = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": dict(environment),
            "files": [given.name, said.name, complained.name],
            "strict": strict,
        }
        return Ran(_status(json.dumps(line)), said.read(), complained.read())


def run_line(command: str, folder: Path, environment: Mapping[str, str]) -> Ran:
    """Run a line of the shell; where it is a command of ours or of nbgrader and no more, in a fork."""
    words = shlex.split(command, comments=True)
    if words[:1] in (["grader"], ["nbgrader"]) and not set("|&;<>$()").intersection(command):
        return run_python(*words, folder=folder, environment=environment)
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def _status(line: str) -> int:
    """Ask for a fork; return its exit status."""
    process = _forking()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
    assert ready, f"it hangs: {line}"
    return int(process.stdout.readline())


@cache
def _forking() -> subprocess.Popen[str]:
    """Start the process that forks; it ends with this one."""
    sources = os.pathsep.join([str(ROOT), str(ROOT / "source")])  # these, whichever are installed
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", FORKING],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": sources},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)  # closes its input
    return process
