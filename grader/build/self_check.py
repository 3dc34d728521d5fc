"""The self-check that a student notebook carries: fixed small examples, and in words what is off.

Inlined into the notebook by the builder, with the comparison of `grader.checks.compare`, so it must need
nothing but torch. There it stands inside a function, so that no name of the student's can collide with one of
these; `tools` fills in EXAMPLES, PROBES and NAMES.
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
NAMES: dict = {}  # what is defined in the notebook


class NotYet(AssertionError):
    """A self-check that found something; shown as its message alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"✘ {self}"]


def check(exercise: str) -> None:
    """Try your answer on small examples, and say what is off.

    Raises:
        NotImplementedError: the exercise is not solved yet.
        NotYet: an example came out wrong; the message says how, and which well-known mistake it looks like.
    """
    declared = EXAMPLES[exercise]
    for name in declared["defines"]:
        if name not in NAMES:
            text = f"TODO {exercise}: {name} is not defined yet. Run the cell above first."
            raise in_a_line(NotImplementedError(text))
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
            hints = [hint for hint, looks in example["mistakes"] if alike(seen, looks)]
            hint = f" {hints[0]}" if hints else ""
            raise NotYet(f"{exercise} {declared['name']} — {example['describe']}: {problem}.{hint}")
    count = len(declared["examples"])
    print(f"✔ {exercise} {declared['name']}: right on {count} small example{'s' * (count != 1)}.")


def in_a_line(todo: NotImplementedError) -> NotImplementedError:
    """What is not solved yet needs no traceback: where in the checks that was found out helps nobody."""
    line = str(todo) if ":" in str(todo) else f"{todo}: not solved yet"
    vars(todo)["_render_traceback_"] = lambda: [f"☐ {line}"]
    return todo


def try_example(example: dict) -> tuple[dict, str]:
    """What the student's definition returns for one example, or the error that it raised, in a line."""
    probe, inputs = PROBES[example["probe"]], unpack(example["inputs"])
    arguments = {
        name: inputs[name] if name in inputs else NAMES[example["names"].get(name, name)]
        for name in inspect.signature(probe).parameters
    }
    try:
        return probe(**arguments), ""
    except NotImplementedError as todo:
        raise in_a_line(todo)  # noqa: B904  (it is the same error)
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        return {}, f"it raised {type(error).__name__}: {first}"


def fingerprint(values: Any) -> float:
    """One number that tells two answers apart, whatever their shape; how a known mistake is recognised."""
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


def alike(seen: float | str, looks: float | str) -> bool:
    """Whether two fingerprints, or two error lines, are the same."""
    if isinstance(seen, str) or isinstance(looks, str):
        return seen == looks
    return isclose(seen, looks, rel_tol=1e-3, abs_tol=1e-3)


def pack(value: Any) -> Any:
    """Tensors as JSON: {"tensor": dtype, "shape": …, "values": …}."""
    if isinstance(value, Tensor):
        kind = str(value.dtype).removeprefix("torch.")
        flat = value.detach().flatten().tolist()
        numbers = [int(number) for number in flat] if kind in ("bool", "int64") else [_short(n) for n in flat]
        return {"tensor": kind, "shape": list(value.shape), "values": numbers}
    if isinstance(value, dict):
        return {name: pack(inner) for name, inner in value.items()}
    return [pack(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def unpack(value: Any) -> Any:
    """The tensors back from JSON."""
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
        return 0.0  # what is left of a sum that cancels is different on every processor
    # JSON has no infinity: as text, which float() reads back.
    return float(f"{number:.5g}") if abs(number) < float("inf") else str(number)
