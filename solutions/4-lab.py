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
#
# In 2019 two papers disagreed, and their titles say how. Jain and Wallace wrote
# [Attention is not explanation](https://arxiv.org/abs/1902.10186): in their text models, attention weights hardly agreed
# with other measures of importance, and weights that were shuffled often gave the same answer. Wiegreffe and Pinter
# replied [Attention is not not explanation](https://arxiv.org/abs/1908.04626): first show that the model needs its
# attention at all, and then say what you want an explanation for.
#
# You need not take sides. You have a model, and the means to measure. In this part you write two more explanations, a test
# that ranks explanations, and an experiment that finds the heads which carry an answer.
#
# All of this explains **the word that the model says first**, right or wrong. It speaks of the map of the *last* word of
# the question, because the answer comes from there.

# %% provided="attention.evaluation"

# %% provided="attention.patches:swap_patches"

# %% provided="attention.predictions"

# %% provided="attention.vlm_plots"

# %% provided="attention.explained"

# %% provided="attention.explained_plots"

# %% id="explain-questions"
held = {task: held_out(task, 500).to(device) for task in TASKS}
asked = {task: prompt_of(task, questions) for task, questions in held.items()}
said = {task: first_word(model, asked[task], held[task].image_patches) for task in TASKS}
for task, questions in held.items():
    right = said[task] == questions.token_ids[:, asked[task].shape[1]]
    print(f"{task:6} first word right: {right.float().mean():.3f}")

# %% [markdown]
# ## Four explanations of one answer
#
# Two are given, from lesson 3:
#
# - **head average**: the mean of the heads' weights over the patches.
# - **value-weighted map**: for each patch the length of the vector that all heads together bring from it.
#
# Two are yours. The first one follows attention through the layers.
#
# ### Rollout
#
# A word at the last block is no longer a word: it has mixed in other words in every layer before. So who looks at a patch?
# [Abnar and Zuidema 2020](https://arxiv.org/abs/2005.00928) follow the mixing. In layer l, with $\bar A_l$ the mean of the
# heads' maps, a token is made of half itself (the residual connection hands it on) and half what it attended to:
#
# $$ \hat A_l = \tfrac12 \bar A_l + \tfrac12 I, \qquad \text{rollout} = \hat A_L \cdots \hat A_2 \hat A_1\, \bar C $$
#
# $\bar C$ is the mean of the heads' maps over the image. It gets no identity: a word is not one of the patches.
#
# By hand, with two words, one layer and two patches. Word 1 sees only itself, word 2 looks half at each word: the map has
# the rows [1, 0] and [0.5, 0.5], so $\hat A$ has the rows [1, 0] and [0.25, 0.75]. Word 1 looks at patch 1 alone, word 2
# at patch 2 alone. Then the rollout of word 2 is 0.25 · [1, 0] + 0.75 · [0, 1] = [0.25, 0.75].

# %% [markdown] about="4.1"
# Write `attention_rollout(self_maps, cross_map)`. `self_maps` is a list with the maps of each layer, the first layer first.
#
# <details><summary>First hint</summary>
#
# `torch.eye(T, dtype=…, device=…)` is the identity. The heads are the third axis from the end.
# </details>
#
# <details><summary>Second hint</summary>
#
# Start with the mean of `cross_map` over the heads. Multiply the half identity maps onto it from the left with `@`, one
# layer after the other.
# </details>
#
# Expected for the example above: the rows [1, 0] and [0.25, 0.75]. Each row sums to 1.


# %% exercise="4.1"
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches.

    Args:
        self_maps: (..., H, T, T) of each layer, the first layer first.
        cross_map: (..., H, T, S)

    Returns:
        (..., T, S), rows sum to 1.
    """
    ### BEGIN SOLUTION
    mixed = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    for weights in self_maps:
        layer = weights.mean(dim=-3)
        half = torch.eye(layer.shape[-1], dtype=layer.dtype, device=layer.device) / 2
        mixed = torch.matmul(layer / 2 + half, mixed)
    return torch.matmul(mixed, cross_map.mean(dim=-3))
    ### END SOLUTION


# %% id="try-rollout" draws="1"
two_words = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
print(attention_rollout([two_words], torch.eye(2).unsqueeze(0)).tolist())

# %% [markdown]
# ### Attention times gradient
#
# A weight says how much is taken. It does not say what the answer makes of it. The gradient does: by how much would the
# score of the answer rise if this weight were a little larger? Multiply both, and keep what speaks *for* the answer
# ([Chefer et al. 2021](https://arxiv.org/abs/2103.15679), eq. 5):
#
# $$ \text{map}_{ts} = \frac1H \sum_h \max\!\Big(0,\ \alpha^h_{ts}\, \frac{\partial\, \text{score}}{\partial \alpha^h_{ts}}\Big) $$
#
# By hand, with one word, two heads and one patch: weights 0.5 and 0.8, gradients 2 and −3. The products are 1 and −2.4; the
# second one speaks against the answer, and becomes 0. The map is (1 + 0) / 2 = 0.5.

# %% [markdown] about="4.2"
# Write `gradient_attention(weights, score)`. `score` was computed from `weights`, so PyTorch knows the way back. The batch has
# one score for each scene; a scene's score depends on its own weights alone, so one gradient of the sum gives all of them.
# The call must leave the `.grad` of the model's parameters alone.
#
# <details><summary>First hint</summary>
#
# `torch.autograd.grad(output, inputs)` returns a tuple of gradients, and fills no `.grad`.
# </details>
#
# <details><summary>Second hint</summary>
#
# `(gradient,) = torch.autograd.grad(score.sum(), weights)`. Then multiply, `clamp(min=0)`, and only then the mean over
# the heads.
# </details>
#
# Expected for the example above: 0.5.


# %% exercise="4.2"
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it.

    Args:
        weights: (..., H, T, S), from which `score` was computed.
        score: (...), one number for each scene.

    Returns:
        (..., T, S): the mean over the heads of the positive part of weight × gradient.
    """
    ### BEGIN SOLUTION
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    gains = torch.relu(weights * gradient).detach()
    return gains.sum(dim=-3) / gains.shape[-3]
    ### END SOLUTION


# %% id="try-gradient" draws="1"
two_heads = torch.tensor([0.5, 0.8], requires_grad=True).reshape(2, 1, 1)
print(gradient_attention(two_heads, (two_heads.flatten() * torch.tensor([2.0, -3.0])).sum()).tolist())

# %% [markdown]
# Here are all four, for one question of each kind. Each map is scaled to sum to 1, so that they share one scale; chance is
# 1/9 = 0.11 on each patch.

# %% id="draw-four-maps" draws="1"
need("said", "4.2")
found = {}
for task, questions in held.items():
    found[task] = four_maps(model, asked[task], questions.image_patches, attention_rollout, gradient_attention)
    drawn = {name.replace(" × ", "\n× "): maps[0] / maps[0].sum() for name, maps in found[task].items()}
    print(decode(asked[task][0]), "→", WORDS[said[task][0]])
    show_scene_maps(questions.image_patches[0], {**drawn, "chance": torch.full((9,), 1 / 9)}, int(questions.cells[0, 0]))

# %% [markdown]
# *Three rows, one for each kind of question: the scene with the patch in question framed in orange, and five 3×3 maps on one
# scale from 0 to 1: head average, value-weighted, rollout, gradient × attention, and chance, 0.11 everywhere. Gradient × attention
# has nearly all of its weight in the frame. The head average and the value-weighted map are brightest there, too, and less sure.
# Rollout spreads its weight over many patches.*

# %% [markdown]
# ## Which one is right? Take away, and see
#
# Four maps, and they differ. Which one tells what the answer comes from? Not the one that looks best. Take away the patch
# that a map calls most important, then the second one, and so on, and watch the probability of the word: **deletion**. If
# the map is right, the probability falls at once, and the area under the curve is small. Or begin with an empty scene and
# put patches in: **insertion**, where a large area is good ([Petsiuk et al. 2018](https://arxiv.org/abs/1806.07421)).
#
# The area is taken by trapezoids, over a width of 1: each of the n steps is 1/n wide, and as high as the mean of its two ends.
# For the curve 1, 0.5, 0 it is (0.75 + 0.25) / 2 = 0.5.

# %% [markdown] about="4.3"
# Write three functions. `score` is a function: it takes image patches (B, n, d) and returns one number for each scene, (B,).
# `order` (B, n) lists the patches of each scene, the most important one first. `blank` (d,) is an empty patch.
#
# - `deletion_curve(score, image_patches, order, blank)`: the scores with 0, 1, … n patches taken away.
# - `insertion_curve(score, image_patches, order, blank)`: the scores with 0, 1, … n patches put into an empty scene.
# - `area_under(curve)`: the area, as above.
#
# The scenes that are handed in stay as they are. In the end the grader ranks three explanations with your functions, of a model and
# on scenes that you have not seen; they must come out in the right order.
#
# <details><summary>First hint</summary>
#
# One loop over the steps. `scene = torch.arange(B)`; then `shown[scene, order[:, step]] = blank` blanks another patch in each
# scene.
# </details>
#
# <details><summary>Second hint</summary>
#
# Work on a copy: `image_patches.clone()` for deletion; for insertion `blank.expand_as(image_patches).clone()`. Collect n + 1
# scores, and `torch.stack(…, dim=1)`. For the area: `(curve[..., :-1] + curve[..., 1:]) / 2`.
# </details>
#
# Expected below: [3, 2, 0] when the larger one of two patches goes last, [3, 1, 0] when it goes first, and the area 0.5.


# %% exercise="4.3"
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    """The scores while patches are taken away, the most important one first.

    Args:
        score: a function from image patches (B, n, d) to numbers (B,).
        image_patches: (B, n, d)
        order: (B, n), indices of patches.
        blank: (d,)

    Returns:
        (B, n + 1)
    """
    ### BEGIN SOLUTION
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    shown = image_patches.clone()
    points = [score(shown)]
    for patch in order.unbind(dim=1):
        shown[scene, patch] = blank
        points.append(score(shown))
    return torch.stack(points, dim=1)
    ### END SOLUTION


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    """The scores while patches are put into an empty scene, the most important one first.

    Arguments and result as in `deletion_curve`.
    """
    ### BEGIN SOLUTION
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    points = [score(shown)]
    for patch in order.unbind(dim=1):
        shown[scene, patch] = image_patches[scene, patch]
        points.append(score(shown))
    return torch.stack(points, dim=1)
    ### END SOLUTION


def area_under(curve: Tensor) -> Tensor:
    """The area under curves (..., n + 1) over a width of 1, by trapezoids: (...)."""
    ### BEGIN SOLUTION
    return torch.trapezoid(curve, dim=-1) / (curve.shape[-1] - 1)
    ### END SOLUTION


# %% id="try-deletion" draws="1"
two_patches, empty = torch.tensor([[[1.0], [2.0]]]), torch.zeros(1)
for order in ([[0, 1]], [[1, 0]]):
    print(deletion_curve(lambda shown: shown.sum((1, 2)), two_patches, torch.tensor(order), empty).tolist())
print(area_under(torch.tensor([1.0, 0.5, 0.0])).item())

# %% [markdown]
# **Predict first.** For "where is the 7 ?", a random order of the patches has an area under deletion of about 0.5. What do the
# four explanations have? Rollout uses all layers, the head average one. Put numbers from 0 to 1 in place of `None`. Nothing
# depends on them; you may leave them open.

# %% predict="deletion-areas"
my_areas = {"head average": None, "value-weighted": None, "rollout": None, "gradient × attention": None}

# %% id="rank-explanations" draws="1"
need("found", "4.2")
blank = BLANK_PATCH.to(device)
deleted, inserted, quality = {}, {}, {}
for task, questions in held.items():
    score = probability_of(model, asked[task], said[task])
    by_chance = torch.rand(500, 9, generator=torch.Generator().manual_seed(seed)).to(device)
    for name, maps in {**found[task], "random order": by_chance}.items():
        order = maps.argsort(dim=1, descending=True)
        deleted.setdefault(task, {})[name] = deletion_curve(score, questions.image_patches, order, blank)
        inserted.setdefault(task, {})[name] = insertion_curve(score, questions.image_patches, order, blank)
    quality[task] = {
        name: (area_under(inserted[task][name]) - area_under(deleted[task][name])).mean().item()
        for name in deleted[task]
    }
compare_predictions(my_areas, {name: area_under(deleted["where"][name]).mean().item() for name in my_areas})
print("\ninsertion minus deletion    " + "".join(f"{task:>8}" for task in quality))
for name in quality["where"]:
    print(f"{name:28}" + "".join(f"{quality[task][name]:8.3f}" for task in quality))

# %% id="draw-curves" draws="1"
need("quality", "4.3")
show_curves(
    *({name: curves.mean(0) for name, curves in one["where"].items()} for one in (deleted, inserted)), "random order"
)

# %% [markdown]
# *Two panels of curves for "where". Deletion: the gradient's and the value-weighted curve drop to the floor at the first patch,
# the head average's a little later, rollout's clearly later, and the dotted line of the random order falls evenly. In the end all
# rise a little, to 0.11: in an empty scene the model guesses. Insertion: the same picture upside down.*
#
# You have one seed; `python -m benchmarks.explanations` has five, with 1,000 questions of each kind. Insertion minus deletion,
# from the worst to the best seed:
#
# | | where | what | read |
# |---|---|---|---|
# | gradient × attention | 0.855 to 0.878 | 0.856 to 0.881 | 0.876 to 0.882 |
# | value-weighted | 0.842 to 0.863 | 0.878 to 0.882 | 0.880 to 0.883 |
# | head average | 0.786 to 0.843 | 0.873 to 0.882 | 0.879 to 0.882 |
# | rollout | 0.476 to 0.768 | 0.673 to 0.814 | 0.782 to 0.882 |
# | random order | -0.004 to 0.003 | -0.008 to -0.006 | 0.011 to 0.013 |
# | each patch blanked in turn | 0.866 to 0.879 | 0.881 to 0.884 | 0.882 to 0.885 |
#
# The last row asks the model and not its maps: blank each patch in turn, and sort the patches by what the answer loses. None of
# the four maps was better than that, at any seed. Three things surprised us:
#
# - **No explanation is the best for all questions.** Gradient × attention is the best of the four for "where" at 5 of 5 seeds. For
#   "what" the value-weighted map beats it at 5 of 5.
# - The head average, which lesson 3 taught you to distrust, is nearly as good as the best for "what": there two or three heads look at the
#   patch in question, and those that rest do little harm.
# - **Rollout is the last of the four for "where" and for "what" at 5 of 5 seeds**, though it uses more of the model than the head
#   average does. Look into that first.

# %% id="earlier-words" draws="1"
need("quality", "4.3")


def last_word_alone(heads):
    """What the heads hand on (B, H, T, d_head), with nothing for all words but the last."""
    return heads * (torch.arange(heads.shape[2], device=heads.device) == heads.shape[2] - 1).unsqueeze(1)


for task, questions in held.items():
    with torch.no_grad():
        usual = model.inside(asked[task], questions.image_patches).logits[:, -1]
        blind = model.inside(asked[task], questions.image_patches, last_word_alone).logits[:, -1]
    print(f"{task:6} largest change of a logit when the earlier words see nothing: {(usual - blind).abs().max():g}")

# %% [markdown]
# Zero. Rollout multiplies maps as if each layer mixed what the layers before had brought. In our model the look at the image
# comes *last*: after it no self-attention follows, so what an earlier word saw never reaches the answer. Rollout adds it all the
# same. **An explanation assumes a wiring. Ask whether your model has it.**
#
# So does rollout help where its assumption holds? We trained models whose *first* block looks at the image, so that a
# self-attention mixes what was seen. Insertion minus deletion for "where", over 3 seeds: 0.761 to 0.856 for the head average,
# 0.756 to 0.849 for rollout. It was below the head average at 3 of 3 seeds. We had expected a gain, and have no explanation that we have measured.

# %% [markdown]
# ### Agreement is not the test
#
# Jain and Wallace asked whether attention agrees with the effect of leaving out one word at a time. They compared the two
# rankings, with Kendall's τ: 1 for the same order, 0 for no relation. Do the same with patches.

# %% id="rank-correlation" draws="1"
need("quality", "4.3")
for task, questions in held.items():
    score = probability_of(model, asked[task], said[task])
    effects = effects_of(score, questions.image_patches)
    cells = questions.cells[:, :1]
    own, others = effects.gather(1, cells).mean(), effects.scatter(1, cells, 0.0).sum(1).mean() / 8
    print(f"{task}: the probability falls by {own:.3f} without the patch in question, by {others:.3f} without another one")
    for name, maps in found[task].items():
        tau, hit = rank_correlation(maps, effects).mean(), on_target(maps, questions.cells[:, 0])
        print(f"    {name:21} Kendall's τ {tau:6.3f}, largest on the patch in question {hit:.3f}")

# %% [markdown]
# The value-weighted map of "where" is largest on the patch in question in 0.964 to 0.991 of the scenes (5 seeds), and its τ is
# -0.133 to 0.041. By that measure it explains nothing. But look at what is compared: the answer hangs on one patch, as the first line of each kind
# shows. The other eight ranks are ranks of next to nothing, and they make up 28 of the 36 pairs. **A low rank correlation is no
# evidence against a map where one patch matters and eight hardly do.** Whether the texts of Jain and Wallace are of
# that kind, this cannot say.

# %% [markdown]
# ## Shuffle the weights
#
# Jain and Wallace's second experiment: give the weights to other patches, in a random order, and let the rest of the model run
# as it is. If the answer stays, the weights were not what it came from. Here it is for one head at a time, and for all heads at
# once; at the end all weights are made equal.

# %% id="shuffle-weights" draws="1"
need("said", "4.2")
heads = range(MODEL["num_heads"])
changes = {**{f"head {head}": shuffled([head]) for head in heads}, "all heads": shuffled(heads)}
changes["uniform"] = lambda weights: torch.full_like(weights, 1 / weights.shape[-1])
same = {}
for task, questions in held.items():
    told = {
        name: with_weights(model, asked[task], questions.image_patches, change) for name, change in changes.items()
    }
    same[task] = {name: (words == said[task]).float().mean().item() for name, words in told.items()}
show_heads_by_task(
    {task: {"weights shuffled": list(shares.values())} for task, shares in same.items()},
    "the same word",
    chance=1 / 9,
    names=["0", "1", "2", "3", "all", "equal"],
)

# %% [markdown]
# *Three panels, a bar for each head, for all heads and for uniform weights; the dotted line is chance. "Where": shuffling head 0
# brings the share of unchanged words down to chance, shuffling any other head changes nothing. "What" and "read": heads 1 and 3
# cost a quarter to a third each, the others hardly anything. All heads at once, or equal weights: chance or below.*
#
# So both papers are right, about different heads of one model. At seed 0, with 1,000 questions, shuffling head 0 leaves
# 0.131 of the words of "where" as they were. Shuffling any one of the others leaves 0.995 to 0.999: whatever their maps show, it
# does not explain this answer. For "what" it is the other way round: head 0 does not matter (0.998 stay).
#
# And Wiegreffe and Pinter's question, does the model need its attention at all? With uniform weights 0.098 to 0.119 of
# the words of "where" stay (5 seeds). That might be the shock of it. So we trained models with uniform weights from the first step
# on: "where" is right in 0.118 to 0.128 of the scenes (3 seeds), beside a chance of 0.111. It does need its attention.

# %% [markdown]
# ## Which head carries the answer?
#
# Shuffling breaks something and looks at the damage. There is a kinder experiment, *activation patching*
# ([Vig et al. 2020](https://arxiv.org/abs/2004.12265)). Take a scene and its **twin**: the same scene, but the patch in question
# has changed places with another one, so the answer is another word. Run the model on the twin. In the middle of that run,
# replace what *one* head hands on by what it handed on for the clean scene. If the model now gives the clean scene's answer, this
# head is enough to carry it.
#
# `model.inside(token_ids, image_patches)` returns, among other things, `heads` (B, H, T, d_head): what each head of the
# cross-attention hands on, its weights times its values. `model.inside(token_ids, image_patches, edit)` calls your function
# `edit` with these numbers in the middle of the run, and goes on with what it returns.

# %% [markdown] about="4.4"
# Write `patch_head(model, head, token_ids, clean, twin)`: the logits of the run on `twin`, with the output of one head from the
# run on `clean`. Heads are numbered from 0.
#
# <details><summary>First hint</summary>
#
# Two calls of `model.inside`. The first one gives what to put in; the second one gets an `edit`.
# </details>
#
# <details><summary>Second hint</summary>
#
# In `edit`: `heads = heads.clone()`, then `heads[:, head] = …`, then `return heads`. The result of the second call has `.logits`.
# </details>
#
# Expected below: one head brings back the answer to "where" nearly always, all others never.


# %% exercise="4.4"
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes.

    Args:
        model: with `inside`, see above; it stays as it is.
        head: 0…H−1
        token_ids: (B, T)
        clean, twin: (B, S, d_vision)

    Returns:
        logits (B, T, vocab_size)
    """
    ### BEGIN SOLUTION
    brought = model.inside(token_ids, clean).heads

    def exchange(heads: Tensor) -> Tensor:
        chosen = torch.arange(heads.shape[1], device=heads.device) == head
        return torch.where(chosen[:, None, None], brought, heads)

    return model.inside(token_ids, twin, exchange).logits
    ### END SOLUTION


# %% [markdown]
# **Predict first.** Which share of the twins gets the clean scene's answer when the *best* single head is put in? And the
# control: without that head (it hands on zeros), which share of the clean scenes loses its answer? Put numbers from 0 to 1 in
# place of `None`.

# %% predict="one-head"
my_heads = {"where: put in": None, "where: taken out": None, "what: put in": None, "what: taken out": None}

# %% id="patch-heads" draws="1"
need("said", "4.2")
carried = {}
for task, questions in held.items():
    cells, clean = questions.cells[:, 0], questions.image_patches
    twin = swap_patches(clean, cells, another_cell(cells.cpu()).to(device))
    carried[task] = put_in_and_taken_out(model, patch_head, asked[task], clean, twin)
measured = {}
for task in ("where", "what"):
    best = max(range(len(carried[task]["put in"])), key=carried[task]["put in"].__getitem__)
    measured |= {f"{task}: {name}": carried[task][name][best] for name in ("put in", "taken out")}
compare_predictions(my_heads, measured)
names = {
    "put in": "put in: the twin gets the clean scene's answer",
    "taken out": "taken out: the clean scene loses its answer",
    "alone": "alone: all others silent, the answer stays",
}
show_heads_by_task(
    {task: {names[name]: shares for name, shares in one.items()} for task, one in carried.items()},
    "share of the scenes",
)

# %% [markdown]
# *Three panels, for each of the four heads three bars. "Where": head 0 alone brings the answer nearly always when it is put in, and
# the answer is mostly lost without it; all other heads are at 0. "What" and "read": no head brings the answer in more than a third
# of the scenes, hardly any scene loses it when one head is taken out, and yet head 1 alone answers most scenes when all others
# are silent.*
#
# For "where" the experiments agree. At seed 0, with 1,000 questions, head 0 brings the answer in 0.998 of the twins, and without
# it 0.853 of the answers are lost.
#
# For "what" they do not, and that surprised us most. Take head 1: put in, it brings the answer in 0.309 of the
# twins, so it is *not enough*. Taken out, it costs 0.036 of the answers, so it is *not needed*. Alone, with all others silent, it
# keeps 0.908 of the answers. There is no contradiction. Heads 1, 2 and 3 all look at the patch in question (0.96, 0.84 and 0.90 of their weight). Take one out, and the
# others still say it. Put one in, and the others, which look at the twin, outvote it. Put in two, 1 and 3, and 0.973 of the twins get
# the clean answer. **Taking a head out misses what others back up.**
#
# Which heads they are, and how many, depends on the seed. Over 5 seeds the best single head brings 0.474 to 0.998 of the
# answers to "where", and 0.267 to 0.975 of those to "what". At seed 3 two heads share "where": put in alone they bring 0.474 and 0.377,
# together 0.997.

# %% [markdown]
# ### So, does attention explain?
#
# - Some weights explain and others do not, in one model, for one question. How a map looks does not tell which. Changing it does.
# - A test needs a yardstick: a random order beside the curves, chance beside the bars, an untrained or uniform model beside the
#   trained one.
# - An explanation assumes something: rollout a wiring, the gradient that small changes stand for large ones, taking out that
#   nobody steps in. Ask what, and whether your model keeps to it.
# - Our blank patches are fair, because the recipe shows scenes with empty cells. On a model that has never seen a blank patch,
#   deletion also measures how it takes to strange images.

# %% [markdown] question="4.Q1"
# ### A map as evidence
#
# Somebody shows you the head average of a large vision-language model, bright on the tumour in an X-ray image, and says: "so
# the model saw the tumour". Which two of this part's experiments would you ask for before you believe it, what would each
# outcome mean, and what would still be open? Four or five sentences.
#
# === BEGIN MARK SCHEME ===
# - Says that the map is a correlation, and names heads that rest (or layers that mix) as a reason why an average may be bright
#   or dark where it does not matter (1).
# - Chooses two interventions (deletion and insertion beside a random order, shuffled weights, putting a head in and taking it
#   out, a swap) and says what each outcome would mean (1).
# - Says what stays open: blanked patches are images that the model was never trained on; several heads may back each other up,
#   so "taken out" can miss them; a single scene, or another data set (1).
# - Wrong: "the map is bright there, so it is the cause"; or "attention is never an explanation".
# === END MARK SCHEME ===

# %% [markdown]
# # Part 2 · Repair

# <!-- section of exercises 4.5 to 4.9 -->

# %% [markdown]
# # Part 3 · Modern attention

# <!-- section of exercises 4.10 to 4.14 -->

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
