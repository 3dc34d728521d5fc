"""Find the line of a student's code that is the known cause of an effect that was measured.

Without the effect none of these lines need be wrong: `.detach()` is a clue only where a gradient is missing.
"""

from grader.explain.code.data_flow import Flow
from grader.explain.code.effects import (
    DEVICE,
    FLATTENED,
    FLOAT32,
    FLOAT64,
    GRADIENT,
    IDLE,
    IN_PLACE,
    LAYERS,
    MODES,
    PART,
    RANDOM,
    ROUNDED,
    UNUSED,
    VALUES,
    WITH_BATCH,
    WITHOUT_BATCH,
)
from grader.explain.code.of_gradients import cut_off, cut_off_in_part, in_place, narrow, on_cpu, wide
from grader.explain.code.of_steps import added_twice, flattened, put_back, wasted
from grader.explain.code.of_values import draws, from_front, idle, idle_layers, rounded, slips, unused

CLUES = {
    GRADIENT: cut_off,
    PART: cut_off_in_part,
    FLOAT32: narrow,
    FLOAT64: wide,
    DEVICE: on_cpu,
    WITHOUT_BATCH: from_front,
    WITH_BATCH: from_front,
    RANDOM: draws,
    ROUNDED: rounded,
    VALUES: lambda flow: [*added_twice(flow), *wasted(flow), *slips(flow)],
    MODES: put_back,
    UNUSED: unused,
    LAYERS: idle_layers,
    FLATTENED: flattened,
    IDLE: idle,
}


def clue(effect: str, source: str, name: str = "") -> str:
    """Name the line that causes an effect: "line 3: `.tolist()` turns …"; "" if none is known to.

    Args:
        effect: one of the constants of `grader.explain.code.effects`.
        source: the student's code.
        name: the input or parameter that it concerns: which gradient is missing, which input was changed, which one has
            a batch in front; "" if it is not one alone.
    """
    found = in_place(source, name) if effect == IN_PLACE else CLUES[effect](Flow(source, name))
    line, says = min(found, default=(0, ""), key=lambda one: one[0])
    return f"line {line}: {says}{'' if says[-1] in '?…' else '.'}" if says else ""
