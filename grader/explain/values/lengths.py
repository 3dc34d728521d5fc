"""Name the two lengths that do not fit together where an exception says nothing but numbers."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from grader.explain.values.wording import called, is_length, whole_sizes

TWO_LENGTHS = re.compile(
    r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)|length \((\d+)\) exceeds dimension size \((\d+)\)"
    r"|expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)"
    r"|\(\d+x(\d+) and (\d+)x\d+\)"
)


class Raised(Protocol):
    """A trial in which an answer raised an exception."""

    @property
    def message(self) -> str: ...
    @property
    def line(self) -> str: ...
    @property
    def sizes(self) -> Mapping[str, Any]: ...


def two_lengths(trials: Sequence[Raised]) -> str:
    """Name the two lengths that meet on the line of the first trial, as far as all trials have the same name for each; or ""."""
    named: list[set[str]] = []
    for trial in trials:
        found = TWO_LENGTHS.search(trial.message) if trial.line == trials[0].line else None
        if found:
            both = [_names(int(length), trial.sizes) for length in found.groups() if length]
            named = [one & other for one, other in zip(named, both, strict=True)] if named else both
    one, other = named or [set(), set()]
    return f"Two lengths meet on this line: {one.pop()}, and {other.pop()}." if len(one) == len(other) == 1 else ""


def _names(length: int, sizes: Mapping[str, Any]) -> set[str]:
    """Return what a phrase may call a length: by a size that has it, or else by one of all entries of the batch."""
    whole = {name: size for name, size in whole_sizes(sizes).items() if is_length(name)}
    alone = {called(name) for name, size in whole.items() if size == length}
    batch = whole.get("batch", 0)
    return alone or {f"{called(name)} in the whole batch" for name, size in whole.items() if batch * size == length}
