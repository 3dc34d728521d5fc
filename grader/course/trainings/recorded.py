"""Runs the reference's training of a lesson once, and stores its states at some steps."""

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import attention
import torch
from filelock import FileLock, Timeout
from platformdirs import user_cache_path
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn
from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

from grader.paths import own_lessons, write_atomically

WAIT_SECONDS = 120.0  # for another process that runs the same training; then this one runs it, too
FOLDER = "GRADER_TRAININGS"  # environment variable: the folder for recorded trainings
KEPT = 4  # files of one training: courses with lessons of their own may lie side by side on a machine
MOMENTS = {"mean": "exp_avg", "square": "exp_avg_sq"}  # of Adam: our name → PyTorch's


class State(NamedTuple):
    """A model in the middle of its training run, as tensors by the name of the parameter."""

    step: int  # updates so far
    weights: Mapping[str, Tensor]
    mean: Mapping[str, Tensor]  # Adam's running mean of the gradients
    square: Mapping[str, Tensor]  # and of their squares


@dataclass(frozen=True)
class Training:
    """A training run of the reference, and the updates after which its state is stored. The last one is the end.

    Args:
        name: the beginning of the name of the file that stores it, such as "3-vlm".
        train: runs the whole training with the reference and the notebook's own seed, and returns
            the model.
        at: the numbers of updates.
    """

    name: str
    train: Callable[[], nn.Module]
    at: tuple[int, ...]

    def states(self) -> tuple[State, ...]:
        """Return the stored states, in order. Run the training if this machine has not stored them yet."""
        return _states(self)

    @property
    def trained(self) -> Mapping[str, Tensor]:
        """The weights at the end of the training run, by parameter name."""
        return self.states()[-1].weights


@cache
def _states(training: Training) -> tuple[State, ...]:
    """Return the stored states of a training run. If there are none, run the training and store its states.

    If no file can be written, only run the training.
    """
    path = folder() / f"{training.name}-{_version()}.safetensors"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(path.with_suffix(".lock"), timeout=WAIT_SECONDS):
            return _read(path) or _run_and_keep(training, path)
    except (OSError, Timeout):  # no place to keep it: this process runs it for itself
        return run(training)


def folder() -> Path:
    """Return the folder for recorded training runs: $GRADER_TRAININGS, or a folder in the user's cache."""
    chosen = os.environ.get(FOLDER)
    return Path(chosen) if chosen else user_cache_path("attention-course") / "trainings"


def read_kept() -> dict[str, bytes]:
    """Return the files of all training runs of this version on this machine by name, for another machine."""
    found = folder().glob(f"*-{_version()}.safetensors")
    return {path.name: path.read_bytes() for path in sorted(found)}


def keep(files: Mapping[str, bytes]) -> None:
    """Store files with training runs from another machine.

    Files of other versions, and files that exist here already, are left out.
    """
    for name, content in files.items():
        path = folder() / Path(name).name
        if path.stem.endswith(f"-{_version()}") and not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(path, content)


def _version() -> str:
    """Return a digest of all that a training run depends on: the reference code, the lessons, and PyTorch."""
    digest = sha256(torch.__version__.encode())
    folders = (Path(attention.__file__).parent, Path(__file__).parents[1], own_lessons())
    for root in filter(None, folders):
        for file in sorted(root.rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _run_and_keep(training: Training, path: Path) -> tuple[State, ...]:
    """Run a training, write its states to a file, and return them. Keep only the KEPT newest files of this training."""
    states = run(training)
    tensors = {
        f"{state.step}/{kind}/{name}": tensor.contiguous()
        for state in states
        for kind in ("weights", *MOMENTS)
        for name, tensor in getattr(state, kind).items()
    }
    write_atomically(path, save(tensors))
    others = [other for other in path.parent.glob(f"{training.name}-*.safetensors") if other != path]
    for old in sorted(others, key=_age)[KEPT - 1 :]:
        old.unlink(missing_ok=True)
    return states


def _age(path: Path) -> float:
    """Return the seconds since a file was written, or infinity if the file no longer exists."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return math.inf


def _read(path: Path) -> tuple[State, ...]:
    """Return the states in a file, in order, or () if the file does not exist or is damaged."""
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError):
        return ()
    steps: dict[int, dict[str, dict[str, Tensor]]] = {}
    for key, tensor in tensors.items():
        step, kind, name = key.split("/")
        steps.setdefault(int(step), {}).setdefault(kind, {})[name] = tensor
    return tuple(State(step, **steps[step]) for step in sorted(steps))


def run(training: Training) -> tuple[State, ...]:
    """Run a training, and return the states that the model and its last optimizer had at the chosen steps."""
    taken: list[tuple[Optimizer, int, dict[Tensor, Any]]] = []
    counts: dict[Optimizer, int] = {}

    def keep(optimizer: Optimizer, args: object, options: object) -> None:
        counts[optimizer] = step = counts.get(optimizer, 0) + 1
        if step in training.at:
            kept = {
                parameter: (parameter.detach().clone(), {kind: of[kind].clone() for kind in MOMENTS.values()})
                for parameter, of in optimizer.state.items()
            }
            taken.append((optimizer, step, kept))

    hook = register_optimizer_step_post_hook(keep)
    try:
        with _undisturbed():
            model = training.train()
    finally:
        hook.remove()
    last = taken[-1][0]
    names = dict(model.named_parameters())
    return tuple(_state(step, kept, names) for optimizer, step, kept in taken if optimizer is last)


def _state(step: int, kept: Mapping[Tensor, Any], names: Mapping[str, Tensor]) -> State:
    """Return a state made from the stored values, which are by parameter, under the names of the parameters.

    A parameter that the optimizer never moved gets its present value.
    """
    learned = {name: kept[parameter] for name, parameter in names.items() if parameter in kept}
    weights = {
        name: learned[name][0] if name in learned else parameter.detach().clone() for name, parameter in names.items()
    }
    moments = {ours: {name: of[theirs] for name, (_, of) in learned.items()} for ours, theirs in MOMENTS.items()}
    return State(step, weights, **moments)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Use one thread in the context, as in a notebook. Afterwards, restore threads, random state and denormals."""
    threads, random = torch.get_num_threads(), torch.random.get_rng_state()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.random.set_rng_state(random)
        torch.set_flush_denormal(False)  # `recipe.train` sets it


def evenly(steps: int, count: int) -> tuple[int, ...]:
    """Return `count` numbers of updates that are evenly spread over a training run, and the number at its end."""
    return (*(steps * (index + 1) // (count + 1) for index in range(count)), steps)
