# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Lab · Modern attention
#
# Attention has hardly changed since 2017: the large models of today still compute softmax(QKᵀ/√d)V. What has changed is
# everything around it, because texts have become long. In this lab you measure what a long sequence costs, and you
# write the parts that make it affordable.
#
# In this lab you
#
# - compare four ways to compute attention: dense, windowed, linear and fused, in time and in memory;
# - compute an exact softmax tile by tile, while the keys go by;
# - turn queries and keys by their positions, on a line and on a grid;
# - let several heads share their keys and values, and keep keys and values from one word to the next.
#
# Before you begin:
#
# - **You need** lesson 1. The second half, from *Several heads, and a model that writes* on, uses parts of lessons 2 and 3.
#   The notebook provides them and says what they do.
# - **The lab is optional**: its 100 points do not count among the course's 300.
# - **Time**: <!-- minutes to read --> minutes to read, and 94 minutes for the eight exercises. All cells together compute for less
#   than a minute.
# - **Words** are explained where they are first used, and in the [glossary](#Glossary) at the end of this notebook.
#
# <!-- table of points -->
#
# <!-- what every answer must do -->

# %% id="setup" tags=["parameters"]
device = "auto"  # "cpu", "cuda", or "auto": the GPU if there is one
seed = 0
train_steps = None  # None: as many as the recipe says

# %% id="start"
import random
import time

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
    """Stop a cell as long as a name that it uses is missing."""
    if name not in globals():
        raise NotImplementedError(f"TODO {exercise}: This cell needs {name}. A cell above makes it once {exercise} is solved.")


print(f"PyTorch {torch.__version__} on {device}")

# %% tools="1"

# %% provided="attention.measures.predictions"

# %% provided="attention.builtin:MultiHeadAttention causal_mask masked_attention"

# %% [markdown]
# # What do you still know?
#
# Here are five questions about lesson 1. Answer them from memory, in place of `None`, and then run both cells. There are no
# points.

# %% predict="recall"
recall = {
    # Queries of shape (2, 5, 8) meet keys of shape (2, 7, 8).
    # Which shape do the weights have? A tuple.
    "a shape": (2, 5, 7),
    # The numbers of queries and keys have mean 0 and variance 1. What is
    # the standard deviation of their dot products at width 64?
    "a number": 8,
    # A query has the scores (0, log 3). Which weights does it give its
    # two keys, (…, …)?
    "a map": (0.25, 0.75),
    # Somebody adds 10 to all scores of one query. Its weights:
    # "changed" or "the same"?
    "higher scores": "the same",
    # Six words stand behind a causal mask. To how many of them may the
    # third word attend, counting itself?
    "a causal mask": 3,
}

# %% id="recalled" hidden="Check your five answers" draws="1"
drawn = torch.Generator().manual_seed(0)
dots = (torch.randn(20000, 64, generator=drawn) * torch.randn(20000, 64, generator=drawn)).sum(-1)
scores = torch.tensor([1.0, 3.0]).log()
check_recall(
    recall,
    {
        "a shape": (tuple((torch.ones(2, 5, 8) @ torch.ones(2, 7, 8).mT).shape), "One row for each query, one number for each key."),
        "a number": (round(dots.std().item()), "It is √64. Lesson 1 therefore divides the scores by √d_k."),
        "a map": ([round(one, 2) for one in scores.softmax(-1).tolist()], "exp(0) is 1 and exp(log 3) is 3: one of four parts, and three."),
        "higher scores": (
            "the same" if torch.allclose(scores.softmax(-1), (scores + 10).softmax(-1)) else "changed",
            "The softmax divides by the sum, and the factor exp(10) cancels.",
        ),
        "a causal mask": (causal_mask(6)[2].sum().item(), "The first, the second, and itself."),
    },
)

# %% [markdown]
# ## What attention costs
#
# Dense attention makes a weight for every pair. The 9 patches of a scene need 81. An image of 1024×1024 pixels in patches of
# 16×16 has 4,096 tokens, and one head of one layer then has 16,777,216 weights. A text of 100,000 words has 10 billion weights, 40 GB
# in 32 bits. A film of 200 images with 576 patches each has 13 billion, 53 GB. Three ways out, which do not do the
# same thing:
#
# - **Window**: each position sees only its neighbours. Cost n · window. A different function: far pairs are cut off.
# - **Linear attention**: replace exp(q·k) by φ(q)·φ(k); the sum over the keys is then made once, for all queries. Cost
#   n · d². A different function again; it does not approximate softmax.
# - **Fused kernels** (FlashAttention, Dao et al. 2022): the same function, exactly. The weights are made tile by tile
#   and never written to memory. It does not reduce the arithmetic; it reduces memory traffic.
#
# After the three exercises you see all four in one figure: time and memory against the number of positions.

# %% [markdown] about="4.1"
# Write `sliding_window_attention(query, key, value, window)`. Position i sees positions j with |i − j| ≤ window. A
# key of zeros is a key like any other. No tensor of n × n numbers may be made. A model is to be trained through it:
# let gradients reach all three.
#
# <details><summary>First hint</summary>
#
# A tensor of shape (n, 2·window + 1) is allowed. Pad keys and values by `window` at both ends.
# </details>
#
# <details><summary>Second hint</summary>
#
# `padded.unfold(-2, 2 * window + 1, 1)` gives every position its neighbours, as a view. Mask the padding before the
# softmax.
# </details>
#
# Expected below: the same numbers as dense attention under a band mask.


# %% exercise="4.1"
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    ### BEGIN SOLUTION
    n, span = query.shape[-2], 2 * window + 1
    near_keys = F.pad(key, (0, 0, window, window)).unfold(-2, span, 1)  # (..., n, d, span)
    near_values = F.pad(value, (0, 0, window, window)).unfold(-2, span, 1)  # (..., n, d_v, span)
    scores = (query.unsqueeze(-2) @ near_keys).squeeze(-2) / query.shape[-1] ** 0.5  # (..., n, span)
    place = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, window + 1, device=query.device)
    scores = scores.masked_fill((place < 0) | (place >= n), float("-inf"))
    return (near_values @ scores.softmax(-1).unsqueeze(-1)).squeeze(-1)
    ### END SOLUTION


# %% [markdown] about="4.2"
# Write `linear_attention(query, key, value)` with φ(x) = elu(x) + 1 (Katharopoulos et al. 2020). No tensor of n × n
# numbers may be made.
#
# $$ \text{output}_i = \frac{\phi(q_i)^\top \sum_j \phi(k_j)\, v_j^\top}{\phi(q_i)^\top \sum_j \phi(k_j)} $$
#
# <details><summary>First hint</summary>
#
# The two sums over j do not depend on i: make them once. The first is φ(K)ᵀV, of shape (d, d_v).
# </details>
#
# <details><summary>Second hint</summary>
#
# φ(Q) @ (φ(K)ᵀ @ V), not (φ(Q) @ φ(K)ᵀ) @ V: the brackets make the difference between n · d² and n² · d.
# </details>
#
# Expected below: the same numbers as its quadratic form, and *not* those of softmax.


# %% exercise="4.2"
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    ### BEGIN SOLUTION
    phi_q, phi_k = F.elu(query) + 1.0, F.elu(key) + 1.0
    pairs = torch.einsum("...jd,...je->...de", phi_k, value)
    above = torch.einsum("...id,...de->...ie", phi_q, pairs)
    below = torch.einsum("...id,...d->...i", phi_q, phi_k.sum(dim=-2))
    return above / below[..., None]
    ### END SOLUTION


# %% [markdown] about="4.3"
# A `MultiHeadAttention` (lesson 2) cuts the vectors of a token into H shorter ones, the *heads*. Each head attends on its own, and
# `W_O` joins what the heads found. The layer that this notebook provides returns the output and all weights.
# Write `fused_forward(layer, tokens, context=None, mask=None)`: the output of a `MultiHeadAttention`, with
# `F.scaled_dot_product_attention` in the middle and no weights. Here too True in the mask means "may attend". A token
# that may attend nowhere gets zeros. In evaluation mode nothing is dropped.
#
# <details><summary>First hint</summary>
#
# Project with `layer.W_Q, W_K, W_V`, split into heads (..., H, n, d_head), fuse, join the heads, project with `W_O`.
# </details>
#
# <details><summary>Second hint</summary>
#
# A mask with a batch, (B, T, S), has no head axis: `mask.unsqueeze(-3)` makes it hold for every head. A mask of two axes, (T, S) or
# (1, S), holds for every head already.
# </details>
#
# Expected below: the same output, in less time on long sequences.


# %% exercise="4.3"
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """Compute the output of a MultiHeadAttention with PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    ### BEGIN SOLUTION
    source = tokens if context is None else context
    heads = layer.num_heads

    def split(tensor):
        return tensor.reshape(*tensor.shape[:-1], heads, -1).transpose(-3, -2)

    if mask is not None and mask.dim() > 2:
        mask = mask.unsqueeze(-3)
    mixed = F.scaled_dot_product_attention(
        split(layer.W_Q(tokens)), split(layer.W_K(source)), split(layer.W_V(source)), attn_mask=mask
    )
    mixed = mixed.transpose(-3, -2)
    return layer.W_O(mixed.reshape(*mixed.shape[:-2], -1))
    ### END SOLUTION


# %% id="try-efficient" draws="1"
generator = torch.Generator().manual_seed(seed)
query, key, value = (torch.randn(64, 16, generator=generator) for _ in range(3))
band = torch.ones(64, 64).tril(3).triu(-3).bool()
dense = F.scaled_dot_product_attention(query[None], key[None], value[None], attn_mask=band)[0]
print(f"window: off by {(sliding_window_attention(query, key, value, 3) - dense).abs().max():.1e}")
similarity = (F.elu(query) + 1) @ (F.elu(key) + 1).T
quadratic = similarity / similarity.sum(-1, keepdim=True) @ value
softmax = F.scaled_dot_product_attention(query[None], key[None], value[None])[0]
print(f"linear: off by {(linear_attention(query, key, value) - quadratic).abs().max():.1e} from its quadratic form,")
print(f"        by {(linear_attention(query, key, value) - softmax).abs().max():.1e} from softmax attention")

layer, long = MultiHeadAttention(64, 4), torch.randn(1, 256, 64, generator=generator)
with torch.no_grad():
    print(f"fused:  off by {(fused_forward(layer, long) - layer(long)[0]).abs().max():.1e} from the layer with weights")

# %% provided="attention.measures.scaling"

# %% provided="attention.plots.modern_plots"

# %% [markdown]
# ### Four attentions on one figure
#
# The next cell measures dense, windowed, linear and fused attention at growing n, one head of width 64, on one core.
# On logarithmic axes a cost of n to the power p is a straight line of slope p: doubling n adds p doublings of the
# cost. Which slopes do you expect, for time and for memory?

# %% id="scaling" draws="1"
lengths = (512, 1024, 2048, 4096)
costs = {
    name: {n: cost_of(attend, n) for n in lengths}
    for name, attend in (
        ("dense", dense_attention),
        ("window of 64", lambda query, key, value: sliding_window_attention(query, key, value, 64)),
        ("linear", linear_attention),
        ("fused", lambda *tensors: F.scaled_dot_product_attention(*(tensor[None] for tensor in tensors))),
    )
}
show_scaling(costs)
for name, by_length in costs.items():
    last = by_length[lengths[-1]]
    print(f"{name:13} at n = {lengths[-1]:,}: {1000 * last.seconds:7.1f} ms, {last.megabytes:7.2f} MB")

# %% [markdown]
# *Two panels with logarithmic axes, four lines each, and two grey ones, of slopes 1 and 2, to compare with. Time: dense and fused rise
# with a slope of 2 or somewhat more, the window and linear attention with about 1. Memory: dense rises with a slope of 2, the others
# with 1 or less.*
#
# Fused attention still computes every pair: its time grows as fast as that of dense attention, and only its memory
# does not. The window and linear attention make both grow in proportion to n, and pay with another function. A slope
# decides on long sequences. On short ones it does not: which line is the highest at 512 positions?

# %% [markdown]
# ## A softmax while the keys go by
#
# Attention of n queries to n keys makes n² weights, only to add values up with them. Is the matrix needed? A softmax divides
# by the sum over *all* keys, so it seems that one has to see them all first. One has not
# ([Milakov and Gimelshein 2018](https://arxiv.org/abs/1805.02867)).
#
# Walk over the keys in tiles, and keep three things for each query: the **largest** score so far, the **total** of the
# exponentials exp(score − largest), and their **sum with the values**. If the next tile has a larger score, all
# exponentials so far were measured against the wrong number. They are all too large by the same factor. So multiply both
# sums by exp(old largest − new largest), and go on. At the end, divide. Nothing is approximated.
#
# FlashAttention ([Dao et al. 2022](https://arxiv.org/abs/2205.14135), section 3.1) does this with tiles that fit into the fast memory of a GPU.
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

# %% [markdown] about="4.4"
# Write `tiled_attention(query, key, value, tile)`: the same output as dense attention, with at most `tile` keys at a
# time. At no time may T × S numbers stand in memory, in one tensor or in several. Scores may be very large, or all
# far below zero. Write it yourself, without `F.scaled_dot_product_attention`.
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


# %% exercise="4.4"
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
need("tiled_attention", "4.4")
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
# time of all three grows with n² or somewhat more: every query still meets every key. Our own program took 0.6 to 1.0 times as
# long as dense attention; yours may take longer. FlashAttention is also faster on a GPU, and its authors trace that to fewer
# reads from the large, slow memory and fewer writes to it.
#
# In *training* autograd keeps every tile for the way back, so your function does not save that memory there. FlashAttention
# computes the tiles a second time instead.

# %% [markdown]
# ## Positions that turn
#
# Attention without a mask does not see the order of its tokens. So the first transformer added a fixed vector of sines and cosines
# to each token, one for each place ([Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.5). BERT, and the model of
# lesson 3, learn these vectors. A model that has learned nine of them has none for a tenth word. And the score of two tokens to which
# such a vector was added depends on both places, where often only the distance matters.
#
# *Rotary positions* ([Su et al. 2021](https://arxiv.org/abs/2104.09864), section 3.2.2) do not add anything. They turn queries and keys before the scores are
# made. Take two numbers of a vector as an arrow in the plane. At place p, turn it by the angle p · θ:
#
# $$ (x, y) \;\to\; (x \cos p\theta - y \sin p\theta,\;\; x \sin p\theta + y \cos p\theta) $$
#
# Turn two arrows by the same angle, and the angle between them stays. So the dot product of a query at place p and a key at
# place s depends on p − s alone, and every arrow keeps its length. One speed θ is not enough. At speed 1 no angle ever comes back
# exactly, but after 44 places it is only 0.018 from where it was, so far and near look alike. At a slow speed neighbours look alike.
# A vector of width d has d/2 pairs, and pair i its own speed, base^(−2i/d): the first turns by 1 for each place, the last hardly
# at all.
#
# **Which numbers form a pair** is a convention, and both are in use. The paper pairs neighbours, 0 with 1, 2 with 3. So do
# we. Other programs pair dimension i with i + d/2. Scores then have the same properties. But weights that were trained
# with one convention do not fit the other.

# %% [markdown] about="4.5"
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


# %% exercise="4.5"
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
# column ([Heo et al. 2024](https://arxiv.org/abs/2403.13298) call this axial).

# %% [markdown] about="4.6"
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


# %% exercise="4.6"
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
# All patches are the same here, 64 ones, so the scores show nothing but places. With rows and columns the patch below is as near as
# the one to the right: **7.83** for both, where the patch itself has 8. Numbered row by row they have 7.73 and 4.87. (With other
# numbers in place of the ones, the half for rows may count more than the half for columns: then the two are alike on average only.)

# %% [markdown]
# ## Several heads, and a model that writes
#
# The layer of 4.3 has several heads, and each has queries, keys and values of its own. The next sections ask what that costs in
# a whole **model that writes** (lesson 3). It reads a question about a picture of nine handwritten
# digits and writes the answer word by word: it puts out a score for each word of its vocabulary, takes the highest one, and
# appends it to what it has read. You need not know more about it to measure its attention.

# %% provided="attention.data.digits"

# %% provided="attention.data.tokens"

# %% provided="attention.open_vlm"

# %% provided="attention.experiments.progress"

# %% provided="attention.experiments.recipe:MODEL ALIGN_STEPS STEPS LEARNING_RATE draw_start learning_rate most_digits training_questions adamw train"

# %% provided="attention.generation"

# %% provided="attention.cached_generation"

# %% provided="attention.experiments.shared_keys"

# %% id="train-model"
started = time.perf_counter()
model = OpenVLM(**MODEL).to(device)
steps = STEPS if train_steps is None else train_steps
record = train(model, answer_step, seed, steps=steps, align_steps=min(ALIGN_STEPS, steps), progress=progress)
model.eval()
print(f"{steps} steps in {time.perf_counter() - started:.1f} s, last loss {record['losses'][-1:].mean():.4f}")

# %% [markdown]
# ## Fewer keys than queries
#
# A model that writes keeps the keys and values of all words so far (you build that below). For each word these are
# 2 · layers · heads · d_head numbers. LLaMA 2 with 70 billion weights has 80 layers and 64 heads of width 128. With keys and
# values for every head, in 16 bits, a text of 4,096 words needs 10.7 GB beside the weights, and another text another 10.7.
#
# *Grouped queries* ([Ainslie et al. 2023](https://arxiv.org/abs/2305.13245), section 2.2): several heads ask, and share one set
# of keys and values. This model has 8 groups of 8 heads, and needs 1.3 GB. One group for all heads is *multi-query attention*
# ([Shazeer 2019](https://arxiv.org/abs/1911.02150)); as many groups as heads is what you know.

# %% [markdown] about="4.7"
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


# %% exercise="4.7"
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
# What does it cost to share? Take the model that you just trained, and let its four heads share from now on: average the matrices
# W_K and W_V of the heads in a group. Then train it on for a tenth of its steps. Ainslie et al.
# (section 2.1) did so with a large model, and needed a twentieth.

# %% id="share-keys" draws="1"
need("grouped_attention", "4.7")
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
    print(
        f"groups: {groups}, {before:.3f} of the words right, trained on {after:.3f}; grouped_attention off by {off:.0e}"
    )

# %% [markdown]
# Without training the model falls apart: heads meet keys and values that are not their own. The mean is only a small part of the
# cause. With the matrices of one head for both, 0.27 to 0.71 of the words are right, and with their mean 0.40 to 0.53 (7 seeds); the
# better one of the two heads beats the mean at 6 of the 7. After 80 steps the model has nearly recovered. Over 5 seeds, the share of
# right words on 2,000 questions about unseen images:
#
# | groups | shared | trained on |
# |--:|--:|--:|
# | 4 | 0.980 to 0.986 | 0.973 to 0.983 |
# | 2 | 0.406 to 0.513 | 0.971 to 0.983 |
# | 1 | 0.091 to 0.143 | 0.942 to 0.968 |
#
# Four groups share nothing, so that row says what the training alone does: it loses a few words. Two groups lose hardly more than
# that. With one group for all heads more words stay lost.

# %% [markdown]
# ## Every word once
#
# `generate`, which the model of lesson 3 writes with, hands the model all words so far, for each new word. Yet with a causal mask the earlier words see
# nothing of the new one: their keys and values are what they were. So keep them. For the next word compute one query,
# one key and one value, put the key and the value behind the kept ones, and let the query look at all of them. That is the
# *key-value cache* ([Shazeer 2019](https://arxiv.org/abs/1911.02150), section 2.4).

# %% [markdown] about="4.8"
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


# %% exercise="4.8"
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
need("attend_with_cache", "4.8")
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
need("attend_with_cache", "4.8")
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
# 5 seeds, the answers were the same word for word, and at least 4 times faster with one prompt, and 13 times with eight, on one core
# of our machine. One prompt gains less; why, we did not measure. The price is memory, and grouped queries lower it.
#
# ### Which kernel? Only on a GPU
#
# `F.scaled_dot_product_attention` chooses among several programs: one that writes the weights to memory, and some that work
# in tiles. On a GPU the next cell compares them.

# %% id="back-ends" draws="1"
if "cuda" not in str(device):
    print("Only on an NVIDIA GPU are there several fused programs to compare.")
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
# ## What you have now
#
# - **What a long sequence costs**: dense attention needs time and memory that grow with n². A window and linear attention make both
#   grow with n, and pay with another function. Tiles and fused kernels keep the function, and only the memory grows with n.
# - **A softmax while the keys go by**: it is exact, and it never holds more than one tile.
# - **Positions that turn**: the score of two tokens depends on how far apart they are, and not on where they are.
# - **Shared keys and a cache**: a model that writes computes each key once, and several heads can share it.
#
# To read on:
#
# - Dao et al. 2022, [FlashAttention](https://arxiv.org/abs/2205.14135): exact attention that is fast because it writes little.
# - Katharopoulos et al. 2020, [Transformers are RNNs](https://arxiv.org/abs/2006.16236): linear attention.
# - Su et al. 2021, [RoFormer](https://arxiv.org/abs/2104.09864): rotary positions.
#
# Questions to take along:
#
# 1. A model reads 100,000 words and then answers with ten. Which of the parts of this lab save time, and which save memory?
#
#    === BEGIN ANSWER ===
#    While it reads, every query still meets every key: only a window or linear attention saves time, and both change the function.
#    Tiles keep the memory for the scores small. While it answers, the cache saves the time to read everything again for each word,
#    and then the cache itself is what needs memory; grouped queries make it smaller.
#    === END ANSWER ===
# 2. Two programs load the same weights, and one of them pairs neighbours for its rotary positions, the other dimension i with
#    i + d/2. Both run without an error. What do you see, and how would you find the cause?
#
#    === BEGIN ANSWER ===
#    The answers are wrong, and no shape tells. Compare the scores of one layer for the same tokens. At a single token, position 0,
#    they agree, because nothing is turned there; they part at the next position. That points to the positions. The pairing is then
#    one of few things that can differ.
#    === END ANSWER ===

# %% [markdown] id="glossary"
# ## Glossary
#
# <!-- glossary -->
