"""A notebook from papermill's call to the evidence."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext

import nbformat
import numpy
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader.records import GIVEN, Limits, Request, Status
from grader.sandbox.engine import RunPlan, session
from grader.sandbox.errors import ServerLost
from tests.warm_python import run_python


def notebook(*cells: tuple[str, str]) -> nbformat.NotebookNode:
    first = new_code_cell("device = 'auto'\nseed = 0", id="setup", metadata={"tags": ["parameters"]})
    return new_notebook(
        cells=[first, new_markdown_cell("text", id="text"), *(new_code_cell(s, id=i) for i, s in cells)]
    )


def ask(name: str, *, trial: int = 0, seconds: float = 20.0) -> Request:
    source = f"def probe({name}, t):\n    return {{'y': {name}(t)}}"
    inputs = {"t": torch.tensor([2.0, 3.0, 5.0])}
    trials = {f"{name}/values/hidden/{trial}": inputs}
    return Request(key=f"{name}/values", source=source, function="probe", trials=trials, seconds=seconds)


def run(server, book, requests=None, **more):
    parameters = {"device": "cpu", "seed": 0}
    with session(server, RunPlan(notebook=book, parameters=parameters, requests=requests or {}, **more)) as ran:
        return ran.execution


def test_parameters_outputs_and_evidence(server):
    book = notebook(("a", "def double(t):\n    return 2 * t"), ("b", "print(device, seed)\n1/0"), ("c", "40 + 2"))
    execution = run(server, book, {"a": [ask("double")]})
    assert execution.evidence["double/values/hidden/0"].values["y"].tolist() == [4.0, 6.0, 10.0]
    by_id = {cell.id: cell for cell in execution.notebook.cells}
    assert by_id["b"].outputs[0].text == "cpu 0\n"
    assert by_id["b"].outputs[1].ename == "ZeroDivisionError"
    assert by_id["b"].metadata.papermill.status == "failed"
    assert by_id["c"].outputs[0].data["text/plain"] == "42"
    assert by_id["c"].metadata.papermill.status == "completed"
    assert [cell.id for cell in execution.notebook.cells][:2] == ["setup", "injected-parameters"]
    assert (execution.isolation, execution.device) == ("full", "cpu")
    assert "papermill" not in book.metadata
    nbformat.validate(execution.notebook)


def test_each_exercise_is_probed_in_the_state_right_after_its_cell(server):
    book = notebook(
        ("one", "def one(t):\n    return t + 1"),
        ("bad", "def one(t):\n    return None\nimport os\nos._exit(1)"),
        ("two", "def two(t):\n    return one(t) + 1"),
        ("rebind", "def two(t):\n    return None"),
    )
    execution = run(server, book, {"one": [ask("one")], "two": [ask("two")]})
    assert execution.evidence["one/values/hidden/0"].values["y"].tolist() == [3.0, 4.0, 6.0]
    assert execution.evidence["two/values/hidden/0"].values["y"].tolist() == [4.0, 5.0, 7.0]
    assert execution.cells["bad"].status is Status.DIED
    shown = next(cell for cell in execution.notebook.cells if cell.id == "bad").outputs[-1].text
    assert "This cell was skipped" in shown


def test_a_helper_further_down_counts(server):
    book = notebook(("one", "def one(t):\n    return helper(t)"), ("late", "def helper(t):\n    return 7 * t"))
    execution = run(server, book, {"one": [ask("one")]})
    assert execution.evidence["one/values/hidden/0"].values["y"].tolist() == [14.0, 21.0, 35.0]


def test_what_never_gets_defined_stays_a_name_error(server):
    execution = run(server, notebook(("one", "pass")), {"one": [ask("one")], "no such cell": [ask("two")]})
    assert {evidence.error for evidence in execution.evidence.values()} == {"NameError"}
    assert len(execution.evidence) == 2


@pytest.mark.slow(held_by="tests/sandbox/test_connection.py::test_the_whole_submission_has_a_limit")
def test_a_hundred_cells_that_use_up_their_time(server):
    cells = [(f"c{n}", "while True: pass") for n in range(100)]
    started = time.monotonic()
    book = notebook(("one", "def one(t):\n    return t"), *cells, ("two", "def two(t):\n    return t"))
    execution = run(
        server, book, {"one": [ask("one")], "two": [ask("two")]}, limits=Limits(cell_seconds=1.0, seconds=4.0)
    )
    assert time.monotonic() - started < 60  # of 100 that they ask for
    assert execution.evidence["one/values/hidden/0"].status is Status.OK
    assert execution.evidence["two/values/hidden/0"].status is Status.TIMEOUT


def test_cells_may_have_a_time_of_their_own(server):
    book = notebook(("slow", "import time\ntime.sleep(0.6)\nx = 1"), ("quick", "import time\ntime.sleep(0.6)"))
    execution = run(server, book, limits=Limits(cell_seconds=0.2), cell_seconds={"slow": 20.0})
    assert execution.cells["slow"].status is Status.OK
    assert execution.cells["quick"].status is Status.TIMEOUT


@pytest.mark.parametrize(
    "source", ["# papermill_description=", "%%no_such_magic", "\ud800".encode("utf-8", "replace").decode(), "", " \n"]
)
def test_odd_sources_do_no_harm(source, server):
    execution = run(server, notebook(("odd", source), ("one", "def one(t):\n    return t")), {"one": [ask("one")]})
    assert execution.evidence["one/values/hidden/0"].status is Status.OK


@pytest.mark.slow(held_by="tests/sandbox/test_connection.py::test_a_cell_that_strikes_the_checkpoint_too_is_skipped")
def test_ten_replays_at_most(server):
    """Each of these probes kills nothing but itself, and each cell the checkpoint too: the run still ends."""
    cells = [(f"c{n}", "import os\nos.kill(os.getppid(), 9)\nos._exit(1)") for n in range(9)]
    started = time.monotonic()
    execution = run(server, notebook(("one", "def one(t):\n    return t"), *cells), {"one": [ask("one")]})
    assert execution.evidence["one/values/hidden/0"].status is Status.OK
    assert time.monotonic() - started < 120  # it ends, on a busy machine, too


@pytest.mark.slow(
    held_by="tests/sandbox/test_server.py::test_a_dead_server_is_noticed_and_the_next_submission_gets_a_new_one"
)
def test_the_server_dying_is_survived_once_and_then_a_fault(server):
    def strike(times: int) -> None:
        struck = set()
        while len(struck) < times:
            pid = server.pid
            if pid not in struck:
                time.sleep(1.0)
                os.kill(pid, signal.SIGKILL)
                struck.add(pid)
            time.sleep(0.05)

    book = notebook(("one", "def one(t):\n    return t"), ("wait", "import time\ntime.sleep(4)"))
    twice = pytest.raises(ServerLost, match="the fork server died while it served this submission, twice")
    for times, outcome in ((1, nullcontext()), (2, twice)):
        run(server, notebook())  # it lives
        thread = threading.Thread(target=strike, args=(times,))
        thread.start()
        with outcome:
            assert run(server, book, {"one": [ask("one")]}).evidence["one/values/hidden/0"].status is Status.OK
        thread.join()


def test_a_probe_draws_the_random_numbers_that_the_reference_draws(server):
    """Seed 0, for each probe anew, whatever the notebook has drawn before."""
    source = "def probe(np, random):\n    return {'y': torch.rand(3), 'a': random.random(), 'b': np.random.rand()}"
    book = notebook(("draws", "import random, torch, numpy as np\nrandom.random(), torch.rand(7), np.random.rand(7)"))
    request = Request(key="draws/values", source=source, function="probe", trials={"0": {}}, seconds=20.0)
    with session(server, RunPlan(notebook=book, parameters={"device": "cpu", "seed": 5})) as ran:
        values = ran.ask(request)["0"].values
    assert torch.equal(values["y"], torch.rand(3, generator=torch.Generator().manual_seed(0)))
    assert (values["a"], values["b"]) == (random.Random(0).random(), numpy.random.RandomState(0).rand())


def test_after_the_last_cell_more_can_be_asked_of_the_state_that_it_left(server):
    book = notebook(("one", "def one(t):\n    return t + n"), ("late", "n = 1"), ("last", "n = 2"))
    with session(server, RunPlan(notebook=book, parameters={"device": "cpu"})) as ran:
        answers = [evidence for trial in range(2) for evidence in ran.ask(ask("one", trial=trial)).values()]
        pid = ran._interpreter.pid
    assert [one.values["y"].tolist() for one in answers] == [[4.0, 5.0, 7.0]] * 2
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_papermill_finds_the_engine_by_its_name(tmp_path):
    book = notebook(("a", "print(device)"))
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(book, tmp_path / "in.ipynb")
    words = ("--engine", "isolated", "-p", "device", "cpu", "in.ipynb", "out.ipynb", "--no-progress-bar")
    ran = run_python("papermill", *words, folder=tmp_path, environment=os.environ)
    assert ran.returncode == 0, ran.err
    done = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert done.cells[-1].outputs[0].text == "cpu\n"


@pytest.mark.slow(held_by="tests/test_kill.py::test_no_sandbox_outlives_a_killed_grader")
def test_a_killed_grader_leaves_nothing_behind(tmp_path):
    """SIGKILL, in the middle of a cell that has started a daemon: all of it goes."""
    script = tmp_path / "grade.py"
    script.write_text(
        "from grader.sandbox.server import Server\nfrom grader.records import Limits\n"
        "server = Server()\npython = server.spawn(Limits(), seed=0)\nprint('ready', flush=True)\n"
        "python.run_cell(\"import subprocess\\nsubprocess.Popen(['setsid', 'sleep', '7654321'])\\nwhile True: pass\", seconds=60)\n"
    )
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    with process.stdout as output:
        assert output.readline() == "ready\n"
    deadline = time.monotonic() + 120
    while not _running("sleep\x007654321") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _running("sleep\x007654321")
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while (_running("sleep\x007654321") or _running(str(script))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _running("sleep\x007654321")
    assert not _running(str(script))


def _running(text: str) -> bool:
    found = False
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                found |= text in file.read()
        except OSError:
            continue
    return found


def test_a_given_cell_gets_the_settings_of_the_lesson_and_other_cells_keep_theirs(server):
    book = notebook(
        ("own-001", "seed = 42\nfor device in ('cuda', 'tpu'): pass\nlen = 5\nimport time"),
        ("given", "print(device, seed, len('four'), time.time() > 0)"),
        ("own-002", "print(device, seed, len)"),
        ("changes", "seed = seed + 1"),
        ("own-003", "seed = 0"),
        ("last", "print(seed)"),
    )
    given = dict.fromkeys(("setup", "given", "changes", "last"), GIVEN)
    settings = {"seed", "device", "len", "time"}
    source = "def probe(seed):\n    return {'y': seed}"
    asked = Request(key="9.1/values", source=source, function="probe", trials={"9.1/values/hidden/0": {}}, seconds=20)
    execution = run(server, book, {"last": [asked]}, origins=given, settings=settings)
    shown = {cell.id: cell.outputs[0].text for cell in execution.notebook.cells if cell.get("outputs")}
    assert shown == {"given": "cpu 0 4 True\n", "own-002": "tpu 42 5\n", "last": "1\n"}
    assert execution.evidence["9.1/values/hidden/0"].values["y"] == 1
