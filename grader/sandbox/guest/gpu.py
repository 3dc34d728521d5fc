"""The GPU inside the sandbox: exact arithmetic, a limit on its memory, and no forks after it was used.

Without a GPU these functions are not called. This module never initialises the driver before the student's code does,
because a process whose parent has used CUDA cannot use it.
"""

import os
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy
import torch


def prepare(memory_bytes: int) -> None:
    """In a new interpreter, limit PyTorch's GPU memory in bytes, and make its arithmetic exact and repeatable.

    PyTorch's allocator enforces the limit and raises an OutOfMemoryError in the cell. The limit does not
    include the driver's own few hundred megabytes per process, and a student can remove it on purpose.
    """
    torch.cuda._lazy_call(lambda: _limit_memory(memory_bytes))  # runs when CUDA is initialised, if ever
    compute_exactly()
    torch.set_deterministic_debug_mode("warn")  # use_deterministic_algorithms imports the compiler, which takes seconds
    deterministic: Any = torch.utils.deterministic
    # Filling takes time, and no uninitialised memory is secret here.
    deterministic.fill_uninitialized_memory = False
    warnings.filterwarnings("ignore", message=".*deterministic")


def compute_exactly() -> None:
    """Make PyTorch compute float32 exactly: without TensorFloat-32, and without sums in half precision.

    This is called again before each probe.
    """
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False  # it chooses the fastest algorithm, which varies between runs
    matmul = torch.backends.cuda.matmul
    matmul.allow_fp16_reduced_precision_reduction = False
    matmul.allow_bf16_reduced_precision_reduction = False


def in_use() -> bool:
    """Return True if this process has used CUDA, through PyTorch or another library, so that it cannot be forked."""
    return torch.cuda.is_initialized() or driver_is_open()


def driver_is_open(folder: str = "/proc/self/fd") -> bool:
    """Return True if the driver's memory device is open. CUDA's first call opens it; counting the GPUs does not."""
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
    """Hide the GPU while the fork server imports and warms up, so that no call initialises the driver.

    `Optimizer.step` checks if CUDA is available, which would normally initialise the driver. Within this context no
    device is visible, and the check uses NVML because of an environment variable of the sandbox. So the
    check returns False without initialising the driver.
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
    """Restore the random number generators when the context ends.

    A probe that runs in the interpreter itself must not change the notebook's later random numbers.
    """
    states = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    cuda_state = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
        torch.set_rng_state(states[2])
        if cuda_state is not None:
            torch.cuda.set_rng_state(cuda_state)


def _limit_memory(memory_bytes: int) -> None:
    """Limit the bytes of GPU memory that PyTorch's allocator may use. CUDA must be initialised.

    If the GPU has less memory than this, PyTorch may use all of it.
    """
    total = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, memory_bytes / total))
