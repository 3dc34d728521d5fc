"""What a GPU changes inside the sandbox: exact arithmetic, a share of its memory, and no forks once it is in use.

On a CPU none of this is called. Nothing here touches the driver before the student's code does: CUDA cannot be used in
a process whose parent has used it.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy
import torch


def prepare(memory_bytes: int) -> None:
    """In a new interpreter: bound what it may take of the GPU, and make its numbers repeatable.

    The share binds PyTorch's allocator, whose answer to more is an OutOfMemoryError in the cell. It binds neither the
    driver's own few hundred megabytes for each process nor a student who lifts it on purpose.
    """
    torch.cuda._lazy_call(lambda: _take_share(memory_bytes))  # when, and only if, CUDA is used
    compute_exactly()
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # it costs time, and hides nothing here
    warnings.filterwarnings("ignore", message=".*deterministic")


def compute_exactly() -> None:
    """float32 is float32: no TensorFloat-32, no sums in half precision. Asked again before each probe."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False  # the fastest algorithm of the day need not be the same tomorrow
    matmul = torch.backends.cuda.matmul
    matmul.allow_fp16_reduced_precision_reduction = False
    matmul.allow_bf16_reduced_precision_reduction = False


def in_use() -> bool:
    """Whether this process has used CUDA, through PyTorch or past it: then it cannot be forked."""
    return torch.cuda.is_initialized() or touched()


def touched(folder: str = "/proc/self/fd") -> bool:
    """Whether the driver's memory device is open here: CUDA's first call opens it, asking how many GPUs there are does not."""
    if not os.path.isdir(folder):
        return False
    for name in os.listdir(folder):
        try:
            if os.readlink(f"{folder}/{name}").startswith("/dev/nvidia-uvm"):
                return True
        except OSError:
            continue  # the descriptor of the listing itself
    return False


@contextmanager
def hidden() -> Iterator[None]:
    """For the fork server while it warms up: there is no GPU, so nothing that is called can wake it.

    `Optimizer.step` asks whether CUDA is there, which through the runtime would initialise the driver. Asked through
    NVML (the sandbox's environment says so) with no device visible, the answer is no, and the driver sleeps on.
    """
    name = "CUDA_VISIBLE_DEVICES"
    before = os.environ.get(name)
    os.environ[name] = ""
    try:
        yield
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before


@contextmanager
def same_random_numbers() -> Iterator[None]:
    """A probe that runs in place must leave the notebook's random numbers as they were."""
    states = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    there = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
        torch.set_rng_state(states[2])
        if there is not None:
            torch.cuda.set_rng_state(there)


def _take_share(memory_bytes: int) -> None:
    total = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, memory_bytes / total))
