"""The device that notebooks run on: cpu or cuda."""

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
    """Turn auto, cpu or cuda into cpu or cuda.

    Raises:
        NoDevice: cuda was requested, and torch sees no CUDA device.
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

    Where `auto` finds a GPU that a sandbox cannot use, the device is the CPU, and `tell` gets the reason.

    Raises:
        NoDevice: cuda was requested, and torch sees no CUDA device.
        IsolationError: cuda was requested, and cannot be used from within the sandbox.
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
    """Return how many of these parallel jobs fit into the GPU's memory, at least one; on the CPU all of them."""
    if device == "cpu":
        return jobs
    import torch

    return max(1, min(jobs, torch.cuda.get_device_properties(0).total_memory // JOB_BYTES))
