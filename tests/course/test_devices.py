"""Everything on a device that is not the CPU, in a process of its own: the device must be there before any gradient."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.fast_cases("not slow")
@pytest.mark.parametrize("half", ["not slow", "slow"])
def test_right_answers_probes_and_notebooks_on_a_second_device(half: str) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        half,
        "tests/course/on_second_device.py",
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
