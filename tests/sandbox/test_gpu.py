"""The sandbox with a GPU, as far as a machine without one can test it; the other tests are in tests/gpu."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from grader.records import Limits, Request, Status
from grader.sandbox import visible_gpu
from grader.sandbox.device import usable_device
from grader.sandbox.engine import RunPlan, gpu_trouble, session
from grader.sandbox.errors import IsolationError
from grader.sandbox.guest import gpu as guest
from grader.sandbox.guest import server as guest_server
from grader.sandbox.sandbox_description import describe_sandbox
from grader.sandbox.server import Server

UNUSED = "libBrokenLocale.so.1"  # of every glibc


@pytest.fixture
def machine(tmp_path):
    """A root with the nodes of two GPUs, and a driver where Kubernetes puts it, linked to where it really lies."""
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / "dev").mkdir(exist_ok=True)
        (tmp_path / "dev" / name).touch()
    (tmp_path / "dev/nvidia-caps").mkdir()
    (tmp_path / "opt/driver").mkdir(parents=True)
    (tmp_path / "opt/driver/libcuda.so.1").touch()
    (tmp_path / "usr/local/nvidia/lib64").mkdir(parents=True)
    (tmp_path / "usr/local/nvidia/lib64/libcuda.so.1").symlink_to("../../../../opt/driver/libcuda.so.1")
    (tmp_path / "somewhere").mkdir()
    return tmp_path


def test_nodes_and_driver_are_shown_and_nothing_else(machine):
    shown = visible_gpu.visible_gpu(
        machine, {"LD_LIBRARY_PATH": "/somewhere:relative:", "SECRET": "x", "CUDA_VISIBLE_DEVICES": "1"}
    )
    nodes = ("nvidia-caps", "nvidia-uvm", "nvidia0", "nvidia1", "nvidiactl")
    assert shown.devices == tuple(f"/dev/{name}" for name in nodes)
    assert shown.libraries == ("/usr/local/nvidia/lib64", "/opt/driver")
    assert shown.environment["LD_LIBRARY_PATH"] == "/usr/local/nvidia/lib64"
    assert shown.environment["CUDA_VISIBLE_DEVICES"] == "1"
    assert "SECRET" not in shown.environment


def test_the_operators_library_path_counts_where_the_driver_is_on_it(machine):
    (machine / "somewhere/libnvidia-ml.so.1").touch()
    shown = visible_gpu.visible_gpu(machine, {"LD_LIBRARY_PATH": "/somewhere"})
    assert shown.libraries == ("/somewhere", "/usr/local/nvidia/lib64", "/opt/driver")


def test_the_sandbox_gets_what_is_shown_of_a_gpu_and_only_for_cuda(monkeypatch):
    # Paths that exist here stand in for a driver's: bound, writable for Landlock where they are devices.
    graphics = visible_gpu.VisibleGpu(devices=("/dev/nvidia0",), libraries=("/etc",), environment={"A": "b"})
    monkeypatch.setattr(visible_gpu, "visible_gpu", lambda: graphics)
    boot, server = describe_sandbox("full", "cuda", "/home/student")
    assert "/dev/nvidia0" in boot["devices"]
    assert "/dev/nvidia0" in server["write"]
    assert "/etc" in boot["binds"]
    assert boot["environment"]["A"] == "b"
    boot, server = describe_sandbox("full", "cpu", "/home/student")
    assert "/dev/nvidia0" not in boot["devices"] + server["write"]
    assert "/etc" not in boot["binds"]
    assert boot["environment"]["CUDA_VISIBLE_DEVICES"] == ""


def test_the_driver_is_hidden_from_who_is_graded_on_the_cpu(machine, monkeypatch, server):
    folder = machine / "usr/lib/x86_64-linux-gnu"
    folder.mkdir(parents=True)
    (folder / "libcuda.so.580").touch()
    (folder / "libcuda.so.1").symlink_to("libcuda.so.580")
    assert visible_gpu.driver(machine) == {str(folder / "libcuda.so.580")}
    # A library that nothing here needs stands in for the driver's.
    stand_in = next(path for folder in ("lib64", "lib/*-linux-gnu") for path in Path("/usr").glob(f"{folder}/{UNUSED}"))
    with monkeypatch.context() as patched:
        patched.setattr(visible_gpu, "driver", lambda: {str(stand_in.resolve())})
        with Server(isolation="full") as without:
            assert "file too short" in load(without)
    assert load(server) == "loaded"  # which may start it again: another test may have killed it


def load(server: Server) -> str:
    sandbox = server.spawn(Limits(), seed=0)
    try:
        result = sandbox.run_cell(f"import ctypes\nctypes.CDLL('{UNUSED}')\nprint('loaded')", seconds=20)
        return result.message or result.outputs[0]["text"].strip()
    finally:
        sandbox.kill()


def test_the_fork_server_counts_no_gpus(monkeypatch):
    def starts_the_driver(*_, **__):
        raise AssertionError("a first backward pass starts the driver, and a thread of it")

    monkeypatch.setattr(torch.autograd.Variable, "_execution_engine", None)
    monkeypatch.setattr(torch.autograd, "backward", starts_the_driver)
    guest_server._train_once()


NAMES_A_THREAD = """
import threading
named = threading.Event()
thread = threading.Thread(target=named.wait)
thread.start()
for path in (f"/proc/self/task/{thread.native_id}/comm", "/proc/1/mem", "/proc/self/task/new", "/usr/lib/new"):
    try:
        with open(path, "w") as file:
            file.write("cuda")
        print("written")
    except OSError as error:
        print(type(error).__name__)
named.set()
"""


def test_only_on_a_gpu_a_thread_gets_a_name(server):
    """The driver names one of its own when it starts, and else refuses to."""

    def told_by(on: Server) -> list[str]:
        sandbox = on.spawn(Limits(), seed=0)
        try:
            return sandbox.run_cell(NAMES_A_THREAD, seconds=20).outputs[0]["text"].split()
        finally:
            sandbox.kill()

    with Server(isolation="full", device="cuda") as gpu:
        first, *others = told_by(gpu)
    assert first == "written"
    assert told_by(server) == ["PermissionError", *others]
    assert "written" not in others
    assert len(others) == 3


PREPARES = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from guest import gpu
gpu.prepare(1 << 30)
print(torch.is_deterministic_algorithms_warn_only_enabled(), "torch._inductor" in sys.modules)
"""


def test_a_new_interpreter_imports_no_compiler():
    """PyTorch's own switch for repeatable results imports it: five seconds in each sandbox, beside CUDA's .4."""
    done = subprocess.run(
        [sys.executable, "-c", PREPARES, guest_server.__file__.rsplit("/", 2)[0]], capture_output=True, text=True
    )
    assert done.stdout.split() == ["True", "False"], done.stderr


def test_an_open_gpu_is_seen_past_pytorch(tmp_path):
    (tmp_path / "3").symlink_to("/dev/nvidiactl")  # a process that has only counted the GPUs
    (tmp_path / "4").symlink_to("/tmp/nvidia-uvm")
    assert not guest.driver_is_open(str(tmp_path))
    (tmp_path / "5").symlink_to("/dev/nvidia-uvm")
    assert guest.driver_is_open(str(tmp_path))
    assert not guest.driver_is_open(str(tmp_path / "none"))


@pytest.mark.parametrize("before", [None, "1"])
def test_no_gpu_is_visible_while_the_server_warms_up(before, monkeypatch):
    name = "CUDA_VISIBLE_DEVICES"
    monkeypatch.delenv(name, raising=False) if before is None else monkeypatch.setenv(name, before)
    with guest.hidden():
        assert os.environ[name] == ""
    assert os.environ.get(name) == before


def test_a_probe_in_place_leaves_the_random_numbers_alone():
    def drawn():
        return random.random(), numpy.random.rand(), torch.rand(()).item()

    states = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    expected = drawn()
    random.setstate(states[0])
    numpy.random.set_state(states[1])
    torch.set_rng_state(states[2])
    with guest.same_random_numbers():
        drawn()
    assert drawn() == expected


def test_float32_is_float32():
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        torch.backends.cudnn.allow_tf32 = True
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True
        guest.compute_exactly()
        assert torch.get_float32_matmul_precision() == "highest"
        assert not torch.backends.cuda.matmul.allow_tf32
        assert not torch.backends.cudnn.allow_tf32
        assert not torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction
        assert not torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
    finally:
        torch.set_float32_matmul_precision(before)


@dataclass(frozen=True)
class Result:
    status: Status
    error: str = ""
    message: str = ""


@pytest.mark.parametrize(
    "result",
    [
        Result(Status.TIMEOUT, message="it took more than 10 s and was stopped"),
        Result(Status.DIED, message="Python ended"),
        Result(Status.RAISED, "OutOfMemoryError", "CUDA out of memory. Tried to allocate 20.00 MiB."),
        Result(Status.RAISED, "RuntimeError", "Expected all tensors to be on the same device, but found at least two"),
        Result(Status.RAISED, "AcceleratorError", "CUDA error: device-side assert triggered"),
        Result(Status.RAISED, "TypeError", "can't convert cuda:0 device type tensor to numpy."),
    ],
)  # fmt: skip
def test_what_may_be_the_gpus_doing(result):
    fine = Result(Status.OK)
    assert gpu_trouble({"a": fine}, {"1.4/values/hidden/0": result}).startswith("1.4/values/hidden/0: ")
    assert gpu_trouble({"a": result}, {}).startswith("a: ")


def test_what_is_not():
    unsolved = Result(Status.RAISED, "NotImplementedError", "TODO 1.4")
    wrong = Result(Status.RAISED, "RuntimeError", "The size of tensor a (3) must match the size of tensor b (5)")
    assert gpu_trouble({"a": unsolved, "b": wrong}, {"c": Result(Status.REFUSED, message="too large")}) == ""


@pytest.fixture
def told_of_a_gpu(server):
    """The server believes in a GPU that is not there: a stand-in for one that fails."""
    server.device = "cuda"
    yield server
    server.device = "cpu"


def test_where_the_sandbox_cannot_reach_the_gpu_auto_takes_the_cpu_and_cuda_says_why(monkeypatch):
    if torch.version.cuda:
        pytest.skip("this PyTorch may find a GPU")
    monkeypatch.setattr("grader.sandbox.device.resolve_device", lambda requested: "cuda")
    told: list[str] = []
    assert usable_device("auto", "full", told.append) == "cpu"
    with pytest.raises(IsolationError, match=r"cannot use the GPU \(.*CUDA.*--device cpu"):
        usable_device("cuda", "full", told.append)
    assert len(told) == 1
    assert "so the CPU is used" in told[0]


def test_where_the_gpu_fails_the_cpu_decides(told_of_a_gpu):
    cells = [
        new_code_cell("device = 'auto'", id="setup", metadata={"tags": ["parameters"]}),
        new_code_cell("print(device)\nimport torch\nx = torch.ones(2, device=device)", id="exercise"),
    ]
    request = Request(
        key="1.1/values",
        source="def probe(x, t):\n    return {'y': x + t}",
        function="probe",
        trials={"1.1/values/hidden/0": {"t": torch.tensor([2.0, 3.0])}},
        seconds=20.0,
    )
    plan = RunPlan(
        notebook=new_notebook(cells=cells), parameters={"device": "cuda", "seed": 0}, requests={"exercise": [request]}
    )
    with session(told_of_a_gpu, plan) as ran:
        execution = ran.execution
    assert execution.device == "cpu"
    assert execution.moved.startswith("exercise: ")
    assert execution.evidence["1.1/values/hidden/0"].values["y"].tolist() == [3.0, 4.0]
    assert execution.notebook.cells[-1].outputs[0].text == "cpu\n"
