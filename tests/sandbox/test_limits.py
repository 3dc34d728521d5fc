"""What a submission may use, in total."""

from __future__ import annotations

import time

import pytest

from grader.records import Limits, Status

MEMORY = {
    "one process": "held = bytearray(2 << 30)",
    "a shared map": "import mmap\nm = mmap.mmap(-1, 2 << 30)\nfor i in range(0, 2 << 30, 4096): m[i] = 1",
    # Where there is a control group, the kernel may kill some of the forks before the init has measured: then the rest fit.
    "many processes": (
        "import os, time\nfor _ in range(12):\n    if os.fork() == 0:\n"
        "        b = bytearray(b'x' * (100 << 20)); time.sleep(600); os._exit(0)\n"
        "os.wait()\nraise MemoryError('a fork was killed')"
    ),
    "files in scratch": "with open('/dev/shm/big', 'wb') as f:\n    for _ in range(2000): f.write(bytes(1 << 20))",
    "a tensor": "import torch\nheld = torch.ones(1 << 30)",
}
NOT_ALLOWED = "PermissionError|OSError|MemoryError|RuntimeError|BlockingIOError"


@pytest.mark.fast_cases("one process", "many processes")
@pytest.mark.parametrize("name", MEMORY)
def test_memory_in_total(name, spawn, said):
    python = spawn(memory_bytes=500 << 20)
    python.run_cell("x = 5", seconds=20)
    result = python.run_cell(MEMORY[name], seconds=120)
    assert result.status is Status.DIED or (result.status, result.error) in {
        (Status.RAISED, "MemoryError"),
        (Status.RAISED, "RuntimeError"),  # torch's own word for it
        (Status.RAISED, "OSError"),
    }, result
    assert said(python, "x") == "5"


@pytest.mark.slow(held_by="tests/sandbox/test_limits.py::test_memory_in_total")
def test_the_watchdog_alone_is_enough(spawn, said, monkeypatch):
    monkeypatch.setattr("grader.sandbox.cgroup._hierarchies", dict)
    python = spawn(memory_bytes=500 << 20)
    python.run_cell("x = 5", seconds=20)
    result = python.run_cell(MEMORY["many processes"], seconds=120)
    assert result.status is Status.DIED
    assert result.message == "it used more than 0.5 GB of memory and was stopped"
    assert said(python, "x") == "5"


def test_what_one_interpreter_takes_for_itself(python):
    if python.memory_bytes is None:
        pytest.skip("no control groups here")
    before = python.memory_bytes
    python.run_cell("held = bytearray(b'x' * (100 << 20))", seconds=20)
    assert 90 << 20 < python.memory_bytes - before < 220 << 20


def test_fifty_gigabytes_are_an_error_in_the_cell(python):
    result = python.run_cell("x = bytearray(50 << 30)", seconds=20)
    assert (result.status, result.error) == (Status.RAISED, "MemoryError")


def test_memory_that_is_shared_by_forks_counts_once(spawn):
    python = spawn(memory_bytes=600 << 20)
    source = (
        "import os, time\nheld = b'x' * (200 << 20)\n"
        "children = [os.fork() for _ in range(1)]\n"
        "for _ in range(6):\n    if os.fork() == 0:\n        time.sleep(1); os._exit(0)\n"
        "time.sleep(1.2)"
    )
    assert python.run_cell(source, seconds=20).status is Status.OK


@pytest.mark.fast_cases("import os\\nwhile True: os.fork()")
@pytest.mark.parametrize(
    "bomb",
    [
        "import os\nwhile True: os.fork()",
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()",
        "import subprocess\nwhile True: subprocess.Popen(['sleep', '60'])",
    ],
)
def test_processes_and_threads(bomb, spawn, said):
    python = spawn(processes=60)
    python.run_cell("x = 5", seconds=20)
    result = python.run_cell(bomb, seconds=3)
    assert result.status is not Status.OK
    assert said(python, "x", seconds=30) == "5"


def test_a_crowd_left_behind_does_not_cost_the_next_cell(spawn, said):
    python = spawn(processes=40)
    python.run_cell(
        "import subprocess\ntry:\n    while True: subprocess.Popen(['sleep', '60'])\nexcept OSError: pass", seconds=20
    )
    assert said(python, "1 + 1", seconds=30) == "2"


def test_scratch_in_bytes(spawn, said):
    python = spawn(scratch_bytes=30 << 20)
    result = python.run_cell(
        "with open('big', 'wb') as f:\n    for _ in range(99): f.write(bytes(1 << 20))", seconds=20
    )
    assert result.status in (Status.RAISED, Status.DIED), result
    result = python.run_cell(
        "for n in range(9):\n    with open(f'/tmp/big{n}', 'wb') as f:\n        for _ in range(20): f.write(bytes(1 << 20))",
        seconds=20,
    )
    assert (result.status, result.error) == (Status.RAISED, "OSError")


def test_scratch_in_files(spawn):
    python = spawn(scratch_files=300)
    result = python.run_cell("for n in range(999): open(f'/tmp/{n}', 'w').close()", seconds=20)
    assert (result.status, result.error) == (Status.RAISED, "OSError")


def test_open_files(spawn):
    python = spawn(open_files=64)
    result = python.run_cell("held = [open('/dev/null') for _ in range(99)]", seconds=20)
    assert (result.status, result.error) == (Status.RAISED, "OSError")


def test_cpu_time(spawn, said):
    python = spawn(cpu_seconds=1)
    python.run_cell("x = 5", seconds=20)
    result = python.run_cell("while True: pass", seconds=20)
    assert result.status is Status.DIED
    assert said(python, "x") == "5"


FLOODS = {
    "print": "for _ in range(40): print('x' * 100_000)",
    "stderr": "import sys\nfor _ in range(40): sys.stderr.write('x' * 100_000)",
    "display": "from IPython.display import display\nfor _ in range(400): display('x' * 10_000)",
    "raw": "import os\nfor _ in range(400): os.write(1, b'x' * 10_000)",
    "a program": "!yes | head -c 4000000",
    "a traceback": "raise ValueError('x' * 4_000_000)",
    "control characters": "print('\\x01' * 4_000_000)",
}


@pytest.mark.parametrize("name", FLOODS)
def test_outputs_of_a_cell(name, spawn):
    python = spawn(cell_output_bytes=100_000)
    result = python.run_cell(FLOODS[name], seconds=30)
    assert result.status in (Status.OK, Status.RAISED)
    assert len(str(result.outputs)) < 300_000


def test_outputs_of_a_submission(spawn):
    python = spawn(cell_output_bytes=100_000, output_bytes=250_000)
    results = [
        python.run_cell("print('x' * 90_000)\nimport os\n_ = os.write(1, b'y' * 9000)", seconds=20) for _ in range(6)
    ]
    assert sum(len(str(result.outputs)) for result in results) < 300_000
    assert "cut" in str(results[-1].outputs) or not results[-1].outputs


def test_a_flood_that_never_ends_is_stopped_in_time(python):
    started = time.monotonic()
    result = python.run_cell("import os\nwhile True: os.write(1, b'x' * 65536)", seconds=1.0)
    assert result.status is Status.TIMEOUT
    assert time.monotonic() - started < 120  # the machine may be busy; it would flood for ever


def test_the_grader_itself_stays_small(python):
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    python.run_cell("import os\nfor _ in range(3000): os.write(1, b'x' * 65536)", seconds=20)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_limits_reach_the_kernel(spawn, said):
    python = spawn(open_files=301, processes=97, cpu_seconds=211)
    told = said(
        python,
        "import resource as r\nprint(r.getrlimit(r.RLIMIT_NOFILE), r.getrlimit(r.RLIMIT_NPROC), r.getrlimit(r.RLIMIT_CPU))",
    )
    assert told.strip() == "(301, 301) (97, 97) (211, 211)"
    assert Limits().processes == 256
