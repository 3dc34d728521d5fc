"""Find the line of a student's code that is the known cause of an effect that was measured.

Without the effect none of these lines need be wrong: `.detach()` is a clue only where a gradient is missing.
"""

from grader.explain.code.data_flow import Flow
from grader.explain.code.effects import Effect
from grader.explain.code.of_gradients import cut_off, cut_off_in_part, in_place, narrow, on_cpu, wide
from grader.explain.code.of_steps import added_twice, flattened, put_back, same_thing, wasted
from grader.explain.code.of_values import (
    draws,
    from_front,
    idle,
    idle_layers,
    no_numbers,
    of_first,
    rounded,
    slips,
    unused,
)

CLUES = {
    Effect.GRADIENT: cut_off,
    Effect.PART: cut_off_in_part,
    Effect.FLOAT32: narrow,
    Effect.FLOAT64: wide,
    Effect.DEVICE: on_cpu,
    Effect.WITHOUT_BATCH: from_front,
    Effect.WITH_BATCH: from_front,
    Effect.FIRST: of_first,
    Effect.NAN: no_numbers,
    Effect.RANDOM: draws,
    Effect.ROUNDED: rounded,
    Effect.VALUES: lambda flow: [*added_twice(flow), *same_thing(flow), *wasted(flow), *slips(flow)],
    Effect.MODES: put_back,
    Effect.UNUSED: unused,
    Effect.LAYERS: idle_layers,
    Effect.FLATTENED: flattened,
    Effect.IDLE: idle,
}


def clue(effect: Effect, source: str, name: str = "") -> str:
    """Name the line that causes an effect: "line 3: `.tolist()` turns …"; "" if none is known to.

    Args:
        source: the student's code.
        name: the input or parameter that it concerns: which gradient is missing, which input was changed, which one has
            a batch in front; "" if it is not one alone.
    """
    found = in_place(source, name) if effect == Effect.IN_PLACE else CLUES[effect](Flow(source, name))
    line, says = min(found := list(found), default=(0, ""), key=lambda one: one[0])
    others = [str(other) for other in sorted({other for other, _ in found} - {line})]
    too = f". Look at line{'s' * (len(others) > 1)} {' and '.join(others)}, too"
    if not others or effect not in (Effect.FLOAT32, Effect.FLOAT64):
        too = ""
    return f"line {line}: {says}{too}{'' if f'{says}{too}'[-1] in '?…' else '.'}" if says else ""
