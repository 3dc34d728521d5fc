"""Cells, checkpoints, probes."""

from __future__ import annotations

import itertools
import math
import os
import re
import signal
import time
from contextlib import suppress

import psutil
import pytest
import torch

from grader.classes.workers.worker import reserve_core
from grader.records import GIVEN, OWN, Evidence, Limits, Origin, Request, Status
from grader.sandbox import connection
from grader.sandbox.replies import parse_reply


def probed(
    python, source: str, inputs=None, *, key: str = "1.1/values", seconds: float = 20.0, group: str = ""
) -> Evidence:
    """What comes back for a request with one trial."""
    return trials_of(python, source, inputs or {}, key=key, seconds=seconds, group=group)[0]


def trials_of(python, source: str, *trials: dict, key: str = "1.1/values", seconds: float = 20.0, group: str = ""):
    """What comes back for each of the trials of one request."""
    keyed = {f"{key}/hidden/{number}": inputs for number, inputs in enumerate(trials)}
    request = Request(key=key, source=source, function="probe", trials=keyed, seconds=seconds, group=group)
    got = python.call(request)
    assert [evidence.key for evidence in got.values()] == list(got) == list(keyed)
    return list(got.values())


ENDS = {
    "os._exit": "import os\nos._exit(0)",
    "a segfault": "import ctypes\nctypes.string_at(0)",
    "a signal to itself": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "an abort": "import os\nos.abort()",
    "a C stack overflow": "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self): return repr(self)\n"
    "import ctypes\nctypes.CDLL(None).abort()",
    "killing all it can": "import os\nos.kill(-1, 9)\nos._exit(1)",
}
HANGS = {
    "a loop": "while True: pass",
    "a loop that ignores interrupts": (
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "C code that holds the GIL": "(2 ** 10**9) ** 10**9",
    "a stopped process": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "sleep": "import time\ntime.sleep(1000)",
    "a closed channel": "import os, time\nos.closerange(3, 200)\ntime.sleep(1000)",
}


def test_a_cell_changes_the_state_and_the_next_one_sees_it(python, said):
    python.run_cell("x = 41", seconds=20)
    assert said(python, "x + 1") == "42"


def test_an_exception_is_reported_and_the_state_goes_on(python, said):
    result = python.run_cell("y = 1\n{}['key']", seconds=20)
    assert (result.status, result.error, result.message) == (Status.RAISED, "KeyError", "'key'")
    assert result.outputs[-1]["output_type"] == "error"
    assert said(python, "y") == "1"


def test_syntax_errors_are_reported(python):
    result = python.run_cell("def (", seconds=20)
    assert (result.status, result.error) == (Status.RAISED, "SyntaxError")


@pytest.mark.parametrize("source", ["exit()", "quit()", "import sys; sys.exit(3)", "raise SystemExit"])
def test_exit_ends_its_cell_alone(source, python, said):
    python.run_cell("x = 7", seconds=20)
    result = python.run_cell(source, seconds=20)
    assert (result.status, result.error) == (Status.RAISED, "SystemExit")
    assert said(python, "x") == "7"


@pytest.mark.parametrize("name", ENDS)
def test_after_a_death_the_state_is_the_one_before(name, python, said):
    python.run_cell("x = 5", seconds=20)
    result = python.run_cell(f"x = 6\n{ENDS[name]}", seconds=20)
    assert result.status is Status.DIED
    assert said(python, "x") == "5"


@pytest.mark.fast_cases("a loop", "a loop that ignores interrupts", "a closed channel")
@pytest.mark.parametrize("name", HANGS)
def test_after_a_time_out_the_state_is_the_one_before(name, python, said):
    python.run_cell("x = 5", seconds=20)
    started = time.monotonic()
    result = python.run_cell(f"x = 6\n{HANGS[name]}", seconds=1.0)
    assert result.status is Status.TIMEOUT
    assert result.message == "it took more than 1 s and was stopped"
    assert time.monotonic() - started < 120  # the machine may be busy; these would take for ever
    assert said(python, "x") == "5"


@pytest.mark.parametrize("strike", [signal.SIGKILL, signal.SIGSTOP])
def test_a_cell_that_strikes_the_checkpoint_too_is_skipped(strike, python, said):
    python.run_cell("x = 5", seconds=20)
    result = python.run_cell(f"import os\nos.kill(os.getppid(), {strike:d})\nos._exit(1)", seconds=20)
    assert result.status is Status.DIED
    assert said(python, "x") == "5"


def test_what_strikes_after_its_cell_costs_that_cell(python, said):
    python.run_cell("x = 5", seconds=20)
    python.run_cell("x = 6\nimport os, threading\nthreading.Timer(0.2, lambda: os._exit(1)).start()", seconds=20)
    assert all_ended(python.pid)
    assert said(python, "x") == "5"


def all_ended(init: int) -> bool:
    """Wait until no process of a sandbox runs any more; tell whether that came."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with suppress(psutil.NoSuchProcess):  # it has just gone
            states = [one.status() for one in psutil.Process(init).children(recursive=True)]
            if set(states) <= {psutil.STATUS_ZOMBIE}:
                return True
        time.sleep(0.02)
    return False


def test_a_fork_that_comes_out_of_its_cell_ends_there(python, said):
    python.run_cell("import os\nx = os.fork()", seconds=20)
    assert int(said(python, "x")) > 0


def test_a_probe_sees_the_state_and_leaves_it_alone(python, said):
    python.run_cell("def double(x):\n    seen.append(x)\n    return 2 * x\nseen = []", seconds=20)
    inputs = {"t": torch.tensor([[1.5, -2.0, 3.0]])}
    evidence = probed(python, "def probe(double, t):\n    return {'twice': double(t)}", inputs)
    assert evidence.status is Status.OK
    assert torch.equal(evidence.values["twice"], torch.tensor([[3.0, -4.0, 6.0]]))
    assert said(python, "seen") == "[]"


def test_a_probe_has_the_names_that_it_is_promised(python):
    source = (
        "from __future__ import annotations\n"
        "def probe(t: Tensor, f: Callable[..., Mapping[str, Any]] = None):\n"
        "    return {'y': F.relu(nn.Identity()(torch.abs(t))), 'n': math.sqrt(4.0)}"
    )
    evidence = probed(python, source, {"t": torch.ones(2), "f": None})
    assert evidence.values["n"] == 2.0


def test_what_is_not_defined_is_a_name_error(python):
    evidence = probed(python, "def probe(attention):\n    return {}")
    assert (evidence.status, evidence.error) == (Status.RAISED, "NameError")
    assert evidence.message == "name 'attention' is not defined"


def test_what_a_probe_raises_comes_back_with_its_bases(python):
    evidence = probed(python, "def probe():\n    class Mine(ValueError): pass\n    raise Mine('d_k')")
    assert (evidence.status, evidence.error, evidence.message) == (Status.RAISED, "Mine", "d_k")
    assert evidence.lineage[:2] == ("Mine", "ValueError")


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("import os; os._exit(0)", Status.DIED),
        ("while True: pass", Status.TIMEOUT),
        ("import sys; sys.exit()", Status.RAISED),
    ],
)
def test_a_probe_that_fails_costs_itself_alone(end, status, python):
    python.run_cell("x = 3", seconds=20)
    first = probed(python, f"def probe():\n    {end}", seconds=1.0)
    second = probed(python, "def probe(x):\n    return {'x': x}", key="1.1/values")
    assert (first.status, second.values) == (status, {"x": 3})


@pytest.mark.parametrize(
    ("end", "status"),
    [("import os; os._exit(0)", Status.DIED), ("import sys; sys.exit()", Status.RAISED), ("[][0]", Status.RAISED)],
)
def test_a_trial_that_fails_costs_no_other_trial(end, status, python):
    """Each trial before and after it sees the state of the notebook, and the probe's inputs for that trial."""
    python.run_cell("x = 3", seconds=20)
    source = f"def probe(x, t, ends):\n    if ends:\n        {end}\n    return {{'y': x * t}}"
    trials = [{"t": torch.tensor([float(n)]), "ends": n in (1, 4)} for n in range(5)]
    got = trials_of(python, source, *trials)
    assert [evidence.status for evidence in got] == [Status.OK, status, Status.OK, Status.OK, status]
    assert [evidence.values["y"].item() for evidence in got if evidence.status is Status.OK] == [0.0, 6.0, 9.0]


def test_after_a_trial_that_hangs_the_rest_of_the_check_is_not_run(python, said):
    python.run_cell("x = 3", seconds=20)
    source = "def probe(t):\n    while t: pass\n    return {'t': t}"
    started = time.monotonic()
    got = trials_of(python, source, *({"t": n} for n in (0, 1, 1, 0)), seconds=1.0)
    assert [evidence.status for evidence in got] == [Status.OK, *[Status.TIMEOUT] * 3]
    assert {evidence.message for evidence in got[1:]} == {"it took more than 1 s and was stopped"}
    assert time.monotonic() - started < 30  # the machine may be busy
    assert said(python, "x") == "3"


def test_each_trial_has_the_whole_time(python):
    source = "def probe(t):\n    import time\n    time.sleep(0.7)\n    return {'t': t}"
    got = trials_of(python, source, *({"t": n} for n in range(3)), seconds=1.5)
    assert [evidence.values for evidence in got] == [{"t": 0}, {"t": 1}, {"t": 2}]
    assert all(evidence.seconds > 0.6 for evidence in got)


def test_all_trials_together_have_the_time_of_the_submission(spawn):
    python = spawn(seconds=4.0)
    source = "def probe(t):\n    import time\n    time.sleep(1.0)\n    return {'t': t}"
    got = trials_of(python, source, *({"t": n} for n in range(60)), seconds=20)
    assert (got[0].status, got[-1].status) == (Status.OK, Status.TIMEOUT)


def test_trials_share_a_fork_and_each_begins_as_the_first(python):
    source = (
        "def probe(seen):\n    seen.append(torch.is_grad_enabled())\n    torch.set_grad_enabled(False)\n"
        "    return {'seen': list(seen), 'r': torch.rand(2)}"
    )
    python.run_cell("seen = []", seconds=20)
    first, second = trials_of(python, source, {}, {})
    assert (first.values["seen"], second.values["seen"]) == ([True], [True, True])
    assert torch.equal(first.values["r"], second.values["r"])


def test_a_probe_cannot_kill_what_it_was_forked_from(python, said):
    python.run_cell("x = 3", seconds=20)
    attempt = probed(python, "def probe():\n    import os\n    os.kill(os.getppid(), 9)\n    return {}")
    assert (attempt.status, attempt.error) == (Status.RAISED, "PermissionError")
    assert said(python, "x") == "3"


def test_what_a_probe_leaves_running_is_gone(python, said):
    source = "def probe():\n    import subprocess\n    subprocess.Popen(['sleep', '77'])\n    return {}"
    assert probed(python, source).status is Status.OK
    look = "print([open(f'/proc/{p}/comm').read() for p in os.listdir('/proc') if p.isdigit()])"
    assert "sleep" not in said(python, f"import os\n{look}")


def test_requests_of_one_group_share_a_fork_until_one_hangs(python):
    python.run_cell("seen = []", seconds=20)
    source = "def probe(seen):\n    seen.append(1)\n    return {'seen': len(seen)}"
    hangs = "def probe(seen):\n    while True: pass"

    numbers = itertools.count()

    def seen(group: str, source: str = source, seconds: float = 20.0) -> dict | None:
        key = f"1.1/values{next(numbers)}"
        return probed(python, source, key=key, group=group, seconds=seconds).values

    assert [seen("1.1"), seen("1.1"), seen("1.2"), seen("1.2")] == [{"seen": n} for n in (1, 2, 1, 2)]
    assert [seen(""), seen("")] == [{"seen": 1}, {"seen": 1}]
    seen("1.1"), seen("1.1", hangs, 0.5)
    assert seen("1.1") == {"seen": 1}


PROCESS = "import os\nprint(os.getpid())"


def test_given_cells_and_answers_share_a_process_and_the_students_own_have_a_checkpoint(python, said):
    def process(origin: Origin) -> str:
        return python.run_cell(PROCESS, seconds=20, origin=origin).outputs[0]["text"]

    answer = Origin(who="1.1", defines=("f",))
    first = process(GIVEN)
    assert process(answer) == process(GIVEN) == first
    assert process(OWN) != first


@pytest.mark.parametrize("source", ["while True: pass", "import os\nos._exit(0)"])
def test_what_hangs_or_dies_without_a_checkpoint_costs_no_other_cell(python, said, source):
    python.run_cell("x = 1", seconds=20, origin=GIVEN)
    python.run_cell("x += 1", seconds=20, origin=GIVEN)
    assert python.run_cell(f"x = 77\n{source}", seconds=1, origin=GIVEN).status in (Status.TIMEOUT, Status.DIED)
    assert said(python, "x") == "2"
    pids = {python.run_cell(PROCESS, seconds=20, origin=GIVEN).outputs[0]["text"] for _ in range(3)}
    assert len(pids) == 3  # it has learnt: from now on each cell has its checkpoint
    assert python.run_cell(f"x = 77\n{source}", seconds=1, origin=GIVEN).status in (Status.TIMEOUT, Status.DIED)
    assert said(python, "x") == "2"


def test_what_took_long_is_kept_in_a_checkpoint(python):
    count = "import time\nruns = open('runs', 'a+')\nruns.write('x')\nruns.close()\ntime.sleep(1.1)"
    python.run_cell(count, seconds=20, origin=GIVEN)
    for _ in range(2):
        assert python.run_cell("while True: pass", seconds=1, origin=GIVEN).status is Status.TIMEOUT
    assert python.run_cell("print(open('runs').read())", seconds=20).outputs[0]["text"] == "x\n"


def test_probes_draw_the_same_numbers_each_time(python):
    source = "def probe():\n    return {'r': torch.rand(3)}"
    first, second = (probed(python, source, key=f"1.1/values{n}").values["r"] for n in (0, 1))
    assert torch.equal(first, second)


def test_nan_and_inf_are_values(python):
    source = "def probe(t):\n    return {'t': t / 0, 'nan': math.nan, 'minus': -math.inf, 'none': None, 'yes': True}"
    values = probed(python, source, {"t": torch.tensor([1.0, -1.0, 0.0])}).values
    assert values["t"].tolist()[:2] == [math.inf, -math.inf]
    assert values["t"][2].isnan()
    assert math.isnan(values["nan"])
    assert (values["minus"], values["none"], values["yes"]) == (-math.inf, None, True)


REFUSED = {
    "complex": ("torch.ones(2, dtype=torch.complex64)", "complex64"),
    "sparse": ("torch.eye(3).to_sparse()", "sparse"),
    "meta": ("torch.ones(3, device='meta')", "meta device"),
    "expanded": ("torch.ones(1).expand(2**38)", "far more numbers"),
    "quantized": ("torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)", "qint8"),
    "an object": ("object()", "an object"),
    "an array": ("__import__('numpy').ones(3)", "ndarray"),
    "nested": ("deep()", "deep"),
    "a huge text": ("'x' * 2**30", "1 MiB came back"),
    "a huge integer": ("10**5000", "digits"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_evidence_is_refused_in_words(name, spawn):
    python = spawn(evidence_bytes=1 << 20)
    value, message = REFUSED[name]
    source = f"def deep():\n    x = []\n    for _ in range(99): x = [x]\n    return x\ndef probe():\n    return {{'v': {value}}}"
    evidence = probed(python, source)
    assert evidence.status in (Status.REFUSED, Status.RAISED), evidence
    assert re.search(message, evidence.message), evidence


def test_half_precision_comes_back_as_it_is(python):
    source = "def probe(t):\n    return {'h': t.half(), 'b': t.bfloat16(), 'e': t[:0], 's': t.sum()}"
    values = probed(python, source, {"t": torch.tensor([1.5, 2.5])}).values
    assert (values["h"].dtype, values["b"].dtype) == (torch.float16, torch.bfloat16)
    assert (values["e"].shape, values["s"].item()) == ((0,), 4.0)


def test_a_subclass_that_lies_is_only_its_numbers(python):
    cell = (
        "import torch\nclass Liar(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, f, t, a=(), k=None):\n"
        "        return True\ndef lie(t): return t.as_subclass(Liar)"
    )
    python.run_cell(cell, seconds=20)
    evidence = probed(python, "def probe(lie, t):\n    return {'t': lie(t)}", {"t": torch.tensor([2.0, 3.0])})
    assert evidence.values["t"].tolist() == [2.0, 3.0]


def test_answers_are_bounded_in_total_too(spawn):
    """Each answer alone is small enough; all of them would fill the grader's memory."""
    python = spawn(evidence_bytes=8 << 20)
    source = "def probe():\n    return {'t': torch.ones(3 << 18)}"  # 3 MiB
    answers = [probed(python, source, key=f"1.1/values{n}") for n in range(4)]
    assert [answer.status for answer in answers] == [Status.OK, Status.OK, Status.REFUSED, Status.REFUSED]
    assert "over all checks together" in answers[-1].message


def test_a_process_that_has_used_cuda_goes_on_without_forks(server, said, monkeypatch):
    """A stand-in for a GPU: the guest is told that CUDA is in use, which it then cannot fork."""
    monkeypatch.setattr("grader.sandbox.connection.GPU_START_SECONDS", 0.0)  # nothing has to start
    server.device = "cuda"
    try:
        python = server.spawn(Limits(), seed=0)
        # The inputs of a probe stay where they are, too: there is no GPU to move them to, or to draw random numbers.
        python.run_cell(
            "import os, torch\ntorch.Tensor.to = lambda tensor, device: tensor\n"
            "torch.cuda.get_rng_state, torch.cuda.set_rng_state = lambda: 0, lambda state: None\n"
            "torch.manual_seed = lambda seed: None\ntorch.cuda._initialized = True",
            seconds=20,
        )
        assert said(python, "x = 5\nfirst = os.getpid()\nprint(first)") == said(python, "print(os.getpid())")
        evidence = probed(python, "def probe(x, t):\n    return {'t': t * x}", {"t": torch.ones(2)})
        assert evidence.values["t"].tolist() == [5.0, 5.0]
        assert python.run_cell("x = 6\nwhile True: pass", seconds=1).status is Status.TIMEOUT
        assert said(python, "x") == "5"  # run again from the start, without the cell that hung
        python.kill()
    finally:
        server.device = "cpu"


def test_kill_is_idempotent_and_leaves_nothing(spawn):
    python = spawn()
    python.run_cell("import subprocess\nsubprocess.Popen(['setsid', 'sleep', '78'])", seconds=20)
    python.kill()
    python.kill()
    assert not running("sleep\x0078")
    assert python.run_cell("1", seconds=5).status is Status.DIED


def test_an_init_that_sends_a_header_of_its_own_costs_the_cell_and_no_more(python, monkeypatch):
    """Student code may have taken over the init of its sandbox."""
    python.run_cell("x = 1", seconds=20)
    forged = [b'{"ending": "won"}']
    monkeypatch.setattr(
        connection, "parse_reply", lambda header, body: parse_reply(forged.pop() if forged else header, body)
    )
    assert python.run_cell("x = 2", seconds=20).status is Status.DIED
    assert python.run_cell("assert x == 1", seconds=20).status is Status.OK


def running(command: str) -> bool:
    found = False
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                found |= command in file.read()
        except OSError:
            continue
    return found


def test_the_whole_submission_has_a_limit(spawn):
    python = spawn(seconds=1.0)
    assert python.run_cell("import time\ntime.sleep(30)", seconds=20).status is Status.TIMEOUT
    result = python.run_cell("1", seconds=20)
    assert result.status is Status.TIMEOUT
    assert "the whole submission" in result.message


@pytest.mark.parametrize("threads", [1, 2])
def test_the_sandbox_is_where_its_other_side_is(threads: int, server) -> None:
    every = os.sched_getaffinity(0)
    with reserve_core():
        mine = os.sched_getaffinity(0)
        sandbox = server.spawn(Limits(threads=threads), seed=0)
        result = sandbox.run_cell("import os; sorted(os.sched_getaffinity(0))", seconds=20)
        sandbox.kill()
    assert result.outputs[0]["data"]["text/plain"] == str(sorted(mine if threads == 1 else every))
