"""Measures the tensors that a call makes, to find out if an answer really avoids n × n numbers."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def watch_sizes(call: Callable, *arguments: Any) -> tuple[Any, int]:
    """Return the result of a call, and the number of elements of the largest tensor that the call makes.

    Every kind of tensor counts: a mask from torch.ones as well as scores from a product.
    """
    sizes = [0]
    returned = watch_made(lambda made: sizes.append(made.numel()), call, *arguments)
    return returned, max(sizes)


def watch_made(note: Callable[[Tensor], None], call: Callable, *arguments: Any) -> Any:
    """Call a function and return its result. Pass each tensor that torch returns during the call to `note`."""

    class Watching(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            made = function(*args, **(kwargs or {}))
            for value in made if isinstance(made, (tuple, list)) else [made]:
                if isinstance(value, Tensor):
                    note(value)
            return made

    with Watching():
        return call(*arguments)


def watch_peak(call: Callable, *arguments: Any) -> tuple[Any, int]:
    """Return the result of a call, and the largest number of elements that its tensors have at one time.

    The tensors among the arguments do not count. A view counts with the tensor whose memory it
    shares. Memory counts until its last tensor is gone, so a list of many small tensors counts in
    full. Gradients are off, because autograd keeps additional tensors.
    """
    import weakref

    given = {value.untyped_storage().data_ptr() for value in arguments if isinstance(value, Tensor)}
    seen: set[int] = set()
    alive: dict[int, list[int]] = {}  # address → how many tensors show this memory, how many numbers it holds
    held = peak = 0

    def forget(identity: int, address: int) -> None:
        nonlocal held
        seen.discard(identity)
        alive[address][0] -= 1
        if not alive[address][0]:
            held -= alive.pop(address)[1]

    def note(value: Tensor) -> None:
        nonlocal held, peak
        memory = value.untyped_storage()
        address, numbers = memory.data_ptr(), memory.nbytes() // value.element_size()
        if id(value) in seen or address in given or not numbers:
            return
        seen.add(id(value))
        if address not in alive:
            alive[address] = [0, numbers]
            held += numbers
            peak = max(peak, held)
        alive[address][0] += 1
        weakref.finalize(value, forget, id(value), address)

    with torch.no_grad():
        returned = watch_made(note, call, *arguments)
    return returned, peak
