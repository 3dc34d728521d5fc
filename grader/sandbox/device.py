"""The device that notebooks run on: "cpu" or "cuda"."""

from collections.abc import Callable

from grader.complaint import Complaint
from grader.records import Limits
from grader.sandbox.errors import IsolationError
from grader.sandbox.server import Server

# GPU memory of one job: a submission's tensors, and what the driver takes for its process.
JOB_BYTES = Limits().gpu_memory_bytes + (1 << 30)


class NoDevice(Complaint):
    """The requested device does not exist on this machine."""


def resolve_device(requested: str) -> str:
    """Return "cpu" or "cuda" for the requested device, which may be "auto".

    Raises:
        NoDevice: cuda was requested, and torch finds no CUDA device.
    """
    if requested == "cpu":
        return requested  # before torch looks for a GPU: that starts the driver, which forks then cannot use
    import torch

    has_cuda = torch.cuda.is_available()
    if requested == "cuda" and not has_cuda:
        raise NoDevice(
            f"no CUDA device is visible to torch {torch.__version__}; pass --device cpu, or see: grader doctor"
        )
    return "cuda" if has_cuda else "cpu"


def usable_device(requested: str, isolation: str, tell: Callable[[str], object]) -> str:
    """Resolve the device as `resolve_device` does, and check that a sandbox can compute on it.

    If a sandbox cannot use the GPU that `auto` finds, return "cpu" and pass the reason to `tell`.

    Raises:
        NoDevice: cuda was requested, and torch finds no CUDA device.
        IsolationError: cuda was requested, and a sandbox cannot use it.
    """
    if (device := resolve_device(requested)) == "cpu":
        return device
    try:
        with Server(isolation=isolation, device=device) as server:
            problem = server.gpu_problem()
    except IsolationError as error:
        problem = str(error)
    if not problem:
        return device
    text = f"the sandbox cannot use the GPU ({problem})"
    if requested == "cuda":
        raise IsolationError(f"{text}. No grade was written. Pass --device cpu, or see docs/gpu.md")
    tell(f"{text}, so the CPU is used; see docs/gpu.md")
    return "cpu"


def jobs_on(device: str, jobs: int) -> int:
    """Return how many of `jobs` parallel jobs can run on a device: on the CPU all, and on a GPU at least one.

    On a GPU, the number is limited by its memory.
    """
    if device == "cpu":
        return jobs
    import torch

    return max(1, min(jobs, torch.cuda.get_device_properties(0).total_memory // JOB_BYTES))
