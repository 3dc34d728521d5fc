from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from typer.testing import CliRunner

from grader.cli import app
from grader.sandbox.device import JOB_BYTES, NoDevice, jobs_on, resolve_device

without_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")


@without_gpu
def test_auto_is_the_cpu_where_there_is_no_gpu_and_cuda_is_refused() -> None:
    assert resolve_device("auto") == resolve_device("cpu") == "cpu"
    with pytest.raises(NoDevice, match=r"no CUDA device is visible to torch .*--device cpu"):
        resolve_device("cuda")


def test_for_the_cpu_no_gpu_is_looked_for(monkeypatch) -> None:
    """That starts the driver, and a process that has done it must not fork its workers."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: pytest.fail("it looked"))
    assert resolve_device("cpu") == "cpu"


@without_gpu
@pytest.mark.parametrize("command", ["check", "grade"])
def test_cuda_without_a_gpu_is_wrong_use(command) -> None:
    notebook = Path("examples/submitted/full-marks/1-attention/1-attention.ipynb").resolve()
    result = CliRunner().invoke(app, [command, str(notebook), "--device", "cuda"])
    assert result.exit_code == 2
    assert result.output.startswith("grader: no CUDA device is visible")
    assert result.output.count("\n") == 1


def test_a_gpu_is_taken_where_there_is_one(monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto") == resolve_device("cuda") == "cuda"
    assert resolve_device("cpu") == "cpu"


@pytest.mark.parametrize(("shares", "jobs"), [(0.5, 1), (3.5, 3), (100, 8)])
def test_no_more_jobs_than_the_gpu_has_memory_for(shares, jobs, monkeypatch) -> None:
    properties = SimpleNamespace(total_memory=int(shares * JOB_BYTES))
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    assert jobs_on("cuda", 8) == jobs
    assert jobs_on("cpu", 8) == 8
