# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Lab · Does attention explain?
#
# You have a model that answers questions about a picture, and maps that show where it looks. Do the maps tell *why* it
# answers? In this lab you put that to the test, on your own model. Then you repair models that do not look where they
# should, build the attention that today's large models use, and try other ways to bring an image into a text model.
#
# **The lab is optional.** It has 100 points of its own, which are not part of the course's 100 points a lesson.
#
# **You need** lessons 1 to 3. The four parts do not need one another: begin with the one that you like.
#
# <!-- table of points -->
#
# **Words** are explained where they first stand, and in the [glossary](#Glossary) at the end.

# %% id="setup" tags=["parameters"]
device = "auto"  # "cpu", "cuda", or "auto": the GPU if there is one
seed = 0
train_steps = None  # None: as many as the recipe says

# %% id="start"
import random
import time
from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)  # the tensors here are small: sharing them out would cost more than it brings
plt.rcParams.update({"figure.facecolor": "white", "savefig.facecolor": "white"})  # legible on a dark theme, too


def need(name, exercise):
    """Stop here, kindly, while something that this cell works with is not there yet."""
    if name not in globals():
        raise NotImplementedError(f"TODO {exercise}: this cell needs {name}, which is made further up")


print(f"PyTorch {torch.__version__} on {device}")

# %% tools="1"

# %% provided="attention.digits"

# %% provided="attention.tokens"

# %% provided="attention.builtin:MultiHeadAttention causal_mask"

# %% provided="attention.open_vlm"

# %% provided="attention.progress"

# %% provided="attention.recipe"

# %% [markdown]
# ## The model of lesson 3
#
# Here is lesson 3's model once more, with its recipe: the same parameters, trained on the same questions. It is written
# so that one can look inside, and reach in. `model.inside(token_ids, image_patches)` gives the logits, every map over the
# words, the map over the image, and what each head hands on.
#
# If you still have your own model of lesson 3, use it: `model.load_state_dict(yours.state_dict())`.

# %% id="train-model"
started = time.perf_counter()
model = OpenVLM(**MODEL).to(device)
steps = STEPS if train_steps is None else train_steps
record = train(model, answer_step, seed, steps=steps, align_steps=min(ALIGN_STEPS, steps), progress=progress)
model.eval()
print(f"{steps} steps in {time.perf_counter() - started:.1f} s, last loss {record['losses'][-1:].mean():.4f}")

# %% [markdown]
# # Part 1 · Do maps explain?

# <!-- section of exercises 4.1 to 4.4 -->

# %% [markdown]
# # Part 2 · Repair

# <!-- section of exercises 4.5 to 4.9 -->

# %% [markdown]
# # Part 3 · Modern attention
#
# The large models of today still compute softmax(QKᵀ/√d)V. What has changed is what stands around it: how positions come
# in, how many keys there are, in which order the arithmetic is done, and what is kept from one word to the next. You write
# each of the four in 4 to 15 lines.

# %% provided="attention.scaling"

# %% provided="attention.modern_plots"

# %% provided="attention.generation"

# %% provided="attention.cached_generation"

# %% provided="attention.shared_keys"

# %% provided="attention.predictions"

# %% [markdown]
# ## Positions that turn
#
# Lesson 3 adds a learned vector to each token, one for each place. It has nine: a tenth word has no place to stand. And a
# score of two such tokens depends on both places, where often only the distance matters.
#
# *Rotary positions* (Su et al. 2021, section 3.2.2) do not add anything. They turn queries and keys before the scores are
# made. Take two numbers of a vector as an arrow in the plane. At place p, turn it by the angle p · θ:
#
# $$ (x, y) \;\to\; (x \cos p\theta - y \sin p\theta,\;\; x \sin p\theta + y \cos p\theta) $$
#
# Turn two arrows by the same angle, and the angle between them stays. So the dot product of a query at place p and a key at
# place s depends on p − s alone, and every arrow keeps its length. After a full turn the angles repeat, so one speed θ is
# not enough. A vector of width d has d/2 pairs, and pair i its own speed, base^(−2i/d): the first turns by 1 for each
# place, the last hardly at all.
#
# **Which numbers form a pair** is a convention, and both are in use. The paper pairs neighbours, 0 with 1, 2 with 3. So do
# we. Other programs pair dimension i with i + d/2. Scores then have the same properties. But weights that were trained
# with one convention do not fit the other.

# %% [markdown] about="4.10"
# Write `rotate(vectors, positions, base=10000.0)`. Pair i is made of dimensions 2i and 2i + 1, neighbours, and turns by
# position · base^(−2i/d). An odd width raises a `ValueError`.
#
# **Expected** for the vector `[1, 0, 0, 2]` at place 3: `[−0.990, 0.141, −0.060, 1.999]`. The speeds are 1 and 0.01, so the
# first pair turns by 3 and the second by 0.03.
#
# <details><summary>First hint</summary>
#
# `vectors[..., 0::2]` and `vectors[..., 1::2]` are the first and the second of all pairs, each (..., n, d/2). The angles
# have that shape, too: `positions[..., None] * speeds`.
# </details>
#
# <details><summary>Second hint</summary>
#
# `torch.stack([first, second], dim=-1)` puts the partners beside each other, (..., n, d/2, 2), and `.flatten(-2)` makes
# one axis of the last two. `torch.cat` would put all firsts before all seconds.
# </details>


# %% exercise="4.10"
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d). Su et al. 2021, eq. 34.

    Args:
        vectors: (..., n, d), queries or keys
        positions: (n,), or (..., n), one for each vector; integers or fractions

    Returns:
        (..., n, d), in the dtype of the vectors

    Raises:
        ValueError: d is odd.
    """
    ### BEGIN SOLUTION
    d = vectors.shape[-1]
    if d % 2 == 1:
        raise ValueError(f"d = {d} is odd")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    first, second = vectors[..., 0::2], vectors[..., 1::2]
    turned = torch.stack((cos * first - sin * second, sin * first + cos * second), dim=-1)
    return turned.reshape(vectors.shape)
    ### END SOLUTION


# %% [markdown]
# A query and a key, drawn once. The query stands at place 0, at 50 or at 500, and the key 0 to 60 places behind it. On the
# left both are turned; on the right sines and cosines of the same speeds are added, as the first transformer did.

# %% id="try-rotary" draws="1"
generator = torch.Generator().manual_seed(seed)
query, key = torch.randn(2, 1, 64, generator=generator).to(device)
distances = torch.arange(61, device=device)
scores = {
    kind: {
        place: (put(query, torch.full((1,), place, device=device)) @ put(key.expand(61, -1), place + distances).T)[0] / 8
        for place in (0, 50, 500)
    }
    for kind, put in (("turned", rotate), ("added", added_waves))
}
show_shifts(scores)
for kind, by_place in scores.items():
    apart = max((by_place[0] - by_place[place]).abs().max().item() for place in (50, 500))
    print(f"{kind}: from one place to another the scores differ by up to {apart:.1g}")

# %% [markdown]
# *Two panels, the score against the distance. Left, turned: three lines that lie on each other. Right, added: three lines
# that part.*
#
# Turned, the score knows how far the key is, and does not know where. What is trained on short texts can be
# asked about places that it has never seen. Whether its *answers* are still good there is another matter.
#
# ### On a grid
#
# A patch of an image has a row and a column. Numbered row by row, the patch below is as far away as the rows are long, and
# the last patch of a row is a neighbour of the first one of the next. So give half of the dimensions to the row, and half to the
# column (Heo et al. 2024 call this axial).

# %% [markdown] about="4.11"
# Write `rotate_2d(vectors, rows, columns, base=10000.0)`: the first d/2 dimensions are turned by the row, the last d/2 by
# the column, each half as `rotate` turns a vector of width d/2. You may call `rotate`. The width d is a multiple of 4.
#
# **Expected** for `[1, 0, 0, 2]` in row 3 and column 1: `[−0.990, 0.141, −1.683, 1.081]`. Each half has one pair, of speed 1.
#
# <details><summary>First hint</summary>
#
# `vectors.chunk(2, dim=-1)` gives both halves.
# </details>
#
# <details><summary>Second hint</summary>
#
# `torch.cat` puts the turned halves together again. Hand the base on.
# </details>


# %% exercise="4.11"
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column. Axial: Heo et al. 2024.

    Args:
        vectors: (..., n, d), d a multiple of 4
        rows, columns: (n,), the place of each patch

    Returns:
        (..., n, d)
    """
    ### BEGIN SOLUTION
    half = vectors.shape[-1] // 2
    by_row, by_column = vectors.split(half, dim=-1)
    return torch.cat((rotate(by_row, rows, base), rotate(by_column, columns, base)), dim=-1)
    ### END SOLUTION


# %% id="try-rotary-2d" draws="1"
side, width = 15, 64
rows, columns = (place.flatten() for place in torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij"))
alike = torch.ones(side * side, width)  # every patch the same: only places can make a difference
middle = side * side // 2
grids = {}
for kind, put in (
    ("numbered row by row", rotate(alike, side * rows + columns)),
    ("row and column", rotate_2d(alike, rows, columns)),
):
    grids[kind] = (put @ put[middle]).unflatten(0, (side, side)) / width**0.5
show_grids(grids)
for kind, grid in grids.items():
    right, below = grid[side // 2, side // 2 + 1], grid[side // 2 + 1, side // 2]
    print(f"{kind:20} the patch to the right: {right:.2f}, the patch below: {below:.2f}")

# %% [markdown]
# *Two heat maps of 15 × 15 patches around a mark in the middle. Left: bright to the left and right of the mark, dark stripes
# above and below. Right: a bright cross that fades alike in four directions, and is darker along the diagonals.*
#
# All patches are the same here, so the scores show nothing but places. With rows and columns the patch below is as near as
# the one to the right: **7.83** for both, where the patch itself has 8. Numbered row by row they have 7.73 and 4.87.

# %% [markdown]
# ## Fewer keys than queries
#
# A model that writes keeps the keys and values of all words so far (you build that below). For each word these are
# 2 · layers · heads · d_head numbers. LLaMA 2 with 70 billion weights has 80 layers and 64 heads of width 128. With keys and
# values for every head, in 16 bits, a text of 4,096 words needs 10.7 GB beside the weights, and another text another 10.7.
#
# *Grouped queries* (Ainslie et al. 2023, section 2.2): several heads ask, and share one set of keys and values. This model has 8
# groups of 8 heads, and needs 1.3 GB. One group for all heads is *multi-query attention* (Shazeer 2019); as many groups as
# heads is what you know.

# %% [markdown] about="4.12"
# Write `grouped_attention(query, key, value, mask=None)`: queries for H heads, keys and values for G groups. Heads that stand
# beside each other share: head h looks at group h // (H/G). The output has H heads. Where H is no multiple of G, raise a
# `ValueError`. Write the attention yourself, without `F.scaled_dot_product_attention`.
#
# **Expected** for 4 heads and 2 groups: heads 0 and 1 look at group 0, heads 2 and 3 at group 1.
#
# <details><summary>First hint</summary>
#
# Give each head its group's keys: `key.repeat_interleave(H // G, dim=-3)` is (..., H, S, d). From there on it is attention as
# you know it.
# </details>
#
# <details><summary>Second hint</summary>
#
# The mask has no axis for heads. (T, S) fits as it is. With a batch, `mask.unsqueeze(-3)` makes room for the heads.
# </details>


# %% exercise="4.12"
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G). Ainslie et al. 2023, section 2.2.

    Args:
        query: (..., H, T, d)
        key: (..., G, S, d)
        value: (..., G, S, d_v)
        mask: bool, broadcastable to (..., T, S), the same for every head; True = may attend. Each query may attend
            to one key at least.

    Returns:
        (..., H, T, d_v)

    Raises:
        ValueError: H is no multiple of G.
    """
    ### BEGIN SOLUTION
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError(f"{H} heads, {G} groups")
    own_key, own_value = (source.repeat_interleave(H // G, dim=-3) for source in (key, value))
    scores = torch.einsum("...td,...sd->...ts", query, own_key) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ own_value
    ### END SOLUTION


# %% [markdown]
# What does it cost to share? Take your trained model, and let its four heads share from now on: average the matrices
# W_K and W_V of the heads in a group. Then train it on for a tenth of its steps. Ainslie et al.
# (section 2.1) did so with a large model, and needed a twentieth.

# %% id="share-keys" draws="1"
need("grouped_attention", "4.12")
unseen = draw_questions(1000, torch.Generator().manual_seed(seed + 7), "test", fewest=9, most=9).to(device)
for groups in (4, 2, 1):
    shared = share_keys(model, groups)
    layer, tokens = shared.blocks[0].self_attn, torch.randn(2, 9, MODEL["d_model"], device=device)
    with torch.no_grad():
        heads = [linear(tokens).unflatten(-1, (4, -1)).transpose(-3, -2) for linear in (layer.W_Q, layer.W_K, layer.W_V)]
        of_groups = [heads[0], *(source[:, :: 4 // groups] for source in heads[1:])]
        off = (grouped_attention(*of_groups) - heads_of(layer, tokens, tokens)[1]).abs().max()
    before = words_right(shared, unseen)
    train_on(shared, answer_step, seed)
    after = words_right(shared, unseen)
    print(f"{groups} groups: {before:.3f} of the words right, trained on {after:.3f}; grouped_attention off by {off:.0e}")

# %% [markdown]
# Without training the model falls apart: what one head looks for is not what its neighbour looks for, and their mean is
# neither. After 80 steps it has nearly recovered. Over 5 seeds, the share of right words on 2,000 questions about unseen images:
#
# | groups | shared | trained on |
# |--:|--:|--:|
# | 4 | 0.980 to 0.981 | 0.975 to 0.981 |
# | 2 | 0.406 to 0.467 | 0.972 to 0.980 |
# | 1 | 0.098 to 0.138 | 0.944 to 0.968 |
#
# Four groups share nothing, so that row says what the training alone does: hardly anything. Two groups lose little, and with one group for all
# heads some of the words stay lost.

# %% [markdown]
# ## A softmax while the keys go by
#
# Attention of n queries to n keys makes n² weights, only to add values up with them. Is the matrix needed? A softmax divides
# by the sum over *all* keys, so it seems that one has to see them all first. One has not (Milakov and Gimelshein 2018).
#
# Walk over the keys in tiles, and keep three things for each query: the **largest** score so far, the **total** of the
# exponentials exp(score − largest), and their **sum with the values**. If the next tile has a larger score, all
# exponentials so far were measured against the wrong number. They are all too large by the same factor. So multiply both
# sums by exp(old largest − new largest), and go on. At the end, divide. Nothing is approximated.
#
# FlashAttention (Dao et al. 2022, section 3.1) does this with tiles that fit into the fast memory of a GPU.
#
# An example: scores 0 and 2 in the first tile, 3 in the second; values 1, 2 and 4.
#
# | after | largest | total | sum with the values |
# |---|--:|--:|--:|
# | the first tile | 2 | 1.135 | 2.135 |
# | scaled by exp(2 − 3) = 0.368 | 3 | 0.418 | 0.786 |
# | the second tile | 3 | 1.418 | 4.786 |
#
# The output is 4.786 / 1.418 = 3.376, the same as with softmax([0, 2, 3]) = [0.035, 0.259, 0.705].

# %% [markdown] about="4.13"
# Write `tiled_attention(query, key, value, tile)`: the same output as dense attention, with at most `tile` keys at a
# time. At no time may T × S numbers stand in memory, in one tensor or in several. Write it yourself, without
# `F.scaled_dot_product_attention`.
#
# <details><summary>First hint</summary>
#
# Begin with largest −∞, (..., T, 1), and with zeros for both sums. `torch.maximum(largest, scores.amax(-1, keepdim=True))`
# is the new largest.
# </details>
#
# <details><summary>Second hint</summary>
#
# In the loop: `scores`, the new largest, `shrink = exp(old − new)`, `weights = exp(scores − new)`; then `total = total ·
# shrink + weights.sum(-1, keepdim=True)`, and the same with `weights @ values` of the tile.
# </details>
#
# Expected below: off by less than 10⁻⁶ from dense attention.


# %% exercise="4.13"
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time. Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022.

    Gradients are not asked for.

    Args:
        query: (..., T, d)
        key: (..., S, d)
        value: (..., S, d_v)
        tile: at least 1; need not divide S

    Returns:
        (..., T, d_v)
    """
    ### BEGIN SOLUTION
    largest = torch.full_like(query[..., :1], float("-inf"))  # (..., T, 1)
    total = torch.zeros_like(largest)
    output = torch.zeros_like(query[..., :1]) * value[..., :1, :]  # (..., T, d_v)
    for keys, values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True):
        scores = query @ keys.transpose(-1, -2) / query.shape[-1] ** 0.5  # (..., T, tile)
        new_largest = torch.maximum(largest, scores.max(dim=-1, keepdim=True).values)
        shrink = (largest - new_largest).exp()
        weights = (scores - new_largest).exp()
        total = total * shrink + weights.sum(dim=-1, keepdim=True)
        output = output * shrink + weights @ values
        largest = new_largest
    return output / total
    ### END SOLUTION


# %% id="try-tiled" draws="1"
query, key, value = torch.randn(3, 500, 64, generator=torch.Generator().manual_seed(seed))
for tile in (1, 64, 300, 1000):
    off = (tiled_attention(query, key, value, tile) - dense_attention(query, key, value)).abs().max()
    print(f"tiles of {tile:4} keys: off by {off:.0e}")

# %% [markdown]
# ### Predict, then run: memory and time
#
# Next, dense and tiled attention at growing n, one head of width 64, tiles of 64 keys, on one core, without gradients. Dense
# attention holds two matrices of n × n numbers at its peak: the scores, and their softmax.
#
# **Predict first.** At n = 4,096: how many times more memory than tiled attention does dense attention need at its peak? Put a
# number in place of `None`, or leave it open.

# %% predict="tiled-memory"
my_ratio = {"dense / tiled, memory": None}

# %% id="tiled-costs" draws="1"
need("tiled_attention", "4.13")
lengths = (512, 1024, 2048, 4096)
attentions = {
    "dense": dense_attention,
    "tiled": lambda *tensors: tiled_attention(*tensors, tile=64),
    "fused": lambda *tensors: F.scaled_dot_product_attention(*(tensor[None] for tensor in tensors)),
}
costs = {name: {n: cost_of(attend, n) for n in lengths} for name, attend in attentions.items()}
show_scaling(costs)
longest = {name: by_length[lengths[-1]] for name, by_length in costs.items()}
for name, cost in longest.items():
    print(f"{name} at n = {lengths[-1]:,}: {1000 * cost.seconds:6.1f} ms, {cost.megabytes:6.2f} MB")
compare_predictions(my_ratio, {"dense / tiled, memory": longest["dense"].megabytes / longest["tiled"].megabytes})

# %% [markdown]
# *Two panels with logarithmic axes. Time: three lines that rise alike, with a slope of about 2. Memory: the line of dense
# attention rises with a slope of 2.0, that of tiled attention with 1.0; the fused kernel needs least.*
#
# At n = 4,096 dense attention needs 21 times the memory of tiled attention, and at twice the length twice as many times. The
# time of all three grows with n² or somewhat more: every query still meets every key. Our own program, a loop in Python that
# computes some exponentials more, took 0.6 to 1.0 times as long as dense attention. Less is written to memory and read
# again: that is the point of FlashAttention.
#
# In *training* your function saves nothing, because autograd keeps every tile for the way back. FlashAttention computes the
# tiles a second time there.

# %% [markdown]
# ## Every word once
#
# `generate` from lesson 3 hands the model all words so far, for each new word. Yet with a causal mask the earlier words see
# nothing of the new one: their keys and values are what they were. So keep them. For the next word compute one query,
# one key and one value, put the key and the value behind the kept ones, and let the query look at all of them. That is the
# *key-value cache* (Shazeer 2019, section 2.4).

# %% [markdown] about="4.14"
# Write `attend_with_cache(layer, tokens, cache=None)`: causal self-attention of T **new** tokens to the P tokens in the cache
# and to themselves. `layer` is a `MultiHeadAttention` with `W_Q`, `W_K`, `W_V`, `W_O` and `num_heads`. It returns the output
# for the new tokens, and the new cache `(keys, values)` of all P + T tokens, after the split into heads.
#
# The first call gets a whole prompt and no cache, later ones mostly a single token. Yours works for any T and P.
#
# <details><summary>First hint</summary>
#
# Project and split the new tokens alone: `layer.W_K(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)` is
# (..., H, T, d_head). Then `torch.cat([cache[0], key], dim=-2)`.
# </details>
#
# <details><summary>Second hint</summary>
#
# New token t may see P + t + 1 keys: `torch.ones(T, P + T, dtype=torch.bool).tril(P)`.
# `F.scaled_dot_product_attention(query, key, value, attn_mask=mask)` is allowed here. Then join the heads, and `W_O`.
# </details>
#
# Expected below: the same words as from `generate`.


# %% exercise="4.14"
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves. Shazeer 2019, section 2.4.

    Args:
        layer: a MultiHeadAttention
        tokens: (..., T, d_model), the new tokens alone
        cache: keys and values of the tokens before, each (..., H, P, d_head); None at the start

    Returns:
        output (..., T, d_model), cache: keys and values of all tokens, each (..., H, P + T, d_head)
    """
    ### BEGIN SOLUTION
    def split(tensor):
        return tensor.unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)

    queries, keys, values = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    before = 0
    if cache is not None:
        before = cache[0].shape[-2]
        keys = torch.cat([cache[0], keys], dim=-2)
        values = torch.cat([cache[1], values], dim=-2)
    new = torch.arange(tokens.shape[-2], device=tokens.device)
    visible = torch.arange(keys.shape[-2], device=tokens.device) <= before + new[:, None]  # (T, P + T)
    seen = F.scaled_dot_product_attention(queries, keys, values, attn_mask=visible)
    return layer.W_O(seen.movedim(-3, -2).flatten(-2)), (keys, values)
    ### END SOLUTION


# %% [markdown]
# First on your trained model: the answers with and without the cache must be the same. `generate_with_cache` calls your
# function in every block, and hands the model one word at a time.

# %% id="try-cache" draws="1"
need("attend_with_cache", "4.14")
same = 0
for task, length in zip(TASKS, PROMPT_LENGTHS, strict=True):
    asked = draw_questions(200, torch.Generator().manual_seed(seed + 7), "test", (task,), fewest=9, most=9).to(device)
    prompts = asked.token_ids[:, :length]
    plain = generate(model, prompts, asked.image_patches, 4, EOS)
    cached = generate_with_cache(model, prompts, asked.image_patches, 4, EOS, attend_with_cache)
    same += sum(torch.equal(*pair) for pair in zip(plain, cached, strict=True)) if plain.shape == cached.shape else 0
print(f"{same} of 600 answers are the same, word for word")

# %% [markdown]
# ### Predict, then run: 256 words
#
# Your model says four words at most, so there is little to save. Next comes one of the same size with places for 300 words. It
# has learned nothing and babbles, which takes as long as sense does. It answers 8 prompts at once.
#
# **Predict first.** For 256 new words: how many times faster is it with the cache?

# %% predict="cache-speed"
my_speed = {"without / with cache, seconds": None}

# %% id="cache-speed" draws="1"
need("attend_with_cache", "4.14")
babbler = OpenVLM(**{**MODEL, "max_tokens": 300}).eval()
draw_start(babbler, seed)
prompts, scenes = asked.token_ids[:8, :5].cpu(), asked.image_patches[:8].cpu()
seconds = {"all words each time": {}, "every word once": {}}
for words in (32, 64, 128, 256):
    said = []
    for name, answer in (
        ("all words each time", generate),
        ("every word once", lambda *asked: generate_with_cache(*asked, attend_with_cache)),
    ):
        began = time.process_time()
        said.append(answer(babbler, prompts, scenes, words, -1))
        seconds[name][words] = time.process_time() - began
    print(f"{words:3} words: {'the same' if torch.equal(*said) else 'NOT the same'} with and without the cache")
show_seconds(seconds)
slow, fast = (by_words[256] for by_words in seconds.values())
compare_predictions(my_speed, {"without / with cache, seconds": slow / fast})

# %% [markdown]
# *Seconds against the number of new words, both axes logarithmic. The upper line, all words each time, is the steeper one: from
# 32 to 256 words the two lines part.*
#
# The longer the text, the more the cache saves: without it the work for one word grows with all words before. At 256 words, over
# 5 seeds, the answers were the same word for word, and at least 4 times faster with one prompt, and 15 times with eight. One
# prompt gains less, because calling so many small operations takes time of its own. The price is memory, and that is
# where grouped queries come in.
#
# ### Which kernel? Only on a GPU
#
# `F.scaled_dot_product_attention` chooses among several programs: one that writes the weights to memory, and some that work
# in tiles. On a GPU the next cell compares them.

# %% id="back-ends" draws="1"
if device == "cpu":
    print("There is one fused program on a CPU, so there is nothing to compare.")
else:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    query, key, value = torch.randn(3, 8, 16, 2048, 64, device=device, dtype=torch.float16)
    for backend in (SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION):
        try:
            with torch.no_grad(), sdpa_kernel(backend):
                F.scaled_dot_product_attention(query, key, value)
                torch.cuda.synchronize()
                torch.cuda.reset_peak_memory_stats()
                held, began = torch.cuda.memory_allocated(), time.perf_counter()
                for _ in range(10):
                    F.scaled_dot_product_attention(query, key, value)
                torch.cuda.synchronize()
            taken, most = time.perf_counter() - began, torch.cuda.max_memory_allocated() - held
            print(f"{backend.name:22} {100 * taken:7.2f} ms, {most / 1e6:8.1f} MB")
        except RuntimeError as error:
            print(f"{backend.name:22} not on this GPU: {str(error).splitlines()[0][:60]}")

# %% [markdown]
# # Part 4 · Three ways to bring the image in

# <!-- section of exercises 4.15 to 4.17 -->

# %% [markdown]
# # A richer world

# <!-- section without points -->

# %% [markdown]
# ## What you have now
#
# <!-- the lead writes this at the end -->

# %% [markdown] id="glossary"
# ## Glossary
#
# <!-- glossary -->
