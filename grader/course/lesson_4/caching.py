"""Exercise 4.14: `attend_with_cache`, self-attention that computes keys and values of each token once."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import torch
from attention.caching import attend_with_cache
from attention.heads import merge_heads, split_heads
from torch import Tensor, nn

from grader.course.lesson_4.modern_writings import cached_by_steps
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import as_tensor, effects_of, load, pair
from grader.declaration.sampler import InputSampler
from grader.declaration.trial import trials
from grader.records import Inputs, Value


def draw_cached(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    before: int,
    tokens: int,
    d_model: int,
    heads: int,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw a layer's weights, new tokens, and a cache of `before` tokens; None where that is 0."""
    shape = (*batch_shape, heads, before, d_model // heads)
    return {
        "sizes": {"d_model": d_model, "num_heads": heads},
        "weights": {
            f"{name}.weight": sampler.normal(d_model, d_model, scale=d_model**-0.5, dtype=dtype)
            for name in ("W_Q", "W_K", "W_V", "W_O")
        },
        "tokens": sampler.normal(*batch_shape, tokens, d_model, scale=2.0, dtype=dtype),
        "keys": sampler.normal(*shape, scale=2.0, dtype=dtype) if before else None,
        "values": sampler.normal(*shape, dtype=dtype) if before else None,
    }


def cached_values(
    attend_with_cache, MultiHeadAttention, sizes: Mapping, weights: Mapping, tokens: Tensor, keys, values
) -> Mapping[str, Value]:
    """Return the output and the cache of one call."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)
    output, cache = pair(
        attend_with_cache(layer, tokens, None if keys is None else (keys, values)), ("output", "cache")
    )
    returned = as_tensor(output, "output")  # first: results in the other order are a slip, and told apart by this
    all_keys, all_values = pair(cache, ("keys", "values"))
    return {"output": returned, "keys in the cache": all_keys, "values in the cache": all_values}


def cached_in_pieces(
    attend_with_cache, MultiHeadAttention, sizes: Mapping, weights: Mapping, tokens: Tensor, pieces: list
) -> Mapping[str, Value]:
    """Return the outputs of several calls, one after the other, each with the cache of the one before."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)
    outputs, cache = [], None
    for piece in tokens.split(pieces, dim=-2):
        output, cache = pair(attend_with_cache(layer, piece, cache), ("output", "cache"))
        outputs.append(as_tensor(output, "output"))
        # a cache in another dtype costs what it costs in one call, and does not stop the next
        keys, values = pair(cache, ("keys", "values"))
        cache = as_tensor(keys, "keys").to(tokens.dtype), as_tensor(values, "values").to(tokens.dtype)
    return {"output": torch.cat(outputs, dim=-2)}


def draw_pieces(sampler: InputSampler, *, pieces: list, **sizes: Any) -> Inputs:
    """Draw a layer's weights and tokens, and into which pieces they are cut."""
    inputs = draw_cached(sampler, before=0, tokens=sum(pieces), **sizes)
    return {**{name: inputs[name] for name in ("sizes", "weights", "tokens")}, "pieces": pieces}


def cached_conduct(
    attend_with_cache, MultiHeadAttention, sizes: Mapping, weights: Mapping, tokens: Tensor, keys, values
) -> Mapping[str, Value]:
    """Report whether the layer, the tokens and the cache that is handed in stay as they are; and the output."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)

    def call(tokens: Tensor, keys: Tensor, values: Tensor) -> Any:
        return pair(attend_with_cache(layer, tokens, (keys, values)), ("output", "cache"))[0]

    effects = effects_of(call, {"tokens": tokens, "keys": keys, "values": values})
    state = layer.state_dict()
    kept = state.keys() == weights.keys() and all(torch.equal(state[name], weights[name]) for name in weights)
    handed = (keys, values)
    output = call(tokens, *handed)
    return {**effects, "the layer stays as it is": kept, "output": output}


def _cached(
    layer: nn.Module,
    tokens: Tensor,
    cache,
    *,
    mask=None,
    old_first: bool = True,
    scale: float | None = None,
    project: bool = True,
):
    """Do what the right answer does, except for what the keyword arguments change.

    Args:
        mask: takes the numbers of new tokens and of all tokens, returns the mask (T, P + T); None: the right one.
        old_first: whether the cached keys and values stand before the new ones.
        scale: what the scores are divided by; None: √d_head.
        project: whether W_O comes at the end.
    """
    query, key, value = (split_heads(linear(tokens), layer.num_heads) for linear in (layer.W_Q, layer.W_K, layer.W_V))
    if cache is not None:
        order = 1 if old_first else -1
        key, value = (torch.cat([old, new][::order], dim=-2) for old, new in zip(cache, (key, value), strict=True))
    new, known = query.shape[-2], key.shape[-2]
    allowed = torch.ones(new, known).tril(known - new).bool() if mask is None else mask(new, known)
    scores = query @ key.transpose(-2, -1) / (scale or sqrt(query.shape[-1]))
    output = merge_heads(scores.masked_fill(~allowed, -torch.inf).softmax(-1) @ value)
    return (layer.W_O(output) if project else output), (key, value)


@mistake(
    "attend_with_cache",
    "The cache is not read: the new tokens look at themselves alone. Put its keys and values before the new ones.",
)
def cache_not_read(layer, tokens, cache=None):
    return attend_with_cache(layer, tokens)


@mistake(
    "attend_with_cache",
    "The cache that comes back holds the new tokens alone. It holds all: those from before, then the new ones.",
)
def cache_not_extended(layer, tokens, cache=None):
    output, (keys, values) = attend_with_cache(layer, tokens, cache)
    count = tokens.shape[-2]
    return output, (keys[..., -count:, :], values[..., -count:, :])


@mistake("attend_with_cache", "The cache comes back as it was handed in: the new keys and values are not in it.")
def cache_as_it_was(layer, tokens, cache=None):
    output, new = attend_with_cache(layer, tokens, cache)
    return output, new if cache is None else cache


@mistake(
    "attend_with_cache",
    "Nothing is masked: among the new tokens each sees those after it, too. New token t sees all before, and new ones up to t.",
)
def cached_without_mask(layer, tokens, cache=None):
    return _cached(layer, tokens, cache, mask=lambda new, known: torch.ones(new, known).bool())


@mistake(
    "attend_with_cache",
    "The causal mask begins at the first column, as if nothing were cached. New token t may see P + t + 1 keys: .tril(P).",
)
def mask_without_the_past(layer, tokens, cache=None):
    return _cached(layer, tokens, cache, mask=lambda new, known: torch.ones(new, known).tril().bool())


@mistake("attend_with_cache", "The mask hides each token from itself. The diagonal belongs to what may be seen.")
def mask_one_short(layer, tokens, cache=None):
    def mask(new: int, known: int) -> Tensor:
        allowed = torch.ones(new, known).tril(known - new - 1).bool()
        return allowed | ~allowed.any(-1, keepdim=True)  # the first token sees something, else all is NaN

    return _cached(layer, tokens, cache, mask=mask)


@mistake(
    "attend_with_cache", "The new keys stand before the old ones. The cache is in the order of the tokens: old first."
)
def new_before_old(layer, tokens, cache=None):
    def mask(new: int, known: int) -> Tensor:
        return torch.cat([torch.ones(new, new).tril(), torch.ones(new, known - new)], dim=-1).bool()

    return _cached(layer, tokens, cache, mask=mask, old_first=False)


@mistake("attend_with_cache", "The cache holds values before keys. Return (keys, values).")
def values_before_keys(layer, tokens, cache=None):
    output, (keys, values) = attend_with_cache(layer, tokens, None if cache is None else cache[::-1])
    return output, (values, keys)


@mistake(
    "attend_with_cache",
    "The old keys are used with the new values only: put the old values in front, as you do with the keys.",
)
def old_values_repeated(layer, tokens, cache=None):
    query, key, value = (split_heads(linear(tokens), layer.num_heads) for linear in (layer.W_Q, layer.W_K, layer.W_V))
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[0], value], dim=-2)
    new, known = query.shape[-2], key.shape[-2]
    scores = query @ key.transpose(-2, -1) / sqrt(query.shape[-1])
    allowed = torch.ones(new, known).tril(known - new).bool()
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
    return layer.W_O(merge_heads(weights @ value)), (key, value)


@mistake("attend_with_cache", "The heads are joined, and W_O is missing at the end.")
def cached_without_projection(layer, tokens, cache=None):
    return _cached(layer, tokens, cache, project=False)


@mistake(
    "attend_with_cache", "The scores are divided by the root of d_model. Divide by √d_head, the width of one head."
)
def cached_scaled_by_d_model(layer, tokens, cache=None):
    return _cached(layer, tokens, cache, scale=sqrt(tokens.shape[-1]))


@mistake(
    "attend_with_cache",
    "Keys and values are cached before they are split into heads. The cache holds (..., H, P + T, d_head).",
)
def cached_before_the_split(layer, tokens, cache=None):
    output, (keys, values) = attend_with_cache(layer, tokens, cache)
    return output, (merge_heads(keys), merge_heads(values))


@mistake(
    "attend_with_cache", "The tokens are cached, and not their keys and values: then these are computed anew each time."
)
def tokens_cached(layer, tokens, cache=None):
    output, _ = attend_with_cache(layer, tokens, cache)
    heads = split_heads(tokens, layer.num_heads)
    if cache is not None:
        heads = torch.cat([cache[0], heads], dim=-2)
    return output, (heads, heads)


@mistake(
    "attend_with_cache",
    "The cache that was handed in is changed. Make a new one with torch.cat: somebody may still need the old one.",
)
def cache_changed_in_place(layer, tokens, cache=None):
    output, new = attend_with_cache(layer, tokens, cache)
    if cache is not None:
        for old in cache:
            old.zero_()
    return output, new


@mistake(
    "attend_with_cache",
    "The heads are joined as they lie, so a token gets numbers of other tokens. Move their axis behind that of the tokens first.",
)
def heads_joined_as_they_lie(layer, tokens, cache=None):
    joined, new = _cached(layer, tokens, cache, project=False)
    heads = split_heads(joined, layer.num_heads).contiguous()
    return layer.W_O(heads.reshape(tokens.shape)), new


START = Check(
    name="start",
    title="without a cache: causal attention, and the keys and values of all tokens",
    points=2,
    probe=cached_values,
    examples=trials(draw_cached, dict(before=0, tokens=3, d_model=4, heads=2)),
    trials=trials(
        draw_cached,
        dict(before=0, tokens=5, d_model=6, heads=3),
        dict(batch_shape=(3,), before=0, tokens=4, d_model=6, heads=2),
    ),
)
ONE = Check(
    name="one",
    title="one new token sees all in the cache, and itself",
    points=3,
    probe=cached_values,
    examples=trials(draw_cached, dict(before=2, tokens=1, d_model=4, heads=2)),
    trials=trials(
        draw_cached,
        dict(before=5, tokens=1, d_model=6, heads=3),
        dict(batch_shape=(3,), before=4, tokens=1, d_model=6, heads=2),
    ),
)
SEVERAL = Check(
    name="several",
    title="several new tokens, and calls one after the other",
    points=2,
    needs=("start", "one"),
    probe=cached_in_pieces,
    examples=trials(draw_pieces, dict(pieces=[2, 1, 2], d_model=4, heads=2)),
    trials=trials(
        draw_pieces,
        dict(pieces=[3, 1, 1, 4], d_model=6, heads=3),
        dict(batch_shape=(2,), pieces=[1, 5], d_model=6, heads=2),
    ),
)
CACHE_CONDUCT = Check(
    name="conduct",
    title="layer, tokens and the old cache stay as they are, float64 stays float64",
    points=1,
    needs=("one",),
    probe=cached_conduct,
    examples=trials(draw_cached, dict(before=3, tokens=1, d_model=4, heads=2)),
    trials=trials(draw_cached, dict(batch_shape=(2,), before=5, tokens=1, d_model=6, heads=3, dtype=torch.float64)),
)
CACHE = Exercise(
    id="4.14",
    title="A key-value cache",
    reference=(attend_with_cache,),
    points=8,
    difficulty=2,
    minutes=15,
    checks=(START, ONE, SEVERAL, CACHE_CONDUCT),
    mistakes=mistakes_in(globals(), "attend_with_cache"),
    writings=(cached_by_steps,),
    review="Every word once",
)
