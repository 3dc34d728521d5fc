"""Whether the GPU, or a neighbour on it, came in the way of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from grader.records import Status


class Ended(Protocol):
    """A cell or a probe that came to its end, one way or another."""

    status: Status
    error: str
    message: str


# In what PyTorch says when tensors of two devices meet, when the memory of the GPU is used up (perhaps by a neighbour),
# and when a kernel has failed, after which the whole process can use the GPU no more.
SAYS = (
    "cuda",
    "same device",
    "different device",
    "device type",
    "out of memory",
    "cublas",
    "cudnn",
    "nvidia",
)


def gpu_trouble(cells: Mapping[str, Ended], evidence: Mapping[str, Ended]) -> str:
    """What went wrong in a run that may be the GPU's doing, or a neighbour's on it; empty if nothing did.

    A wrong answer, and an error that knows nothing of devices, is not the GPU's doing.
    """
    for name, ended in (*cells.items(), *evidence.items()):
        text = f"{ended.error}: {ended.message}" if ended.error else ended.message
        if ended.status in (Status.TIMEOUT, Status.DIED):
            return f"{name}: {text}"
        if ended.status is Status.RAISED and any(word in text.lower() for word in SAYS):
            return f"{name}: {text}"
    return ""
