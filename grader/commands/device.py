"""Where the notebooks run."""

from __future__ import annotations


class NoDevice(Exception):
    """The device that was asked for is not here."""


def resolve_device(asked: str) -> str:
    """cpu or cuda, from auto, cpu or cuda.

    Raises:
        NoDevice: cuda was asked for, and there is none.
    """
    import torch

    there = torch.cuda.is_available()
    if asked == "cuda" and not there:
        raise NoDevice(
            f"no CUDA device is visible to torch {torch.__version__}; pass --device cpu, or see: grader doctor"
        )
    return "cuda" if asked == "cuda" or (asked == "auto" and there) else "cpu"
