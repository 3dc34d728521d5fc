"""Find the line of a student's code that caused a measured effect.

Such a line is a clue. Without the effect it need not be wrong: `.detach()` is a clue only if a gradient is missing.
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
    """A line that causes an effect, and the reason."""

    line: int  # of the answer, from 1
    why: str  # a whole sentence without a capital: "`.tolist()` turns …"

    @property
    def says(self) -> str:
        """The line and the reason: "line 3: `.tolist()` turns …"."""
        return f"line {self.line}: {self.why}"


def clue(effect: Effect, source: str, name: str = "") -> Clue | None:
    """Return the first line that causes an effect, or None if no known cause is found.

    Args:
        source: the student's code.
        name: the input or parameter that the effect concerns: its gradient is missing, it was changed, or it has a
            batch in front; "" if the effect does not concern exactly one.
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
