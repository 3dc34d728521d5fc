"""Exercise 4.8: `attend_with_cache`, self-attention that computes the key and value of each token only once."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.key_value_cache import attend_with_cache
from torch import Tensor

from grader.declare.authoring import (
    CheckSpec,
    Draw,
    Inputs,
    InputSampler,
    Sizes,
    Value,
    chosen,
    drawn,
    normal,
    sizes,
    written_exercise,
)
from grader.declare.probes import as_tensor, effects_of, load, pair


def draw_cached_weights(sampler: InputSampler, sizes: Sizes) -> dict[str, Tensor]:
    """Draw the four square weights of a MultiHeadAttention, by name."""
    width = sizes["d_model"]
    square = normal("d_model d_model", scale=width**-0.5)
    return {f"{name}.weight": square(sampler, sizes) for name in ("W_Q", "W_K", "W_V", "W_O")}


def in_cache(scale: float) -> Draw:
    """Return a function that draws keys or values for the tokens in the cache.

    The trial's size "before" is the number of these tokens. If it is 0, the function returns None.
    """

    def draw(sampler: InputSampler, sizes: Sizes) -> Tensor | None:
        width = sizes["d_model"] // sizes["heads"]
        return normal(f"* heads before {width}", scale=scale)(sampler, sizes) if sizes["before"] else None

    return draw


draw_cached = drawn(
    sizes=chosen(dict(d_model="d_model", num_heads="heads")),
    weights=draw_cached_weights,
    tokens=normal("* tokens d_model", scale=2.0),
    keys=in_cache(2.0),
    values=in_cache(1.0),
)


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
    """Return the outputs of several calls. Each call gets the next tokens and the cache of the call before it."""
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
    """Draw a layer's weights and tokens, and add the sizes of the pieces into which the probe cuts the tokens."""
    inputs = draw_cached(sampler, before=0, tokens=sum(pieces), **sizes)
    return {**{name: inputs[name] for name in ("sizes", "weights", "tokens")}, "pieces": pieces}


def cached_conduct(
    attend_with_cache, MultiHeadAttention, sizes: Mapping, weights: Mapping, tokens: Tensor, keys, values
) -> Mapping[str, Value]:
    """Return the output, and whether the layer, the tokens and the given cache stay unchanged."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)

    def call(tokens: Tensor, keys: Tensor, values: Tensor) -> Any:
        return pair(attend_with_cache(layer, tokens, (keys, values)), ("output", "cache"))[0]

    effects = effects_of(call, {"tokens": tokens, "keys": keys, "values": values})
    state = layer.state_dict()
    kept = state.keys() == weights.keys() and all(torch.equal(state[name], weights[name]) for name in weights)
    handed = (keys, values)
    output = call(tokens, *handed)
    return {**effects, "the layer stays as it is": kept, "output": output}


CACHE = written_exercise("4.8 A key-value cache", attend_with_cache, (
    CheckSpec("start", 3, "without a cache: causal attention, and the keys and values of all tokens",
        examples=[sizes(before=0, tokens=3, d_model=4, heads=2)],
        trials=[sizes(before=0, tokens=5, d_model=6, heads=3),
            sizes(batch_shape=(3,), before=0, tokens=4, d_model=6, heads=2)]),
    CheckSpec("one", 5, "one new token sees all in the cache, and itself",
        examples=[sizes(before=2, tokens=1, d_model=4, heads=2)],
        trials=[sizes(before=5, tokens=1, d_model=6, heads=3),
            sizes(batch_shape=(3,), before=4, tokens=1, d_model=6, heads=2)]),
    CheckSpec("several", 3, "several new tokens, and calls one after the other",
        examples=[sizes(pieces=[2, 1, 2], d_model=4, heads=2)],
        trials=[sizes(pieces=[3, 1, 1, 4], d_model=6, heads=3),
            sizes(batch_shape=(2,), pieces=[1, 5], d_model=6, heads=2)],
        needs=("start", "one"), draw=draw_pieces, probe=cached_in_pieces),
    CheckSpec("conduct", 1, "layer, tokens and the old cache stay as they are, float64 stays float64",
        examples=[sizes(before=3, tokens=1, d_model=4, heads=2)],
        trials=[sizes(batch_shape=(2,), before=5, tokens=1, d_model=6, heads=3, dtype=torch.float64)],
        needs=("one",), probe=cached_conduct),
),
    draw=draw_cached, probe=cached_values,
    difficulty=2, minutes=15, review="Every word once",
    mistakes="""
    cache_not_read: The cache is not read: the new tokens look only at themselves. Put the keys and values of the cache
        before the new ones.
        + cache = None
    cache_not_extended: The returned cache contains only the new tokens. Return the earlier keys and values,
        followed by the new ones.
        = result[0], (key[..., -new:, :], value[..., -new:, :])
    cache_as_it_was: You return the cache as it was passed in. Return it with the new keys and values at the end.
        = result[0], result[1] if cache is None else cache
    cached_without_mask: Nothing is masked: each new token also sees those after it. New token t may see all
        earlier tokens, and new ones up to t.
        (query, key, value, mask)  →  (query, key, value)
    masked_at_first_only: Your code hides later tokens only in the first call. With a cache, the new tokens need a
        mask, too.
        (query, key, value, mask)  →  (query, key, value, mask if cache is None else None)
    mask_without_the_past: The causal mask begins at the first column, as if nothing were cached. New token t may
        see P + t + 1 keys: .tril(P).
        .tril(known - new)  →  .tril()
    mask_one_short: The mask hides each token from itself. The diagonal must be True.
        .tril(known - new)  →  .tril(known - new - 1); mask = mask | ~mask.any(-1, keepdim=True)
    new_before_old: The new keys and values come before the old ones. Put the old ones first, in the order of the
        tokens.
        torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
            →  torch.cat([key, cache[0]], dim=-2), torch.cat([value, cache[1]], dim=-2)
        .tril(known - new)  →  .tril(); mask[:, new:] = True
    values_before_keys: The cache contains values before keys. Return (keys, values).
        + cache = None if cache is None else cache[::-1]
        = result[0], result[1][::-1]
    old_values_repeated: The old keys are in front of the new values. Put the old values there: cache[1].
        cache[1]  →  cache[0]
    cached_without_projection: Your code joins the heads, but leaves out W_O. Apply it at the end.
        layer.W_O(merge_heads(output))  →  merge_heads(output)
    cached_scaled_by_d_model: Your code divides the scores by the root of d_model. Divide by √d_head, the root of
        the width of one head.
        (query, key, value, mask)  →  (query, key, value, mask, scale=tokens.shape[-1] ** -0.5)
    cached_before_the_split: The returned cache is not split into heads. Its keys and values have to be (...,
        H, P + T, d_head).
        = result[0], (merge_heads(key), merge_heads(value))
    tokens_cached: The cache contains the tokens, so their keys and values must be computed again in each call. Store
        the keys and values.
        + before = () if cache is None else (cache[0],)
        = result[0], 2 * (torch.cat([*before, split_heads(tokens, layer.num_heads)], dim=-2),)
    cache_changed_in_place: The input cache is changed. Make a new one with torch.cat: somebody may
        still need the old one.
        = (result, [old.zero_() for old in cache or ()])[0]
    heads_joined_as_they_lie: Your code joins the heads without swapping axes, so a token gets numbers of other
        tokens. First move the axis of the heads to the right of the axis of the tokens.
        merge_heads(output)  →  output.contiguous().reshape(tokens.shape)
""")  # fmt: skip
