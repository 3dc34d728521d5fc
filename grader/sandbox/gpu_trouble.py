"""Recognise a run that failed because of the GPU, or of another process on it."""

from collections.abc import Mapping
from typing import Protocol

from grader.records import Status


class Result(Protocol):
    """The result of a cell or a probe."""

    @property
    def status(self) -> Status:
        """How it ended."""

    @property
    def error(self) -> str:
        """The exception's class."""

    @property
    def message(self) -> str:
        """The exception's text."""


# Words in PyTorch's messages when tensors of two devices meet, when the GPU's memory is used up (perhaps by another
# process), and when a kernel has failed, after which the whole process cannot use the GPU any more.
GPU_WORDS = ("cuda", "same device", "different device", "device type", "out of memory", "cublas", "cudnn", "nvidia")


def gpu_trouble(cells: Mapping[str, Result], evidence: Mapping[str, Result]) -> str:
    """Return the first failure of a run that the GPU, or another process on it, may have caused; empty if none.

    Such failures are time-outs, crashes, and exceptions whose message contains one of GPU_WORDS. A wrong
    value, or an exception without such a word, is the submission's own fault.
    """
    for name, result in (*cells.items(), *evidence.items()):
        text = f"{result.error}: {result.message}" if result.error else result.message
        if result.status in (Status.TIMEOUT, Status.DIED):
            return f"{name}: {text}"
        if result.status is Status.RAISED and any(word in text.lower() for word in GPU_WORDS):
            return f"{name}: {text}"
    return ""
