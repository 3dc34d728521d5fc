"""Where the notebooks run."""

from __future__ import annotations

from grader.execution.server import Server
from grader.records import Limits

# Of the GPU: a submission's tensors, and what the driver takes for its process.
JOB_BYTES = Limits().gpu_memory_bytes + (1 << 30)


class NoDevice(Exception):
    """The device that was asked for is not here."""


def resolve_device(asked: str) -> str:
    """cpu or cuda, from auto, cpu or cuda.

    Raises:
        NoDevice: cuda was asked for, and there is none.
    """
    if asked == "cpu":
        return asked  # torch is not asked for a GPU: looking for one starts its driver, and spoils forks
    import torch

    there = torch.cuda.is_available()
    if asked == "cuda" and not there:
        raise NoDevice(
            f"no CUDA device is visible to torch {torch.__version__}; pass --device cpu, or see: grader doctor"
        )
    return "cuda" if there else "cpu"


def usable_device(asked: str, isolation: str) -> str:
    """As `resolve_device`, and where it is cuda, submissions can use it too.

    Raises:
        NoDevice: cuda was asked for, and there is none.
        IsolationError: the GPU cannot be used from within the sandbox.
    """
    device = resolve_device(asked)
    if device == "cuda":
        with Server(isolation=isolation, device=device) as server:
            server.require_gpu()
    return device


def jobs_on(device: str, jobs: int) -> int:
    """As many of the jobs as the GPU has memory for, and at least one."""
    if device == "cpu":
        return jobs
    import torch

    return max(1, min(jobs, torch.cuda.get_device_properties(0).total_memory // JOB_BYTES))
