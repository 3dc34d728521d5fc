"""What comes out if the scores of an attention are divided by another number than √d_k, or by none."""

from collections.abc import Iterator, Mapping
from functools import partial
from math import sqrt
from typing import Any

from torch import Tensor

from grader.declare.written_exercise import written_exercise

Changes = Iterator[tuple[str, Mapping[str, Any]]]


def scaled_otherwise(inputs: Mapping[str, Any], arguments: Mapping[str, Any], scales: bool) -> Changes:
    """Scale the scores, by a factor on the queries or on the weights that make them; `Exercise.otherwise` says how it is called.

    Args:
        scales: whether the reference divides the scores by √d_k.
    """
    query, key = arguments.get("query"), arguments.get("key")
    if isinstance(query, Tensor) and isinstance(key, Tensor) and query.is_floating_point():
        width, keys = query.shape[-1], key.shape[-2] if key.ndim > 1 else 1
        unscaled = (
            ("It comes out as if the queries were divided by √d_k. Nothing is scaled here.", 1 / sqrt(width)),
            ("It comes out as if the queries were multiplied by √d_k. Nothing is scaled here.", sqrt(width)),
        )
        for says, factor in _factors(width, keys, arguments, inputs) if scales else unscaled:
            yield says, {"query": query * factor}
    weights = given if isinstance(given := inputs.get("weights"), Mapping) else {}
    owners = [name[: -len(".weight")] for name in weights if name.endswith("W_Q.weight")]
    for owner in owners:
        made = {name for name in weights if name.startswith(f"{owner}.")}
        where = "" if len(owners) == 1 else f" of `{owner.rpartition('.')[0]}`"
        width = weights[f"{owner}.weight"].shape[0] // _heads(inputs)
        for says, factor in _factors(width, 0, arguments, inputs, where):
            yield (
                says,
                {"weights": {name: value * factor if name in made else value for name, value in weights.items()}},
            )


def _heads(inputs: Mapping[str, Any]) -> int:
    sizes = inputs.get("sizes")
    return sizes.get("num_heads", 1) if isinstance(sizes, Mapping) else 1


def _factors(
    d_k: int, keys: int, arguments: Mapping[str, Any], inputs: Mapping[str, Any], where: str = ""
) -> Iterator[tuple[str, float]]:
    """Yield factors on the scores, each with a phrase; the reference divides them by √d_k."""
    scores, heads, value = f"The scores{where} are", _heads(inputs), arguments.get("value")
    yield f"{scores} √d_k times too large: divide by √d_k, once.", sqrt(d_k)
    yield f"{scores} √d_k times too small: they are divided by √d_k twice, or by d_k.", 1 / sqrt(d_k)
    yield f"{scores} multiplied by √d_k. Divide.", float(d_k)
    divided = f"{scores} divided by the root of"
    if heads > 1:
        yield f"{divided} d_model. A head compares vectors of d_head numbers: √d_head.", 1 / sqrt(heads)
    if keys:
        yield f"{divided} the number of keys. Divide by √d_k, the root of the width.", sqrt(d_k) / sqrt(keys)
    if isinstance(value, Tensor) and value.ndim and value.shape[-1] != d_k:
        yield f"{divided} the values' width d_v. Divide by √d_k.", sqrt(d_k) / sqrt(value.shape[-1])
    yield f"{scores} half as large as they should be.", 0.5
    yield f"{scores} twice as large as they should be.", 2.0


attention_exercise = partial(written_exercise, otherwise=scaled_otherwise)
