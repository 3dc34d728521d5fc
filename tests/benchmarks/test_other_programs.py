"""A benchmark that runs other programs does not wait for one that hangs."""

import sys
import time

import psutil
import pytest

from benchmarks.classes import run


def test_a_program_that_hangs_is_stopped_with_all_that_it_started(tmp_path):
    child = "import subprocess, sys; print('begun', flush=True); subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    with pytest.raises(RuntimeError, match=r"took more than 2 s[^$]*begun"):
        run([sys.executable, "-c", child], tmp_path, seconds=2)
    for _ in range(50):
        left = [
            one for one in psutil.process_iter(["cmdline"]) if "time.sleep(600)" in (one.info["cmdline"] or [""])[-1]
        ]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(left)


def test_a_program_that_fails_is_quoted(tmp_path):
    with pytest.raises(RuntimeError, match="no such thing"):
        run([sys.executable, "-c", "import sys; sys.exit('no such thing')"], tmp_path)
    run([sys.executable, "-c", "print('well')"], tmp_path)
