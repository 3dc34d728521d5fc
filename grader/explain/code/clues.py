"""Find the line of a student's code that is the known cause of an effect that was measured.

Without the effect none of these lines need be wrong: `.detach()` is a clue only where a gradient is missing.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from grader.explain.code.data_flow import Flow, Found
from grader.explain.code.of_gradients import cut_off, in_place, narrow, on_cpu
from grader.explain.code.of_steps import same_thing, shared, wasted
from grader.explain.code.of_values import draws, from_front, idle, idle_layers, slips, unused
from grader.explain.code.read_code import Effect

CLUES: dict[Effect, Callable[[Flow], Iterable[Found]]] = {
    Effect.GRADIENT: cut_off,
    Effect.FLOAT32: narrow,
    Effect.DEVICE: on_cpu,
    Effect.WITHOUT_BATCH: from_front,
    Effect.WITH_BATCH: partial(from_front, one_batch=True),
    Effect.ONE_BATCH: partial(from_front, one_batch=True, turned=False),
    Effect.RANDOM: draws,
    Effect.VALUES: lambda flow: [*same_thing(flow), *wasted(flow), *slips(flow)],
    Effect.UNUSED: unused,
    Effect.LAYERS: idle_layers,
    Effect.IDLE: idle,
    Effect.SHARED: shared,
}


class Clue(NamedTuple):
    """A line that causes an effect."""

    line: int  # of the answer, from 1
    why: str  # a whole sentence without a capital: "`.tolist()` turns …"

    @property
    def says(self) -> str:
        """The line and the reason: "line 3: `.tolist()` turns …"."""
        return f"line {self.line}: {self.why}"


def clue(effect: Effect, source: str, name: str = "") -> Clue | None:
    """Name the line that causes an effect; None if none is known to.

    Args:
        source: the student's code.
        name: the input or parameter that it concerns: which gradient is missing, which input was changed, which one has
            a batch in front; "" if it is not one alone.
    """
    found = list(in_place(source, name) if effect == Effect.IN_PLACE else CLUES[effect](Flow(source, name)))
    if not found:
        return None
    line, says = min(found, key=lambda one: one[0])
    others = [str(other) for other in sorted({other for other, _ in found} - {line})]
    too = f". Check line{'s' * (len(others) > 1)} {' and '.join(others)}, too"
    if others and effect is Effect.FLOAT32:
        says += too
    return Clue(line, says if says[-1] in "?…" else f"{says}.")
