"""The device that notebooks run on: cpu or cuda."""

from __future__ import annotations

from grader.execution.server import Server
from grader.records import Limits

# GPU memory of one job: a submission's tensors, and what the driver takes for its process.
JOB_BYTES = Limits().gpu_memory_bytes + (1 << 30)


class NoDevice(Exception):
    """The requested device does not exist on this machine."""


def resolve_device(requested: str) -> str:
    """Turn auto, cpu or cuda into cpu or cuda.

    Raises:
        NoDevice: cuda was requested, and torch sees no CUDA device.
    """
    if requested == "cpu":
        return requested  # without importing torch: looking for a GPU starts its driver, which spoils forks
    import torch

    has_cuda = torch.cuda.is_available()
    if requested == "cuda" and not has_cuda:
        raise NoDevice(
            f"no CUDA device is visible to torch {torch.__version__}; pass --device cpu, or see: grader doctor"
        )
    return "cuda" if has_cuda else "cpu"


def usable_device(requested: str, isolation: str) -> str:
    """Resolve the device as `resolve_device` does, and check that a sandbox can compute on it.

    Raises:
        NoDevice: cuda was requested, and torch sees no CUDA device.
        IsolationError: the GPU cannot be used from within the sandbox.
    """
    device = resolve_device(requested)
    if device == "cuda":
        with Server(isolation=isolation, device=device) as server:
            server.require_gpu()
    return device


def jobs_on(device: str, jobs: int) -> int:
    """Reduce the number of jobs to what the GPU has memory for; at least one."""
    if device == "cpu":
        return jobs
    import torch

    return max(1, min(jobs, torch.cuda.get_device_properties(0).total_memory // JOB_BYTES))
