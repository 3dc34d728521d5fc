"""Exercises 2.4 and 2.5: split_heads, and merge_heads, which undoes it."""

from __future__ import annotations

import torch
from attention.heads import merge_heads, split_heads
from torch import Tensor

from grader.declaration.exercise import Exercise, mistake, mistakes_in
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.records import Inputs

ANY_HEAD_BATCH = "no batch, or several batch dimensions"

# ---------------------------------------------------------------- 2.4 split_heads


def draw_tokens(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    heads: int,
    d_head: int,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw tokens (..., T, heads · d_head), and add the number of heads."""
    return {"tokens": sampler.normal(*batch_shape, tokens, heads * d_head, dtype=dtype), "num_heads": heads}


@mistake(
    "split_heads",
    "The shape is right, but the numbers of different tokens are mixed. First give the heads an axis of their own, then swap axes.",
)
def reshape_without_transpose(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.reshape(*tokens.shape[:-2], num_heads, tokens.shape[-2], -1)


@mistake("split_heads", "The heads have their axis, but it stands behind the tokens. Swap the two.")
def tokens_before_heads(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (num_heads, -1))


@mistake(
    "split_heads",
    "Each head gets d_head numbers that stand side by side. Here head 0 gets every num_heads-th number.",
)
def every_other_feature(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (-1, num_heads)).movedim(-1, -3)


@mistake("split_heads", "num_heads says how many heads there are, not how wide one is.")
def heads_for_width(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (-1, num_heads)).transpose(-3, -2)


@mistake("split_heads", "The last two axes are swapped: each head holds tokens × d_head.")
def features_before_tokens(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (num_heads, -1)).movedim(-3, -1)


@mistake(
    "split_heads", "This splits the tokens among the heads. Every head sees every token; split the features."
)
def tokens_shared_out(tokens: Tensor, num_heads: int) -> Tensor:
    return torch.stack(tokens.tensor_split(num_heads, dim=-2)[:1] * num_heads, dim=-3)


@mistake(
    "split_heads",
    "This needs exactly one batch axis. Count the axes from the end, so that none or two are fine as well.",
)
def one_batch_axis(tokens: Tensor, num_heads: int) -> Tensor:
    batch, n, d_model = tokens.shape
    return tokens.reshape(batch, n, num_heads, d_model // num_heads).transpose(1, 2)


SPLITS = StandardChecks(reference=split_heads, returns=("heads",), draw=draw_tokens)

SPLIT_BATCH = SPLITS.batch(
    2,
    title=ANY_HEAD_BATCH,
    examples=[dict(tokens=4, heads=2, d_head=3)],
    trials=[
        dict(tokens=7, heads=5, d_head=3),
        dict(batch_shape=(2, 3), tokens=5, heads=7, d_head=11),
        dict(batch_shape=(1,), tokens=1, heads=3, d_head=5),
        dict(tokens=5, heads=1, d_head=7),
    ],
)

SPLIT = Exercise(
    id="2.4",
    title="Splitting into heads",
    reference=(split_heads,),
    points=10,
    difficulty=2,
    minutes=8,
    checks=(
        SPLITS.values(
            "each head gets its own features of every token",
            7,
            examples=[dict(batch_shape=(2,), tokens=4, heads=2, d_head=3)],
            trials=[
                dict(batch_shape=(2,), tokens=7, heads=3, d_head=5),
                dict(batch_shape=(3,), tokens=10, heads=5, d_head=2),
            ],
        ),
        SPLIT_BATCH,
        SPLITS.conduct(1, trials=[dict(batch_shape=(2,), tokens=5, heads=3, d_head=7, dtype=torch.float64)]),
    ),
    mistakes=mistakes_in(globals(), "split_heads"),
    review="Splitting and joining",
)

# ---------------------------------------------------------------- 2.5 merge_heads


def draw_heads(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    heads: int,
    tokens: int,
    d_head: int,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw outputs of the heads (..., H, T, d_head), which merge_heads joins."""
    return {"heads": sampler.normal(*batch_shape, heads, tokens, d_head, dtype=dtype)}


@mistake(
    "merge_heads",
    "The shape is right, but the numbers of different tokens are mixed. First swap heads and tokens, then flatten.",
)
def flatten_without_transpose(heads: Tensor) -> Tensor:
    count, n, d_head = heads.shape[-3:]
    return heads.reshape(*heads.shape[:-3], n, count * d_head)


@mistake(
    "merge_heads", "The heads are joined in the wrong order: first all numbers of head 0, then all of head 1."
)
def interleaved(heads: Tensor) -> Tensor:
    return heads.movedim(-3, -1).flatten(-2)


@mistake("merge_heads", "The heads stand side by side in the result; they are not averaged.")
def averaged(heads: Tensor) -> Tensor:
    return heads.mean(-3)


@mistake("merge_heads", "The heads stand side by side in the result; they are not added up.")
def added_up(heads: Tensor) -> Tensor:
    return heads.sum(-3)


@mistake(
    "merge_heads",
    "The heads are stacked below one another. They belong side by side, in the features of each token.",
)
def heads_as_tokens(heads: Tensor) -> Tensor:
    return heads.flatten(-3, -2)


@mistake(
    "merge_heads",
    "After a transpose the numbers no longer lie in order, and view refuses. Use flatten or reshape.",
)
def view_after_transpose(heads: Tensor) -> Tensor:
    swapped = heads.transpose(-3, -2)
    return swapped.view(*swapped.shape[:-2], -1)


@mistake("merge_heads", "Two axes are joined, but not swapped first: heads must stand behind tokens.")
def joins_without_swapping(heads: Tensor) -> Tensor:
    return heads.flatten(-2)


@mistake(
    "merge_heads",
    "This needs exactly one batch axis. Count the axes from the end, so that none or two are fine as well.",
)
def one_batch_axis_here(heads: Tensor) -> Tensor:
    batch, count, n, d_head = heads.shape
    return heads.transpose(1, 2).reshape(batch, n, count * d_head)


MERGES = StandardChecks(reference=merge_heads, returns=("tokens",), draw=draw_heads)

MERGE = Exercise(
    id="2.5",
    title="Joining the heads",
    reference=(merge_heads,),
    points=10,
    difficulty=2,
    minutes=6,
    checks=(
        MERGES.values(
            "the heads' numbers stand side by side, token by token",
            7,
            examples=[dict(batch_shape=(2,), heads=2, tokens=4, d_head=3)],
            trials=[
                dict(batch_shape=(2,), heads=3, tokens=7, d_head=5),
                dict(batch_shape=(3,), heads=5, tokens=11, d_head=2),
            ],
        ),
        MERGES.batch(
            2,
            title=ANY_HEAD_BATCH,
            examples=[dict(heads=2, tokens=4, d_head=3)],
            trials=[
                dict(heads=5, tokens=7, d_head=3),
                dict(batch_shape=(2, 1), heads=7, tokens=1, d_head=11),
            ],
        ),
        MERGES.conduct(1, trials=[dict(batch_shape=(2,), heads=3, tokens=5, d_head=7, dtype=torch.float64)]),
    ),
    mistakes=mistakes_in(globals(), "merge_heads"),
    review="Splitting and joining",
)
