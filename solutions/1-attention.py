# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Lesson 1 · Attention from scratch
#
# Show a picture of nine handwritten digits, say "seven", and let a small network point at the right one. That is where
# this lesson ends. You build every step on the way, from one dot product to a layer that has learned where to look.
#
# In this lesson you
#
# - write scaled dot-product attention, and find out why the scores are divided by √d_k;
# - write a softmax that stays finite, and masks that hide the future, the padding, or everything;
# - build the two layers that a vision-language model needs: self-attention, and cross-attention from text to image;
# - train a cross-attention head to point at the digit that a word names, and look at its map.
#
# ![A 3×3 scene of handwritten digits on the left; on the right its nine patches in a row, numbered 0 to 8, row by row.](assets/scene.svg)
#
# *A scene of this course: a 3×3 grid of handwritten digits. Read row by row, it is a sequence of nine patches of
# 8 · 8 = 64 numbers.*
#
# - **You need** to know what a matrix product is, and a little PyTorch: tensors, shapes, `nn.Linear`. No lesson comes
#   before this one.
# - **Time**: <!-- minutes to read --> minutes to read, 78 minutes for the nine exercises, 20 minutes for two predictions and two questions.
#   There is no practice beyond the exercises in this lesson. All cells together compute for less than half a minute.
# - **Numbers** are measured: by the cells below, with seed 0, or, where the text names several seeds, by the course's
#   tests.
# - **Words** such as *query* or *patch* are explained where they first stand, and in the
#   [glossary](#Glossary) at the end of this notebook.
# - **Papers**: [Bahdanau et al. 2015](https://arxiv.org/abs/1409.0473), which brought attention to translation; [Vaswani et al.
#   2017](https://arxiv.org/abs/1706.03762), whose section 3.2 is this lesson; [Vinyals et al.
#   2015](https://arxiv.org/abs/1506.03134), for the experiment.
#
# <!-- table of points -->
#
# <!-- what every answer must do -->
#
# **How an exercise works.** Replace the line `raise NotImplementedError(…)` by your answer and run the cell. Then run
# the self-check below it: it tries small examples, and says in words what is off. Two hints wait under each task. Where
# PyTorch has the thing ready made, a cell that begins with "Stuck on" lets you go on without your own answer.

# %% [markdown]
# ## Why attention?
#
# The first networks that translated sentences read all of the source, word by word, and packed it into **one vector of
# fixed size**. Another network then wrote the translation from that vector alone. Short sentences came out well. Long
# ones did not: whatever the length, everything had to fit into the same box.
#
# In 2015 Bahdanau, Cho and Bengio removed the box. Keep *all* the vectors, one for each source word. Each time a word
# is to be written, look back at them, and take a mean that is weighted by how well each one fits what is needed now.
# Their Figure 2 shows what it brought: without it, quality drops as sentences grow; with it, and trained on sentences
# of up to 50 words, it holds. ([Neural machine translation by jointly learning to align and
# translate](https://arxiv.org/abs/1409.0473).)
#
# ### Three pictures to keep in mind
#
# **The library.** You come with a question: the *query*. Each book has a label on its spine: the *key*. What is inside
# the book is its *value*. You compare your question with the labels, and you read the books. Labels are made for
# finding, contents for reading, and they need not look alike.
#
# **The waiter.** "Something light, with fish." The waiter compares your wish with each line of the menu, and does not
# bring one dish, but a plate: 70 % from here, 20 % from there, a little of everything else. Attention mixes, and picks only
# if there is a single dish. The shares add up to 1, as long as there is a dish at all.
#
# **Reading comprehension.** You do not learn the text by heart. You read the question, skim the text for the lines that
# fit, and read those closely. Another question makes you look at other lines: where you look depends on what you ask.
#
# ## Set up
#
# The next cells load PyTorch. Run them once. Further down, collapsed cells are given: figures, digits, the self-checks. Each
# stands where it is needed first, and may be opened.

# %% id="setup" tags=["parameters"]
device = "auto"  # "cpu", "cuda", or "auto": the GPU if there is one
seed = 0
train_steps = None  # None: as many as the lesson says

# %% id="start"
import math
import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)  # the tensors here are small: several threads would mostly wait for each other


def need(name, exercise):
    """Stop a cell as long as a name that it uses is missing."""
    if name not in globals():
        raise NotImplementedError(f"TODO {exercise}: This cell needs {name}. A cell above makes it once {exercise} is solved.")


print(f"PyTorch {torch.__version__} on {device}")

# %% [markdown]
# ## The box, measured
#
# How bad is the box? Let us measure it. Pack n random tokens of 64 numbers into their mean. Then ask: how similar is
# what is in the box to the first token?

# %% provided="attention.plots.map_plots" id="provided-plots"

# %% id="bottleneck" draws="1"
sentence_lengths = [1, 2, 4, 8, 16, 32, 64]


def recall(summarise):
    """Mean cosine similarity between the first token and what is read back, for sentences of each length."""
    generator = torch.Generator().manual_seed(0)
    sentences = [torch.randn(200, n, 64, generator=generator) for n in sentence_lengths]
    return [
        F.cosine_similarity(summarise(tokens), tokens[:, 0], dim=-1).mean().item() for tokens in sentences
    ]


box = recall(lambda tokens: tokens.mean(dim=1))
show_curve(
    sentence_lengths,
    {"one box for all": box},
    "tokens in the sentence",
    "similarity to the first token",
    logarithmic=True,
)

# %% [markdown]
# *One falling line: from 1.00 for a single token to 0.12 for 64 tokens. It follows 1/√n.*
#
# With 64 tokens the similarity is **0.116**. The box remembers that there was a sentence, and little of each word: hold its
# first token beside nine strangers, and it is the one most similar to the box in a third of all sentences; chance is a tenth.
# We come back to this figure when your own attention can draw the second line.

# %% [markdown]
# ## Queries, keys, values
#
# | | is | shape |
# |---|---|---|
# | query | what is looked for, one row for each token that asks | (Q, d_k) |
# | key | what each token can be found by | (K, d_k) |
# | value | what each token has to say | (K, d_v) |
# | scores | how well each query fits each key | (Q, K) |
# | weights | the same, as shares: each row sums to 1 | (Q, K) |
# | output | for each query a weighted mean of the values | (Q, d_v) |
#
# There are as many values as keys, because they belong to the same tokens. Queries may come from elsewhere. Queries and
# keys have the same width d_k, because they are compared.
#
# ![Diagram: query and key meet in a matrix product, the scores are divided by the root of d_k, optionally masked, turned into weights by a softmax, and multiplied with the values.](assets/attention.svg)
#
# *From bottom to top: query and key are multiplied, scaled, masked if need be, turned into weights by a softmax; the
# weights mix the values.* In one line (Vaswani et al. 2017, eq. 1, [Attention is all you
# need](https://arxiv.org/abs/1706.03762)):
#
# $$\text{Attention}(Q, K, V) = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V$$
#
# Now from left to right.

# %% [markdown]
# ## Scores
#
# The dot product of two vectors is large when they point the same way, 0 when they have nothing in common, and negative
# when they point apart. So it can measure how well a query fits a key. Two queries, two keys, d_k = 3:
#
# ```
# query  q₁ = [1, 0, 1]      key  k₁ = [1, 1, 1]      scores  q₁·k₁ = 2   q₁·k₂ = 0
#        q₂ = [0, 1, 1]           k₂ = [0, 1, 0]              q₂·k₁ = 2   q₂·k₂ = 1
# ```
#
# All dot products at once are one matrix product, $QK^\top$. Row i belongs to query i, column j to key j.

# %% tools="1"

# %% [markdown] about="1.1"
# Write `attention_scores(query, key)`: the dot product of every query with every key. There may be any batch dimensions
# in front, or none: (..., Q, d_k) and (..., K, d_k) become (..., Q, K). The type of the numbers stays: float64 gives float64.
#
# **Expected** for the example above: `[[2, 0], [2, 1]]`.
#
# <details><summary>First hint</summary>
#
# A matrix product needs the keys the other way round: (K, d_k) must become (d_k, K). Which two axes change places when
# there is a batch in front?
# </details>
#
# <details><summary>Second hint</summary>
#
# `key.transpose(-2, -1)` swaps the last two axes and leaves all others where they are. `@` multiplies matrices, batch
# by batch.
# </details>


# %% exercise="1.1"
def attention_scores(query, key):
    """The dot product of every query with every key.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    returns: (..., Q, K)
    """
    ### BEGIN SOLUTION
    return torch.einsum("...qd,...kd->...qk", query, key)
    ### END SOLUTION


# %% id="two-tokens" draws="1"
query = torch.tensor([[1.0, 0, 1], [0, 1, 1]])
key = torch.tensor([[1.0, 1, 1], [0, 1, 0]])
print(attention_scores(query, key))

# %% [markdown]
# ## Why √d_k
#
# A dot product adds up d_k products. If query and key hold independent numbers of mean 0 and variance 1, each product
# has variance 1, and so the sum has variance d_k (Vaswani et al. 2017, footnote 4). At d_k = 512 scores of ±20 are
# ordinary. The softmax that follows turns such differences into all or nothing. Dividing by √d_k brings the variance
# back to 1, whatever the width.

# %% [markdown] about="1.2"
# Write `scaled_scores(query, key)`: the scores of 1.1, divided by √d_k.
#
# **Expected** for the two tokens, with d_k = 3: `[[1.155, 0.000], [1.155, 0.577]]`.
#
# <details><summary>First hint</summary>
#
# d_k is the width of one query, which is the width of one key. It is not the number of keys. Which axis is it?
# </details>
#
# <details><summary>Second hint</summary>
#
# Call `attention_scores` and divide by `math.sqrt(query.shape[-1])`.
# </details>


# %% exercise="1.2"
def scaled_scores(query, key):
    """The scores, divided by the root of the width of one key.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    returns: (..., Q, K)
    """
    ### BEGIN SOLUTION
    d_k = key.shape[-1]
    return attention_scores(query, key) * d_k**-0.5
    ### END SOLUTION


# %% [markdown]
# Does it matter? Here are random queries against nine random keys, for growing d_k. We look at the largest of the nine
# weights.

# %% id="why-scale" draws="1"
widths = [2, 8, 32, 128, 512]


def sharpness(score, d_k):
    """Mean largest weight, and mean p(1 − p), over 256 queries and nine keys each; mean of three draws."""
    largest, slope = [], []
    for draw in range(3):
        generator = torch.Generator().manual_seed(draw)
        queries, keys = (torch.randn(256, n, d_k, generator=generator) for n in (1, 9))
        weights = torch.softmax(score(queries, keys), dim=-1)
        largest.append(weights.amax(dim=-1).mean().item())
        slope.append((weights * (1 - weights)).mean().item())
    return sum(largest) / 3, sum(slope) / 3


for name, score in (("unscaled", attention_scores), ("scaled", scaled_scores)):
    largest, slope = sharpness(score, 512)
    print(f"d_k = 512, {name:8}: mean largest weight {largest:.3f}, mean p(1 − p) {slope:.4f}")

# %% id="why-scale-figure" draws="1"
show_curve(
    widths,
    {
        "unscaled": [sharpness(attention_scores, d_k)[0] for d_k in widths],
        "scaled": [sharpness(scaled_scores, d_k)[0] for d_k in widths],
    },
    "d_k",
    "mean largest of 9 weights",
    level=1 / 9,
    level_name="uniform",
    logarithmic=True,
)

# %% [markdown]
# *Two lines over d_k from 2 to 512. Unscaled, the largest weight climbs from 0.38 to 0.96: the softmax has all but
# picked one key, at random. Scaled, it stays near a third at every width. A dotted line marks 1/9, a uniform map.*
#
# At d_k = 512 the mean largest weight is **0.958** unscaled against **0.341** scaled.
#
# **Draw the next figure yourself.** `sharpness` returns a second number, the mean of p(1 − p): the derivative of a weight by
# its own score. How does it depend on d_k? Sketch two lines on paper, then fill in `slopes`. There are no points.
#
# <details><summary>A solution</summary>
#
# `slopes = {"unscaled": [sharpness(attention_scores, d_k)[1] for d_k in widths], "scaled": [sharpness(scaled_scores, d_k)[1] for
# d_k in widths]}`. The unscaled line falls from each width to the next. The scaled one stays near 0.09.
# </details>

# %% id="draw-slopes" draws="1"
slopes = {}  # TODO: a list of means for "unscaled" and one for "scaled", as in the cell above
if slopes:
    show_curve(widths, slopes, "d_k", "mean p(1 − p)", logarithmic=True)

# %% [markdown]
# *Nothing is drawn until you fill in `slopes`. Then two lines over d_k: the one without the root falls, the one with it does not.*
#
# ### How much gradient reaches the query?
#
# Vaswani et al. suspect that without the root the softmax has "extremely small gradients" (section 3.2.1). At d_k = 512 the mean
# of p(1 − p) is **0.0068** without the root and **0.0876** with it. But that is the derivative by a *score*, and on the way back to
# the query the root divides once more. So let autograd say what arrives: 2,000 random queries, each with nine random keys and nine
# values, one random number each. How long is ∂output/∂query?


# %% id="gradient-at-query" draws="1"
def gradient_lengths(score, d_k):
    """The length of ∂output/∂query for each of 2,000 random queries."""
    generator = torch.Generator().manual_seed(0)
    queries, keys, values = (
        torch.randn(2000, n, width, generator=generator) for n, width in ((1, d_k), (9, d_k), (9, 1))
    )
    queries.requires_grad_()
    output = torch.softmax(score(queries, keys), dim=-1) @ values
    (gradient,) = torch.autograd.grad(output.sum(), queries)  # a query has a part in its own output only
    return gradient.norm(dim=-1).flatten()


lengths = {
    "without the root": gradient_lengths(attention_scores, 512),
    "with the root": gradient_lengths(scaled_scores, 512),
}
for name, length in lengths.items():
    low, median, high = length.quantile(torch.tensor([0.05, 0.5, 0.95])).tolist()
    print(
        f"{name:16}: mean {length.mean():.3f}, median {median:.4f}; nine of ten lie between {low:.1e} and {high:.2f}"
    )
show_spread(lengths, "length of ∂output/∂query, d_k = 512", smallest=1e-12)

# %% [markdown]
# *Two histograms over one logarithmic axis. Without the root the lengths are spread over more than twelve powers of
# ten; the median lies far to the left of the mean, and the first bar holds all that is smaller still. With the root
# they stand in one narrow heap, and mean and median agree.*
#
# The **mean** is larger *without* the root, **1.20** against **0.33**, but it is the mean of a lottery. One query in ten gets 78 %
# of all that arrives: the queries where two keys happen to share the weight. The poorer half give their best key more than
# 99.9 % of it, and almost no gradient reaches them. So the **median** is **0.0017** without and **0.31** with the root.
#
# **The root does not make gradients larger. At this width it lets *every* query have one.** (At d_k = 32 the median, too, is
# larger without it, 0.48 against 0.30.) What that does to training we ask at the end, of the pointer.
#
# If `ipywidgets` is installed, the next cell has a slider for d_k. If not, it shows d_k = 512.


# %% id="scale-slider" draws="1"
def compare_scaling(d_k=512):
    """Four random queries and nine random keys: the weights without and with the root."""
    generator = torch.Generator().manual_seed(1)
    queries, keys = torch.randn(4, d_k, generator=generator), torch.randn(9, d_k, generator=generator)
    unscaled, scaled = attention_scores(queries, keys), scaled_scores(queries, keys)
    show_maps({f"unscaled, d_k = {d_k}": torch.softmax(unscaled, -1), "scaled": torch.softmax(scaled, -1)})


scaled_scores(torch.ones(1, 2), torch.ones(1, 2))  # a slider comes only where there is an answer to compare
try:
    import ipywidgets

    ipywidgets.interact(compare_scaling, d_k=ipywidgets.SelectionSlider(options=widths, value=512))
except ImportError:
    compare_scaling()

# %% [markdown]
# *Two maps of 4 queries by 9 keys on one scale. At d_k = 512, without the root each row has 95 % or more of its weight on one or
# two bright cells. With it, the weight is spread over several keys.*

# %% [markdown]
# ## Softmax
#
# Scores become shares in two steps. Take exp of each: now all are positive. Divide by their sum: now they add up to 1.
#
# $$p_i = \frac{e^{s_i}}{\sum_j e^{s_j}}$$
#
# Two small facts that are easily got wrong. The softmax of a *single* number is exactly **1**, whatever the number: it
# is the only candidate. And adding the same number to all scores changes nothing, because it cancels.
#
# The second fact saves us. `exp(1000)` is infinite in floating point, and ∞/∞ is not a number (NaN). So subtract the
# largest score first. Then the largest exponent is exp(0) = 1, and nothing can overflow.
#
# One case is left. Soon we will hide keys by giving them a score of −∞, since exp(−∞) = 0. What if *all* keys of a
# query are hidden? Then the largest score is −∞ itself, and −∞ − (−∞) is NaN. We want zeros there: nothing to look at,
# no weight.

# %% [markdown] about="1.3"
# Write `stable_softmax(scores, dim=-1)` with `exp`, sums and maxima: no `softmax`, `log_softmax` or `logsumexp` here.
# `dim` may be any axis, counted from the front or (negative) from the back. It must stay finite for scores of
# ±10,000, and a row of −∞ along `dim` must become zeros. Larger finite scores stay finite too, and a row of
# −1,000,000 is an ordinary row.
#
# **Expected**: `stable_softmax(torch.tensor([2.0, 1.0]))` gives `[0.731, 0.269]`; a single number gives `[1.]`.
#
# <details><summary>First hint</summary>
#
# Find the largest score along `dim`, and keep the axis (`keepdim=True`), so that it can be subtracted. Where it is −∞,
# subtract 0 instead.
# </details>
#
# <details><summary>Second hint</summary>
#
# `scores.amax(dim, keepdim=True)` is the largest; `largest.masked_fill(largest == -math.inf, 0.0)` mends it. After
# that a row of −∞ has the sum 0: do not divide by that, divide by 1 there.
# </details>


# %% exercise="1.3"
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite.

    scores: any shape, may hold −∞
    returns: the same shape; sums to 1 along `dim`, or to 0 where all scores are −∞
    """
    ### BEGIN SOLUTION
    top = scores.max(dim=dim, keepdim=True).values
    top = torch.where(torch.isneginf(top), 0.0, top)
    powers = (scores - top).exp()
    # The largest power of a row is exp(0) = 1, so a sum below 1 is the 0 of an empty row.
    return powers / powers.sum(dim=dim, keepdim=True).clamp(min=1.0)
    ### END SOLUTION


# %% id="softmax-facts" draws="1"
print("a single number:   ", stable_softmax(torch.tensor([3.0])))
print("two tokens, row 2: ", stable_softmax(torch.tensor([2.0, 1.0]) / math.sqrt(3)))
print("plus 1000:         ", stable_softmax(torch.tensor([2.0, 1.0]) / math.sqrt(3) + 1000))
print("nothing to look at:", stable_softmax(torch.tensor([-math.inf, -math.inf])))

# %% [markdown]
# ## Attention
#
# The last step mixes. The output of a query is the mean of the values, weighted by its row of weights. For our two
# tokens, with values [10, 0] and [0, 10]:
#
# ```
# scores / √3            weights              output
# [1.155, 0.000]   →   [0.760, 0.240]   →   [7.60, 2.40]
# [1.155, 0.577]   →   [0.640, 0.360]   →   [6.40, 3.60]
# ```

# %% [markdown] about="1.4"
# Write `attention(query, key, value)`. It returns two things: the output (..., Q, d_v) and the weights (..., Q, K).
# Use what you have written. From here on `torch.softmax` is free as well, but no ready-made attention. Scores of any
# finite size give finite weights, as in 1.3.
#
# **Expected** for the three tokens below: weights
# `[[0.401, 0.336, 0.263], [0.323, 0.386, 0.291], [0.322, 0.371, 0.307]]`, drawn by the cell after the self-check.
#
# <details><summary>First hint</summary>
#
# Three lines: scores, weights, output. Each query shares its weight among the keys. So along which axis does the
# softmax run?
# </details>
#
# <details><summary>Second hint</summary>
#
# `weights = stable_softmax(scaled_scores(query, key))`, and the weighted means of all queries at once are
# `weights @ value`.
# </details>


# %% exercise="1.4"
def attention(query, key, value):
    """Scaled dot-product attention.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    value: (..., K, d_v)
    returns: output (..., Q, d_v), weights (..., Q, K)
    """
    ### BEGIN SOLUTION
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    output = torch.matmul(weights, value)
    return output, weights
    ### END SOLUTION


# %% id="three-tokens" draws="1"
tokens = torch.tensor([[1.0, 0.5], [0.5, 1.0], [0.3, 0.7]])
value = torch.tensor([[2.0, 1.0], [1.0, 2.0], [1.5, 1.5]])
output, weights = attention(tokens, tokens, value)
steps = {"q · k": attention_scores(tokens, tokens), "q · k / √2": scaled_scores(tokens, tokens), "weights": weights, "output": output}
for name, step in steps.items():
    print(f"{name}\n{step.numpy().round(3)}")
show_map(weights, ["token 1", "token 2", "token 3"], ["1", "2", "3"], "three tokens")

# %% [markdown]
# *A 3×3 map. Rows are queries, columns are keys; all nine weights lie between 0.26 and 0.40.*
#
# Read it row by row. Token 3 gives its largest weight, **0.371**, to token 2, and not to itself (**0.307**): the dot
# product rewards long vectors, and token 2 is longer. (Make all three equally long, and each attends most to itself.)
# "A token attends most to itself" is no law. Note also that we used the tokens as queries *and* as keys, just as they
# are. That is a shortcut for this example. A real layer projects them twice, and then query and key differ.
#
# ### How gradients flow through the weights
#
# Attention is soft, so it can be trained: a small change of a score changes the output a little. For the output
# $o = \sum_j p_j v_j$ of one query,
#
# $$\frac{\partial o}{\partial s_j} = p_j\,(v_j - o)$$
#
# In words: raise the score of a key whose value lies above the present output, and the output goes up, by the weight
# times the distance. A key with weight 0 gets no gradient through the output, however good its value is.
#
# For the values it is simpler, because the output is a weighted sum of them:
#
# $$\frac{\partial o}{\partial v_j} = p_j$$
#
# A value gets as much of the gradient as its weight says. Let us check both formulas against autograd, for token 3 and the first
# column of the values.

# %% id="gradient-flow" draws="1"
scores = scaled_scores(tokens, tokens)[2].detach().requires_grad_()
weights = stable_softmax(scores)
column = value[:, 0].clone().requires_grad_()
mixed = weights @ column
mixed.backward()
print("scores, autograd: ", scores.grad.numpy().round(3))
print("        p (v − o):", (weights * (column - mixed)).detach().numpy().round(3))
print("values, autograd: ", column.grad.numpy().round(3))
print("        p:        ", weights.detach().numpy().round(3))

# %% [markdown]
# For the scores, both say `[0.169, -0.176, 0.008]`. Token 1 has the value 2.0, above the output of 1.476: more weight on it raises the
# output. Token 2 has 1.0, below it. Token 3 has 1.5, almost the output itself, so its weight hardly matters.
#
# ### The box, once more
#
# Now the second line of the first figure. The query is the first token, and all tokens are keys and values.

# %% id="bottleneck-again" draws="1"
lookup = recall(lambda tokens: attention(tokens[:, :1], tokens, tokens)[0][:, 0])
show_curve(
    sentence_lengths,
    {"one box for all": recall(lambda tokens: tokens.mean(dim=1)), "attention": lookup},
    "tokens in the sentence",
    "similarity to the first token",
    logarithmic=True,
)

# %% [markdown]
# *The falling line of the box, and above it the line of attention, which stays at 1.00 up to 64 tokens.*
#
# Nothing was learned here; the query was made to fit. Ask with a random vector instead, and for 64 tokens the
# similarity is 0.07: less than the box. Where good queries and keys come from is the question of the rest of this
# lesson.

# %% [markdown]
# ## Masks
#
# Some keys must not be looked at. There are two common reasons.
#
# - **Causal**: a model that writes word by word must not see the words it has still to write. Position i may look at
#   positions 0…i, itself included.
# - **Padding**: sentences of different lengths share a batch, so short ones are filled up. Nobody should look at the
#   filling.
#
# A mask says for each query and key whether looking is allowed. In this course a mask is **bool, and True = may
# attend**, as in `F.scaled_dot_product_attention`. Careful: in `nn.MultiheadAttention` True means the opposite, *may
# not attend*. We measure that below.
#
# There is a second kind, the **additive** mask: 0 where looking is allowed and −∞ where it is not, to be added to the
# scores. Both say the same. From bool to additive: `torch.zeros(n, n).masked_fill(~mask, -math.inf)`. Our functions
# take bool only, so that there is one meaning.

# %% [markdown] about="1.5"
# Write two masks. `causal_mask(n)`: (n, n) bool, position i may attend to 0…i. `padding_mask(lengths, n)`: for an
# integer tensor of B lengths, each from 0 to n, a mask (B, 1, n): every query may attend to the first `lengths[b]`
# keys. The axis of size 1 broadcasts over the queries. Make it on the device of `lengths`.
#
# **Expected**: a lower triangle with its diagonal, and for `lengths = [3, 5]`, n = 5 the rows `1 1 1 0 0` and
# `1 1 1 1 1`; the cell after the self-check draws both.
#
# <details><summary>First hint</summary>
#
# Number the positions with `torch.arange(n)`. Both masks are one comparison: a key's position against a query's
# position, or against a length.
# </details>
#
# <details><summary>Second hint</summary>
#
# Compare shapes that broadcast: (n, 1) with (n,) gives (n, n), and (n,) with (B, 1, 1) gives (B, 1, n).
# `lengths.reshape(-1, 1, 1)` makes the last one. A length of 3 allows the positions 0, 1 and 2: is that < or ≤?
# </details>


# %% exercise="1.5"
def causal_mask(n):
    """Position i may attend to positions 0…i.

    returns: (n, n) bool, True = may attend
    """
    ### BEGIN SOLUTION
    position = torch.arange(n)
    return position[:, None] >= position
    ### END SOLUTION


def padding_mask(lengths, n):
    """Every query may attend to the first lengths[b] keys.

    lengths: (B,) integers of 0…n
    returns: (B, 1, n) bool, True = may attend
    """
    ### BEGIN SOLUTION
    position = torch.arange(n, device=lengths.device)
    return position < lengths[:, None, None]
    ### END SOLUTION


# %% id="draw-masks" draws="1"
lengths = torch.tensor([3, 5])
show_maps(
    {
        "causal": causal_mask(5),
        "padding, length 3": padding_mask(lengths, 5)[0].expand(5, 5),
        "padding, length 5": padding_mask(lengths, 5)[1].expand(5, 5),
    },
    label="may attend",
)

# %% [markdown]
# *Three 5×5 masks, 1 where looking is allowed. Causal: the lower triangle with the diagonal. Length 3: the first three
# columns. Length 5: everything.*

# %% [markdown]
# ## Masked attention
#
# A hidden key must get weight 0, and the others must still add up to 1. So the mask comes *before* the softmax: a
# hidden score becomes −∞. Setting it to 0 is not enough, since exp(0) = 1. Multiplying the weights afterwards is not
# enough either, since the rows would add up to less than 1.

# %% [markdown] about="1.6"
# Write `masked_attention(query, key, value, mask=None)`. The mask is bool and broadcasts to (..., Q, K). A query that
# may attend nowhere gets all-zero weights and a zero output, no NaN. Without a mask it is the attention of 1.4.
# Scores may be large, and a hidden one may lie far above all others.
#
# **Expected**: with a causal mask the first row of weights is `[1, 0, 0]`, and the first output is the first value.
#
# <details><summary>First hint</summary>
#
# Everything you need is there: `scaled_scores` of 1.2, and `stable_softmax` of 1.3, which gives zeros for a row of −∞.
# </details>
#
# <details><summary>Second hint</summary>
#
# `scores.masked_fill(~mask, -math.inf)` hides where the mask is False, and broadcasts by itself.
# </details>


# %% exercise="1.6"
def masked_attention(query, key, value, mask=None):
    """Attention that looks only where the mask allows.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    value: (..., K, d_v)
    mask: None, or bool that broadcasts to (..., Q, K), True = may attend
    returns: output (..., Q, d_v), weights (..., Q, K)
    """
    ### BEGIN SOLUTION
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = torch.where(mask, scores, -math.inf)
    weights = stable_softmax(scores)
    return torch.matmul(weights, value), weights
    ### END SOLUTION


# %% id="masked-map" draws="1"
output, weights = masked_attention(tokens, tokens, value, causal_mask(3))
print("first output:", output[0].numpy())
free = masked_attention(tokens, tokens, value)[1]
names = ["token 1", "token 2", "token 3"]
show_maps({"no mask": free, "causal mask": weights}, names, ["1", "2", "3"])

# %% [markdown]
# *The map of the three tokens without and with a causal mask, on one scale. With it, everything above the diagonal is
# 0, row 1 is all on token 1, and each row still adds up to 1.*
#
# ### The same with PyTorch's own, and a trap
#
# PyTorch has attention built in. Does yours agree? We hand the same mask to
# `F.scaled_dot_product_attention`, as bool and as additive mask, and to `nn.MultiheadAttention` with one head, whose
# projections we set to the identity.

# %% id="mask-meanings" draws="1"
generator = torch.Generator().manual_seed(3)
one, two, three = (torch.randn(1, 5, 8, generator=generator) for _ in range(3))
allowed = causal_mask(5)
ours, _ = masked_attention(one, two, three, allowed)

additive = torch.zeros(5, 5).masked_fill(~allowed, -math.inf)
layer = nn.MultiheadAttention(8, 1, bias=False, batch_first=True)
with torch.no_grad():
    layer.in_proj_weight.copy_(torch.eye(8).repeat(3, 1))
    layer.out_proj.weight.copy_(torch.eye(8))
    theirs = {
        "F.scaled_dot_product_attention, bool mask": F.scaled_dot_product_attention(one, two, three, allowed),
        "F.scaled_dot_product_attention, additive mask": F.scaled_dot_product_attention(
            one, two, three, additive
        ),
        "nn.MultiheadAttention, ~mask": layer(one, two, three, attn_mask=~allowed)[0],
        "nn.MultiheadAttention, mask as it is": layer(one, two, three, attn_mask=allowed)[0],
    }
for name, result in theirs.items():
    gap = (result - ours).abs().max().item()
    print(f"{name:48} {'agrees' if gap < 1e-5 else f'differs: {gap:.3f}'}")

# %% [markdown]
# Three agree. The last one does not: handed our mask as it is, `nn.MultiheadAttention` looks exactly where it should
# not. It even gives NaN for the last position, which may look nowhere under the reversed mask. No error is raised.
# Whenever you meet a mask, ask first what True means.

# %% [markdown]
# ## Self-attention
#
# So far somebody handed us queries, keys and values. A layer makes them itself, with three learned matrices:
#
# $$Q = XW_Q \qquad K = XW_K \qquad V = XW_V$$
#
# In **self-attention** all three read the same tokens X. Each token asks, and each token answers. Because W_Q and W_K
# differ, the scores are not symmetric: "a looks at b" does not mean "b looks at a". An adjective may look for its noun
# while the noun looks for its verb.
#
# What if W_Q and W_K were one matrix? Then the table of scores would be symmetric. And the score of a token with itself would be the
# squared length of its query. A query that is at least as long as all others would give its largest weight to its own token, whatever
# the other tokens say. Two matrices allow a token to look away from itself.

# %% [markdown] about="1.7"
# Write the layer `SelfAttention(d_model, d_k)`. It has three projections `W_Q`, `W_K`, `W_V`, each an `nn.Linear` from
# d_model to d_k **without bias**, and no other parameters. `forward(tokens, mask=None)` returns the output (..., T,
# d_k) and the weights (..., T, T). The mask is as in 1.6: a token that may look nowhere gets zeros.
#
# **Expected**: `SelfAttention(8, 4)` has 3 · 8 · 4 = 96 parameters.
#
# <details><summary>First hint</summary>
#
# In `__init__`, call `super().__init__()` first, then make the three layers. In `forward`, each projection reads
# `tokens`.
# </details>
#
# <details><summary>Second hint</summary>
#
# `nn.Linear(d_model, d_k, bias=False)`, three times. Then one call of your `masked_attention`, and hand the mask on.
# </details>


# %% exercise="1.7"
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        ### BEGIN SOLUTION
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        ### END SOLUTION

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        ### BEGIN SOLUTION
        query, key, value = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        return masked_attention(query, key, value, mask=mask)
        ### END SOLUTION


# %% [markdown]
# Here is a sentence, with a random vector for each word, through two layers that were never trained. They differ in
# their random start only.

# %% id="untrained-self" draws="1"
sentence = ["the", "7", "is", "above", "the", "3"]
vocabulary = {
    word: torch.randn(16, generator=torch.Generator().manual_seed(ord(word[0]))) for word in sentence
}
embedded = torch.stack([vocabulary[word] for word in sentence])


def untrained_map(start, mask=None):
    """The map of a layer that knows nothing, for one random start."""
    torch.manual_seed(start)
    with torch.no_grad():
        return SelfAttention(16, 8)(embedded, mask)[1]


show_maps(
    {
        "start 1": untrained_map(1),
        "start 2": untrained_map(2),
        "start 1, causal": untrained_map(1, causal_mask(6)),
    },
    sentence,
    sentence,
)
print("parameters of SelfAttention(8, 4):", sum(p.numel() for p in SelfAttention(8, 4).parameters()))

# %% [markdown]
# *Three 6×6 maps on one scale: two random starts, and the first again with a causal mask, which leaves the upper
# triangle empty. The two starts differ from each other, and neither shows anything about the sentence.*
#
# It is tempting to read a story into such a map. Don't: another start tells another story. What training brought shows only
# in the map from after it, beside the map from before. Look at the two rows of "the" in the first map: they are the same.
# Without a mask, self-attention does not know the order of the words: shuffle them, and the map is shuffled in the same way.
# With the causal mask the two rows differ, because the second "the" may look at more words than the first. Lesson 3 adds
# positions.

# %% [markdown]
# ## Cross-attention
#
# In **cross-attention** the queries come from one place, the keys and values from another. For us: **text asks, the
# image answers**. Words are T vectors of width d_text, the image is S patches of width d_image, and the projections
# bring both to d_k, where they can be compared. Our image is a scene like the one at the top of this lesson.

# %% [markdown] about="1.8"
# Write the layer `CrossAttention(d_text, d_image, d_k)`, with `W_Q`, `W_K`, `W_V` as before, without bias.
# `forward(text_tokens, image_tokens, mask=None)` returns the output (..., T, d_k) and the weights (..., T, S). d_text
# and d_image may differ. The mask is as in 1.6.
#
# **Expected**: `CrossAttention(6, 10, 4)` has 4 · 6 + 2 · 4 · 10 = 104 parameters, and its map for 2 words and 9
# patches has the shape (2, 9).
#
# <details><summary>First hint</summary>
#
# Who asks? That one's tokens make the queries. Who answers? Its tokens make both keys *and* values.
# </details>
#
# <details><summary>Second hint</summary>
#
# `W_Q` reads d_text numbers, `W_K` and `W_V` read d_image numbers; all give d_k. The rest is as in 1.7.
# </details>


# %% exercise="1.8"
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        ### BEGIN SOLUTION
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)
        ### END SOLUTION

    def forward(self, text_tokens, image_tokens, mask=None):
        """text_tokens (..., T, d_text), image_tokens (..., S, d_image) → output (..., T, d_k), weights (..., T, S)"""
        ### BEGIN SOLUTION
        key, value = self.W_K(image_tokens), self.W_V(image_tokens)
        return masked_attention(self.W_Q(text_tokens), key, value, mask=mask)
        ### END SOLUTION


# %% id="cross-shapes" draws="1"
layer = CrossAttention(6, 10, 4)
print("parameters:", sum(p.numel() for p in layer.parameters()))
print("map:", tuple(layer(torch.randn(2, 6), torch.randn(9, 10))[1].shape))

# %% [markdown]
# ### Predict, then run: what does looking cost?
#
# Real images have more patches. LLaVA-1.5 cuts one of 336 × 336 pixels into 24 · 24 = 576 ([Liu et al.
# 2023](https://arxiv.org/abs/2310.03744)). Let 32 words look at them. In cross-attention each word is compared with
# each patch. Or put words and patches into one sequence of 608 tokens, and let self-attention compare everything with
# everything. How many times as many scores is that? Write your guess into the next cell, then run both. A wrong guess
# costs nothing, and you will remember it.

# %% provided="attention.measures.predictions:compare_predictions"

# %% predict="cost"
# Self-attention over all, against cross-attention: how many times as many scores? 2.5, say.
predicted_cost = {"times as many scores": None}

# %% id="measure-cost" draws="1"
import time

some_words, some_patches = torch.randn(32, 64), torch.randn(576, 64)
together = torch.cat([some_words, some_patches])
one_sequence, two_sides = SelfAttention(64, 32), CrossAttention(64, 64, 32)


def cheapest(run):
    """Run 20 times: how many weights come back, and the seconds of the fastest run."""
    seconds = []
    for _ in range(20):
        started = time.perf_counter()
        with torch.no_grad():
            weights = run()[1]
        seconds.append(time.perf_counter() - started)
    return weights.numel(), min(seconds)


self_count, self_seconds = cheapest(lambda: one_sequence(together))
cross_count, cross_seconds = cheapest(lambda: two_sides(some_words, some_patches))
print(f"self-attention over all: {self_count:7,} scores, {1000 * self_seconds:.2f} ms")
print(f"cross-attention:         {cross_count:7,} scores, {1000 * cross_seconds:.2f} ms")
measured_cost = {"times as many scores": self_count / cross_count}
compare_predictions(predicted_cost, measured_cost)

# %% [markdown]
# 369,664 scores against 18,432: **20** times as many. (The time need not grow by the same factor: see the two lines
# above.) 90 % of the 369,664 are patches that look at patches. Cross-attention leaves those out: there an image token
# never sees another one. Whether that is a saving or a loss depends on whether the patches have been through a network
# that let them see each other before.

# %% [markdown]
# ## A pointer that learns to look
#
# Now the experiment. One head of your cross-attention gets a digit as a word, "seven", and a scene of nine handwritten
# digits. The largest weight should lie on the seven. The word is a learned vector of 64 numbers; the patches are 64
# pixels each.
#
# **The plan.** We train the map itself: the loss is small when the weight on the right patch is large. This is direct
# supervision of where to look, as in pointer networks (Vinyals et al. 2015, eq. 3, [Pointer
# networks](https://arxiv.org/abs/1506.03134)). In lesson 3 nobody says where to look, and the model has to find out.
#
# **What makes it honest.** The images of digits are split before scenes are built: 1,347 to train on, 450 held out. We
# measure on 2,000 scenes of held-out images, and put three things beside the trained pointer: chance (1/9), the same
# pointer before training, and plain cosine similarity. One thing is *not* tested: other people's handwriting. The
# digits were written by 13 people ([UCI's test set](https://archive.ics.uci.edu/dataset/80), which scikit-learn ships),
# and the split goes by image, not by writer. The images are new to the pointer; the hands are not.

# %% provided="attention.data.digits"

# %% provided="attention.experiments.digit_pointer:Pointer draw_start draw_looks found" id="provided-pointing"

# %% [markdown] about="1.9"
# Write `pointer_loss(weights, target)`: the mean, over all maps, of minus the logarithm of the weight on the target
# patch. The weights are (..., S), the targets (...) are patch numbers; the result is one number. A weight beside the
# target may be exactly 0.
#
# **Expected**: for a uniform map over nine patches, log 9 = 2.197; for all weight on the target, 0. After training, the
# pointer should hit the right patch on at least 90 % of scenes of held-out images. The grader does not repeat the training:
# it takes a few of its steps with your loss, and gives your pointer trained weights; its maps must be what these give.
#
# <details><summary>First hint</summary>
#
# From each map you need one number: the weight at the index that `target` says. `gather` picks along an axis, with an
# index that has as many axes as the weights.
# </details>
#
# <details><summary>Second hint</summary>
#
# `weights.gather(-1, target.unsqueeze(-1))` is the weight on each target. Then log, mean, and a sign.
# </details>


# %% exercise="1.9"
def pointer_loss(weights, target):
    """The mean negative log weight on the target patch.

    weights: (..., S), each row sums to 1
    target: (...) integers of 0…S − 1
    returns: a scalar
    """
    ### BEGIN SOLUTION
    on_target = torch.take_along_dim(weights, target[..., None], dim=-1)
    return on_target.log().neg().mean()
    ### END SOLUTION


# %% [markdown]
# Train it: 300 steps of 128 scenes. The untrained twin starts from the same random weights and stays as it is.

# %% id="train-pointer"
steps = 300 if train_steps is None else train_steps
untrained_pointer, pointer = Pointer().to(device), Pointer().to(device)
draw_start(untrained_pointer, seed)
draw_start(pointer, seed)
optimizer = torch.optim.Adam(pointer.parameters(), lr=3e-3)
generator = torch.Generator().manual_seed(seed)
record = []
for _ in range(steps):
    words, patches, target = draw_looks(128, generator).to(device)
    loss = pointer_loss(pointer(words, patches), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    record.append(loss.item())
losses = record
print(
    f"{steps} steps; loss of the first batch {losses[0]:.2f}, of the last {losses[-1]:.2f}"
    if losses
    else "not trained"
)

# %% id="pointer-losses" draws="1"
need("losses", "1.9")
show_curve(
    range(len(losses)),
    {"pointer_loss": losses},
    "step",
    "loss",
    level=math.log(9),
    level_name="uniform map, log 9 =",
)

# %% [markdown]
# *The loss over 300 steps falls from 2.63, above the dotted line of a uniform map, to 0.04, the mean of the last twenty
# steps.*
#
# ### Similar is not the same as attended
#
# Before the verdict, a tempting shortcut. Word vectors and patches both have 64 numbers, so why not take the cosine
# similarity of the two and look where it is largest? The cell measures this too, with the word vectors from before and
# from after training.

# %% id="measure-pointer" draws="1"
need("losses", "1.9")
unseen = draw_looks(2000, torch.Generator().manual_seed(seed + 1), "test").to(device)


def cosine_map(embedding):
    """Cosine similarity of each word's vector with the pixels of each patch: (B, 9)."""
    return F.cosine_similarity(embedding(unseen.words).unsqueeze(1), unseen.patches, dim=-1)


with torch.no_grad():
    before, after = (one(unseen.words, unseen.patches) for one in (untrained_pointer, pointer))
    hits = {
        "cosine, untrained words": found(cosine_map(untrained_pointer.embedding), unseen.target),
        "cosine, trained words": found(cosine_map(pointer.embedding), unseen.target),
        "attention, untrained": found(before, unseen.target),
        "attention, trained": found(after, unseen.target),
    }
for name, share in hits.items():
    print(f"{name:24} {share:.3f}")
show_bars(hits, "right patch, on 2,000 unseen scenes", chance=1 / 9)

# %% [markdown]
# *Four bars. Cosine similarity, with untrained or trained words, and untrained attention lie between 0.1 and 0.2, near
# the dotted chance line at 0.111; trained attention reaches beyond 0.95.*
#
# Over the seeds 0, 1 and 2, the share of hits goes from 0.18, 0.25 and 0.12 before training to 0.97, 0.97 and 0.97
# after. Chance is 0.111, one patch of nine; a random start may lie to either side of it.
#
# Cosine similarity stays near chance, even with the word vectors of the trained pointer: between 0.06 and 0.12 over
# these three seeds. Equal width does not make two vectors comparable. Something must be trained *for the comparison*.
#
# ### What has to be learned?
#
# Let us train the pointer again, in parts. Only the words, while W_Q and W_K stay as random as they started. Then only W_Q
# and W_K, with random words. The start, the scenes and the number of steps are the same.

# %% id="pointer-parts" draws="1"
need("hits", "1.9")


def train_again(variant, *learned):
    """Train the parameters with these names alone: the share of right patches, and the losses up to a break."""
    variant.to(device)
    draw_start(variant, seed)
    chosen = [parameter for name, parameter in variant.named_parameters() if name.endswith(learned)]
    optimizer = torch.optim.Adam(chosen, lr=3e-3)
    generator = torch.Generator().manual_seed(seed)
    record = []
    for _ in range(steps):
        words, patches, target = draw_looks(128, generator).to(device)
        loss = pointer_loss(variant(words, patches), target)
        record.append(loss.item())
        if not math.isfinite(record[-1]):
            break  # one more step, and every weight would be NaN
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return found(variant(unseen.words, unseen.patches), unseen.target), record


parts = {
    "words alone": train_again(Pointer(), "embedding.weight")[0],
    "W_Q and W_K alone": train_again(Pointer(), "W_Q.weight", "W_K.weight")[0],
    "everything": hits["attention, trained"],
}
show_bars(parts, "right patch, on 2,000 unseen scenes", chance=1 / 9)

# %% [markdown]
# *Three bars. W_Q and W_K alone reach as far as everything together; words alone stop well short of it. A dotted line marks
# chance, 1/9.*
#
# W_Q and W_K alone reach **0.97**, as much as everything together, and with random words! Words alone reach **0.74**; over
# the seeds 0, 1 and 2 it is 0.74 to 0.81. Is W_Q the better place to learn? No: with a learning rate of 0.1 in place of 0.003
# words alone reach 0.94 to 0.95, as W_Q alone does with 0.003. Both can make the same queries; in this time, with this step,
# the matrices get there first. What holds for all of them: attention follows *learned* similarity.
#
# ### And the root?
#
# We owe an answer: does the lottery of gradients spoil the training? Here is the pointer without the root, with d_k = 32 as
# before and with d_k = 512, and beside it a wide one that has the root.

# %% id="pointer-roots" draws="1"
need("hits", "1.9")


class OtherPointer(Pointer):
    """The pointer with another d_k, with or without the root."""

    def __init__(self, d_k, score):
        super().__init__()
        self.attention, self.score = CrossAttention(64, 64, d_k), score

    def forward(self, words, patches):
        query, key = self.attention.W_Q(self.embedding(words)), self.attention.W_K(patches)
        return stable_softmax(self.score(query.unsqueeze(-2), key)).squeeze(-2)


everything = ("embedding.weight", "W_Q.weight", "W_K.weight")
roots = {
    "no root, d_k = 32": train_again(OtherPointer(32, attention_scores), *everything),
    "root, d_k = 512": train_again(OtherPointer(512, scaled_scores), *everything),
    "no root, d_k = 512": train_again(OtherPointer(512, attention_scores), *everything),
}
for name, (share, record) in roots.items():
    if record:
        print(f"{name:18}: first loss {record[0]:5.2f}, last {record[-1]:.2f} in step {len(record) - 1}; right patch {share:.3f}")
shown_steps = min(40, steps)
curves = {name: (record + [math.nan] * 40)[:shown_steps] for name, (_, record) in roots.items()}
show_curve(range(shown_steps), curves, "step", "loss", level=math.log(9), level_name="uniform map, log 9 =")

# %% [markdown]
# *Three curves over the first 40 steps. The narrow pointer without the root and the wide one with it fall below 1. The wide
# one without the root starts far higher, falls as well, and ends in step 13.*
#
# | right patches of unseen scenes | with the root | without | without, a fifth of the learning rate |
# |---|---|---|---|
# | d_k = 32, our loss, 3 seeds | 0.97 | 0.97 | |
# | d_k = 512, squared distance, 5 seeds | 0.97 ± 0.00 | 0.90 ± 0.05 | 0.97 ± 0.01 |
# | d_k = 512, our loss, 3 seeds | 0.97 | breaks off | 0.97 |
# | d_k = 512, `F.cross_entropy` of the scores, 5 seeds | | 0.96 ± 0.01 | |
#
# (After ±, the standard deviation over the seeds.) At d_k = 32 the root makes no difference in the end. At d_k = 512 it does, and the
# lottery of gradients is not the cause. We found two others:
#
# - **Steps that are too long.** Without the root the same step in W_Q and W_K moves the scores √512 = 23 times as far. With the squared
#   distance from the right weights as its loss, the wide pointer loses 0.07. With a fifth of the learning rate the lottery is the same,
#   and most of the loss is gone.
# - **The logarithm of 0.** With our loss the first value is **28.8** instead of **2.6**, and training ends at step 13: the weight on
#   some right patch is so small that it is rounded to 0, the logarithm of 0 is −∞, and no gradient leads back from there. (Seed 2
#   breaks off as well; whether seed 1 does, rounding decides.) Where softmax and logarithm are one function (`F.cross_entropy`), no
#   seed breaks off, and with a fifth of the learning rate none does either.
#
# On a GPU, or if your `pointer_loss` guards its logarithm, yours may get through.
#
# Now the maps themselves.

# %% id="pointer-maps" draws="1"
need("hits", "1.9")
shown = [0, 1, 4]  # asked for three different digits
uniform = torch.full((3, 9), 1 / 9)
show_over_image(
    to_images(unseen.patches[shown].cpu()),
    {"chance": uniform, "untrained": before[shown], "trained": after[shown]},
    unseen.target[shown],
    [f"where is the {word}?" for word in unseen.words[shown].tolist()],
)

# %% [markdown]
# *Three unseen scenes, one in each row. The paper behind each digit takes the colour of its weight, on one scale from 0
# to 1; a blue frame marks the digit that is asked for. Chance is even, and the untrained map is spread out. The trained
# map puts 1.00, 1.00 and 0.80 of its weight into the frame: in the third scene another digit gets 0.19.*
#
# Does it look because of the *word*? The same scene, asked for each of its nine digits:

# %% id="nine-questions" draws="1"
need("hits", "1.9")
scene_patches, scene_labels = draw_scenes(1, torch.Generator().manual_seed(seed + 2), "test")
asked = scene_labels[0].to(device)
with torch.no_grad():
    answers = {
        name: one(asked, scene_patches.to(device).expand(9, -1, -1))
        for name, one in (("untrained", untrained_pointer), ("trained", pointer))
    }
show_maps(answers, [f"where is the {word}?" for word in asked.tolist()])

# %% [markdown]
# *Two maps of nine questions by nine patches, on one scale. The questions are in the order of the patches, so a perfect
# pointer shows a bright diagonal. The trained one does; the untrained one does not.*
#
# One picture, nine questions, nine answers: where it looks depends on what it is asked. That is attention.
#
# ### Predict, then run: labels and contents
#
# The pointer finds the seven. Now let it say what comes *next*: which digit stands in the patch after the seven, row by
# row (after the last patch comes the first)? Nothing need be trained for that. Each patch gets a value that describes
# the patch after it; the output of attention is then a description of the neighbour, and we name the patch it resembles
# most.
#
# That is the library: found by the label, read for the content. But what if the values *are* the keys, K = V? On what
# share of the scenes is the neighbour named then? Chance is 1/9.

# %% predict="same"
# The share of scenes whose neighbour is named, from 0 to 1.
predicted_same = {"K = V: the neighbour": None}

# %% id="measure-same" draws="1"
need("hits", "1.9")
with torch.no_grad():
    keys = pointer.attention.W_K(unseen.patches)
    looks = pointer(unseen.words, unseen.patches).unsqueeze(-2)


def named(values):
    """The patch that the output of attention resembles most: (B,)."""
    return F.cosine_similarity(looks @ values, keys, dim=-1).argmax(dim=-1)


neighbour = (unseen.target + 1) % 9
own_values, same_values = (
    named(keys.roll(-1, dims=1)),
    named(keys),
)  # roll: patch 0 is told about patch 1, and so on
shares = {
    "own values: the neighbour": (own_values == neighbour).double().mean().item(),
    "K = V: the neighbour": (same_values == neighbour).double().mean().item(),
    "K = V: the digit itself": (same_values == unseen.target).double().mean().item(),
}
show_bars(shares, "share of 2,000 unseen scenes", chance=1 / 9)
measured_same = {"K = V: the neighbour": shares["K = V: the neighbour"]}
compare_predictions(predicted_same, measured_same)

# %% [markdown]
# *Three bars. With values of their own, attention names the neighbour nearly always; with K = V nearly never, and names
# the digit that was asked for instead. A dotted line marks chance, one patch of nine.*
#
# With values of their own the neighbour is named in **0.97** of the scenes, with K = V in **0.002**. That is far
# *below* chance, because what comes back is the digit that was asked for (**0.97**): you found the book, and read its
# label once more. A W_V apart from W_K lets a token be found by one thing and tell another. It is not the only way: one
# matrix that is trained for both jobs can do them, too, where each token holds both things.

# %% [markdown]
# ## Reflect
#
# Take five minutes, a sentence or two for each. There are no points, and good answers to some of these are still argued
# about.
#
# 1. We told the pointer where to look. If only the *answer* were given, not the place, would the weight still have to
#    lie on the right patch? What else could the values do?
#
#    === BEGIN ANSWER ===
#    Not by the loss alone: it would judge the output, and another patch could carry the answer in its value, if something
#    had put it there before. In a model whose patches look at each other, a neighbour may know. Here no patch sees another one, so
#    what is known of a digit stands in its own patch. Lesson 3 gives the answer alone, and measures where the heads look.
#    === END ANSWER ===
# 2. The trained weights add up to 1 even in a scene that does not show the digit. What would the pointer do there, and
#    how would you let it say "nowhere"?
#
#    === BEGIN ANSWER ===
#    It has to put its weight somewhere: on the digit that fits the query best, or on several. One more key that stands for
#    "nowhere", and scenes in training that lack the digit, would give the weight a place to go. A threshold on the largest weight
#    needs no training; lesson 3 measures how well the largest weight tells shown digits from absent ones.
#    === END ANSWER ===
# 3. Every weight in the worked example with three tokens lies between 0.26 and 0.40. Is such a map *bad*?
#
#    === BEGIN ANSWER ===
#    No. It says that the three keys fit about equally well, and that the output is close to the mean of the values. If the mean
#    is what is wanted, it is a good map. It is a bad one where a single token is needed.
#    === END ANSWER ===
# 4. You double all queries. Which of scores, weights and output change? Is it the same as another temperature?
#
#    === BEGIN ANSWER ===
#    The scores double. The weights get sharper, unless all scores of a query are equal, and so the output moves, too. It is the
#    same as half the temperature: softmax(2s) = softmax(s / ½). Doubling the keys does the same; doubling the values doubles the
#    output and leaves the weights alone.
#    === END ANSWER ===
# 5. Somebody shows you a beautiful attention map of a new model. What two maps would you ask to see beside it?
#
#    === BEGIN ANSWER ===
#    The map of the same model before training, and that of chance, all three on one scale. A third one is worth asking for: the
#    map for another question about the same image. If it is the same, it does not depend on what is asked.
#    === END ANSWER ===
#
# Your two predictions, beside what came:

# %% id="your-predictions" draws="1"
need("measured_same", "1.9")
compare_predictions({**predicted_cost, **predicted_same}, {**measured_cost, **measured_same})

# %% [markdown] question="1.Q1"
# ### Found by one thing, telling another
#
# Give an example from reading a text or looking at an image where what makes a token *findable* is not what it should
# *tell*. What would come back there if W_V were the same matrix as W_K?
#
# === BEGIN MARK SCHEME ===
# - The example names a token, what it is found by (its key) and what is wanted of it (its value), and the two differ.
#   For instance: a name is found by its place in the sentence, and tells who it is; a patch is found by its digit, and
#   tells its colour. (2 parts of 4)
# - With K = V the output is a mixture of keys: it describes what was asked for, as in the experiment, where the digit
#   itself comes back in 0.97 of the scenes and its neighbour in 0.002. (1 part)
# - A limit is seen: a key that is wide enough may carry both, but then what is to be told takes part in the comparison
#   as well; or any other thought beyond the experiment. (1 part)
# === END MARK SCHEME ===

# %% [markdown] question="1.Q2"
# ### Four times as many patches
#
# The image with 576 patches is cut finer, into four times as many. By what factor do the scores grow in cross-attention
# from 32 words, and by what factor in self-attention over words and patches? Name a task for which you would pay for
# the dearer one, and say why.
#
# === BEGIN MARK SCHEME ===
# - Cross-attention: 4 times, since each word is compared with each patch, T · S. (1 part of 4)
# - Self-attention: (32 + 2304)² / (32 + 576)² = 14.8 times, nearly 16, since the patches among themselves are squared.
#   "About 16" is fine. (1 part)
# - A task in which patches must be seen together before words ask, such as comparing two places of the image, counting,
#   or an object larger than a patch; or in which the image's tokens must know the question. The reason matters, not the
#   task. (2 parts)
# === END MARK SCHEME ===

# %% [markdown]
# ## What you have now
#
# - **Scaled dot-product attention**: each query gets a mean of the values, and the weights of this mean come from the dot products
#   of the query with the keys.
# - **A reason for √d_k**: without it the scores grow with the width, the softmax becomes sharp, and most queries get next to no
#   gradient.
# - **Masks**, which hide scores before the softmax. A query that may look nowhere gets zeros, and no NaN.
# - **Self-attention and cross-attention.** They are one function: only where the queries and the keys come from differs.
# - **A trained pointer, and its map** of scenes that it has never seen. The map looks at the digit that the word names, and not at
#   what is most similar to it.
#
# ## What next
#
# You built attention with one head. Every query spreads **one** budget of 1 over the keys. What if a word must look at
# two places at once? **Lesson 2** measures what one head loses then, and what four keep. It also asks how image tokens
# get into the space of words in the first place: here training did it in passing, in W_Q or in W_K (either one alone reaches
# 0.93 to 0.97). **Lesson 3** puts everything into a small vision-language model that answers questions about scenes, and checks whether it looks at what
# it talks about.
#
# The lab **4-modern** is optional and goes on from here: what attention costs on long sequences, and what today's models do about it.
#
# To read on:
#
# - Bahdanau, Cho, Bengio 2015, [Neural machine translation by jointly learning to align and
#   translate](https://arxiv.org/abs/1409.0473): where it began.
# - Vaswani et al. 2017, [Attention is all you need](https://arxiv.org/abs/1706.03762): section 3.2 is this lesson.
# - Vinyals, Fortunato, Jaitly 2015, [Pointer networks](https://arxiv.org/abs/1506.03134): weights as the answer.

# %% [markdown] id="glossary"
# ## Glossary
#
# <!-- glossary -->
