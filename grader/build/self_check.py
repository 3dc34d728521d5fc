"""The self-check that a student notebook carries: it tries an answer on fixed small examples and says what is wrong.

The builder copies this module and the comparison of `grader.checks.compare` into the notebook, so it may import nothing but
torch. `self_check_source` puts the copy inside a function, so that no name of the student's collides with these names, and
fills in EXAMPLES, PROBES and NAMES.
"""

from __future__ import annotations

import inspect
from math import cos, isclose, pi
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: F401  (probes may use it)

from grader.checks.compare import difference, flatten

EXAMPLES: dict = {}
PROBES: dict = {}
NAMES: dict = {}  # the notebook's globals()


class NotYet(AssertionError):
    """A self-check that failed; the notebook shows its message without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"✘ {self}"]


def check(exercise: str) -> None:
    """Try your answer on small examples, and say what is wrong.

    Raises:
        NotImplementedError: the exercise is not solved yet.
        NotYet: an example has a wrong result; the message says how, and which known mistake it looks like.
    """
    declared = EXAMPLES[exercise]
    for name in declared["defines"]:
        if name not in NAMES:
            text = f"TODO {exercise}: {name} is not defined yet. Run the cell above first."
            raise without_traceback(NotImplementedError(text))
    for example in declared["examples"]:
        got, error = try_example(example)
        problem = error or next(
            (
                text
                for name, want in flatten(unpack(example["expected"]))
                if (text := difference(name, dict(flatten(got)).get(name), want, rtol=30))
            ),
            "",
        )
        if problem:
            seen = error or fingerprint(got)
            hints = [hint for hint, known in example["mistakes"] if alike(seen, known)]
            hint = f" {hints[0]}" if hints else ""
            raise NotYet(f"{exercise} {declared['name']} — {example['describe']}: {problem}.{hint}")
    count = len(declared["examples"])
    print(f"✔ {exercise} {declared['name']}: right on {count} small example{'s' * (count != 1)}.")


def without_traceback(todo: NotImplementedError) -> NotImplementedError:
    """Let the notebook show one line without a traceback for an exercise that is not solved yet."""
    line = str(todo) if ":" in str(todo) else f"{todo}: not solved yet"
    vars(todo)["_render_traceback_"] = lambda: [f"☐ {line}"]
    return todo


def try_example(example: dict) -> tuple[dict, str]:
    """Return what the student's definition returns for one example, or in one line the error that it raised."""
    probe, inputs = PROBES[example["probe"]], unpack(example["inputs"])
    arguments = {
        name: inputs[name] if name in inputs else NAMES[example["names"].get(name, name)]
        for name in inspect.signature(probe).parameters
    }
    try:
        return probe(**arguments), ""
    except NotImplementedError as todo:
        raise without_traceback(todo)  # noqa: B904  (it is the same error)
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        return {}, f"it raised {type(error).__name__}: {first}"


def fingerprint(values: Any) -> float:
    """Return a number that differs between different answers of any shape; a known mistake is recognised by it."""
    total = 0.0
    for index, (_, value) in enumerate(sorted(flatten(values), key=lambda leaf: leaf[0])):
        if isinstance(value, Tensor):
            flat = torch.nan_to_num(
                value.detach().double().flatten().cpu(), nan=7.0, posinf=11.0, neginf=-11.0
            )
            total += sum(number * cos(1 + place + index) for place, number in enumerate(flat.tolist()))
            total += sum(size * pi ** (1 + place) for place, size in enumerate(value.shape))
        elif isinstance(value, (bool, int, float)):
            total += float(value) * cos(3 + index)
        else:
            total += len(str(value)) * cos(5 + index)
    return total


def alike(seen: float | str, known: float | str) -> bool:
    """Tell whether two fingerprints, or two error lines, are the same."""
    if isinstance(seen, str) or isinstance(known, str):
        return seen == known
    return isclose(seen, known, rel_tol=1e-3, abs_tol=1e-3)


def pack(value: Any) -> Any:
    """Convert tensors to JSON: {"tensor": dtype, "shape": …, "values": …}."""
    if isinstance(value, Tensor):
        kind = str(value.dtype).removeprefix("torch.")
        flat = value.detach().flatten().tolist()
        numbers = [int(number) for number in flat] if kind in ("bool", "int64") else [_short(n) for n in flat]
        return {"tensor": kind, "shape": list(value.shape), "values": numbers}
    if isinstance(value, dict):
        return {name: pack(inner) for name, inner in value.items()}
    return [pack(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def unpack(value: Any) -> Any:
    """Convert JSON of `pack` back to tensors."""
    if isinstance(value, dict) and "tensor" in value:
        numbers = [float(number) for number in value["values"]]
        return (
            torch.tensor(numbers, dtype=torch.float64)
            .reshape(value["shape"])
            .to(getattr(torch, value["tensor"]))
        )
    if isinstance(value, dict):
        return {name: unpack(inner) for name, inner in value.items()}
    return [unpack(inner) for inner in value] if isinstance(value, list) else value


def _short(number: float) -> float | str:
    if abs(number) < 1e-9:
        return 0.0  # the rest of a sum that cancels differs between processors
    # JSON has no infinity: as text, which float() reads back.
    return float(f"{number:.5g}") if abs(number) < float("inf") else str(number)
