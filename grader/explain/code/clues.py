"""Find the line of a student's code that is the known cause of an effect that was measured.

Without the effect none of these lines need be wrong: `.detach()` is a clue only where a gradient is missing.
"""

from grader.explain.code.data_flow import Flow
from grader.explain.code.effects import Effect
from grader.explain.code.of_gradients import cut_off, in_place, narrow, on_cpu
from grader.explain.code.of_steps import same_thing, wasted
from grader.explain.code.of_values import draws, from_front, idle, idle_layers, slips, unused

CLUES = {
    Effect.GRADIENT: cut_off,
    Effect.FLOAT32: narrow,
    Effect.DEVICE: on_cpu,
    Effect.WITHOUT_BATCH: from_front,
    Effect.WITH_BATCH: from_front,
    Effect.RANDOM: draws,
    Effect.VALUES: lambda flow: [*same_thing(flow), *wasted(flow), *slips(flow)],
    Effect.UNUSED: unused,
    Effect.LAYERS: idle_layers,
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
    if not others or effect is not Effect.FLOAT32:
        too = ""
    return f"line {line}: {says}{too}{'' if f'{says}{too}'[-1] in '?…' else '.'}" if says else ""
