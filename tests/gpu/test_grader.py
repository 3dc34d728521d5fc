"""The grader on a GPU: the same outcomes as on the CPU, and nobody else is hurt; needs what the grader needs."""

# ruff: noqa: E402  (what the grader needs may be missing on a machine with a GPU)
from __future__ import annotations

from pathlib import Path

import pytest
import torch

for needed in ("papermill", "nbgrader", "safetensors", "pyseccomp", "matplotlib", "sklearn", "IPython"):
    pytest.importorskip(needed)

from grader.course import lessons
from grader.grading.grade import grade, master_notebook
from grader.records import GradingSettings, Limits, Request, Status
from grader.sandbox.server import Server
from grader.sandbox.tiers import tier_problem
from grader.submission.intake import find

ROOT = Path(__file__).resolve().parents[2]
SMALL = ("full-marks", "other-style", "mask-inverted", "endless-loop", "shapes-only")


@pytest.fixture(scope="module")
def server():
    if reason := tier_problem("full"):
        pytest.skip(f"tier full is not to be had here: {reason}")
    with Server(isolation="full", device="cuda") as server:
        assert server.gpu_problem() == ""
        yield server


@pytest.fixture
def spawn(server):
    alive = []

    def start(**limits):
        alive.append(server.spawn(Limits(**limits), seed=0))
        return alive[-1]

    yield start
    for python in alive:
        python.kill()


def test_tier_partial_reaches_the_gpu():
    if reason := tier_problem("partial"):
        pytest.skip(f"tier partial is not to be had here: {reason}")
    with Server(isolation="partial", device="cuda") as server:
        assert server.gpu_problem() == ""


def adds_up(python) -> bool:
    source = "import torch\nassert torch.ones(3, device='cuda').sum().item() == 3"
    return python.run_cell(source, seconds=60).status is Status.OK


def test_inputs_are_moved_and_evidence_comes_back(spawn):
    source = "def probe(t):\n    return {'t': t + 1, 'where': t.device.type}"
    asked = Request(key="1/a", source=source, function="probe", trials={"0": {"t": torch.ones(2)}}, seconds=30)
    values = spawn().call(asked)["0"].values
    assert values["where"] == "cuda"
    assert values["t"].tolist() == [2.0, 2.0]


def test_a_notebook_that_asks_for_tensorfloat_does_not_get_it_in_a_probe(spawn):
    python = spawn()
    python.run_cell("import torch\ntorch.set_float32_matmul_precision('medium')", seconds=30)
    source = "def probe(t):\n    return {'t': t @ t}"
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(512, 512, generator=generator)
    asked = Request(key="1/a", source=source, function="probe", trials={"0": {"t": matrix}}, seconds=30)
    exact = matrix.double() @ matrix.double()
    assert (python.call(asked)["0"].values["t"] - exact).abs().max() < 1e-5 * exact.abs().max()


def test_who_wants_too_much_memory_is_told_and_the_neighbour_works(spawn):
    greedy, neighbour = spawn(gpu_memory_bytes=1 << 30), spawn()
    assert adds_up(neighbour)
    result = greedy.run_cell("import torch\nx = torch.empty(1 << 31, dtype=torch.uint8, device='cuda')", seconds=60)
    assert result.status is Status.RAISED
    assert "out of memory" in result.message
    assert adds_up(neighbour)


def test_who_wedges_the_gpu_is_stopped_and_the_neighbour_works(spawn):
    wedged, neighbour = spawn(), spawn()
    source = "import torch\nfor _ in range(10**6):\n    torch.cuda._sleep(10**9)\ntorch.cuda.synchronize()"
    assert wedged.run_cell(source, seconds=3).status is Status.TIMEOUT
    assert adds_up(neighbour)


def test_after_a_failed_kernel_the_interpreter_starts_over(spawn):
    python = spawn()
    source = "import os, torch\ntorch.zeros(2, device='cuda')[torch.tensor([7], device='cuda')].cpu()\nos._exit(1)"
    assert python.run_cell("x = 3", seconds=30).status is Status.OK
    assert python.run_cell(source, seconds=60).status is not Status.OK
    assert python.run_cell("assert x == 3", seconds=60).status is Status.OK


@pytest.mark.parametrize("student", SMALL)
def test_the_same_outcomes_as_on_the_cpu(student, server):
    """Some of the class; `python -m benchmarks.gpu` compares all of it."""
    files = [file for file in find(ROOT / "examples" / "submitted", tuple(lessons()), None) if file.student == student]
    assert files
    with Server(isolation="full", device="cpu") as cpu:
        for file in files:
            released = master_notebook(ROOT, file.assignment)
            on_cpu, on_gpu = (
                grade(
                    file,
                    server=used,
                    settings=GradingSettings(secret="gpu", device=device, tier=used.isolation),
                    released=released,
                ).grade
                for used, device in ((cpu, "cpu"), (server, "cuda"))
            )
            assert [(v.id, v.outcome) for v in on_gpu.verdicts] == [(v.id, v.outcome) for v in on_cpu.verdicts]
            assert on_gpu.score == on_cpu.score
