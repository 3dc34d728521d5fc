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
# scale from 0 to 1: head average, value-weighted, rollout, gradient × attention, and chance, 0.11 everywhere. For "what" and
# "read" all four maps are brightest in the frame, rollout least clearly. For "where" the head average and the rollout spread
# their weight over several patches, and the two others do not.*

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
# The scenes that are handed in stay as they are. The ranking at the end of the list of checks uses your 4.1 and 4.2 as well: on a
# model and on scenes that you have not seen, they must come out in the right order.
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
print("\ninsertion minus deletion, the best first")
for task, values in quality.items():
    ranked = sorted(values.items(), key=lambda pair: -pair[1])
    print(f"{task:6}", ", ".join(f"{name} {value:.3f}" for name, value in ranked))

# %% id="draw-curves" draws="1"
need("quality", "4.3")
show_curves(
    *({name: curves.mean(0) for name, curves in one["where"].items()} for one in (deleted, inserted)), "random order"
)

# %% [markdown]
# *Two panels of curves for "where". Deletion: the gradient's and the value-weighted curve drop to the floor at the first patch,
# the head average's a little later, rollout's clearly later, and the dotted line of the random order falls evenly. Insertion: the
# same picture upside down.*
#
# %%FINDINGS%%

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
# %%EARLY%%

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
    print(task)
    for name, maps in found[task].items():
        tau, hit = rank_correlation(maps, effects).mean(), on_target(maps, questions.cells[:, 0])
        print(f"    {name:21} Kendall's τ {tau:6.3f}, largest on the patch in question {hit:.3f}")

# %% [markdown]
# %%TAU%%

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
    names=["0", "1", "2", "3", "all", "uniform"],
)

# %% [markdown]
# *Three panels, a bar for each head, for all heads and for uniform weights; the dotted line is chance. "Where": shuffling head 0
# brings the share of unchanged words down to chance, shuffling any other head changes nothing. "What" and "read": heads 1 and 3
# cost about a third each, the others hardly anything. All heads at once, or uniform weights: chance.*
#
# %%SHUFFLE%%

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
    measured |= {f"{task}: {name}": shares[best] for name, shares in carried[task].items()}
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
# %%CARRIED%%

# %% [markdown]
# ### So, does attention explain?
#
# %%SUMMARY%%

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
#
# Five trainings fail, each for one fault in a piece of code that you can see. All of them are small: one word asks about a
# scene of digits, one head looks once, and 250 steps take about a second.
#
# Of each you see the loss, three scenes that no training has seen, and the maps. Beside them stands a **healthy** run, recorded
# with the right piece: the dashed curve, and the lowest row of maps. The patch in question has an orange frame, and every map
# has the same scale, from 0 to 1. Work as a mechanic does:
#
# 1. **Symptom.** What is other than in the healthy run? Does the loss fall, and how far? Where do the maps lie?
# 2. **Cause.** Which line could do that? Print shapes, sums, gradients, before you change anything.
# 3. **Mend it.** Write the piece anew, with the fault mended and all else as it was.
#
# You are judged twice. **The gate**: trained anew with your piece, the model has to give at least .85 right answers, and at
# least .85 of its maps must be largest on the right patch, on 500 unseen scenes. Over 5 seeds, the mended trainings reach .94 or
# more in both, and each broken one misses the gate every time. **What you changed**: your piece is compared with the right
# one on inputs that you have not seen. For a model may pass the gate although the fault is still there, or gone together
# with what it was a fault in. So if the gate is passed and the self-check of your piece is not, you have changed the task.

# %% provided="attention.pocket:PocketVLM draw_pocket_start align_pocket pocket_rate pocket_questions"

# %% provided="attention.short_trainings"

# %% provided="attention.healthy_runs"

# %% provided="attention.short_training_plots"

# %% [markdown]
# ## First training: it looks where nothing is
#
# Scenes hold 3 to 8 cells. To put them into one tensor, each is filled up to nine cells with **padding**. Nobody clears that
# memory, so in the padding lie cells of other scenes (hatched). The question is "where is the 7?", and there may be another 7 in
# the padding. The model uses this course's `MultiHeadAttention`; the line with the mask was taken from a program that uses
# PyTorch's.


# %% id="broken-padding" draws="1"
def broken_look(cross_attn, words, patches, padding):
    """padding (B, S): True where a cell is padding."""
    mask = padding.unsqueeze(-2)  # (B, 1, S): the same for each word of a scene
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights


broken, broken_losses = train_short(PADDING, broken_look, seed, device)
show_run(PADDING, {"broken": broken_losses}, broken, "broken")
print(gate_report(PADDING, broken))

# %% [markdown]
# *Left: the loss comes down to the dotted line of somebody who guesses among nine places, and stays there; the healthy one falls
# on. Right: three scenes with their padding, the maps of the broken model, and those of the healthy one.*

# %% [markdown] about="4.5"
# Write `look_past_padding(cross_attn, words, patches, padding)` → what is seen (B, T, d_model), and the weights (B, H, T, S).
# `cross_attn` is a `MultiHeadAttention`; words are (B, T, d_model), patches (B, S, d_model), padding (B, S) is True where a
# cell is padding. It does what `broken_look` was meant to do.
#
# <details><summary>First hint</summary>
#
# Compare the hatched cells with the map below them. Is there weight on a cell that is not hatched?
# </details>
#
# <details><summary>Second hint</summary>
#
# A mask has two possible meanings. In this course, and in `F.scaled_dot_product_attention`, True means "may look"; the
# `key_padding_mask` of `nn.MultiheadAttention` means the opposite. Which one is `padding`, and which one does the layer want?
# </details>
#
# Expected below: a loss that follows the dashed one, and no weight on hatched cells.


# %% exercise="4.5"
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks.

    Args:
        cross_attn: MultiHeadAttention
        words: (B, T, d_model)
        patches: (B, S, d_model)
        padding: (B, S) bool, True where a cell is padding

    Returns:
        (B, T, d_model), (B, H, T, S)
    """
    ### BEGIN SOLUTION
    own = padding.logical_not()
    seen, weights = cross_attn(words, patches, own[:, None, :])
    return seen, weights
    ### END SOLUTION


# %% id="train-padding"
mended_padding, mended_padding_losses = train_short(PADDING, look_past_padding, seed, device, train_steps)

# %% id="draw-padding" draws="1"
need("mended_padding", "4.5")
show_run(PADDING, {"broken": broken_losses, "mended": mended_padding_losses}, mended_padding, "mended")
print(gate_report(PADDING, mended_padding))

# %% [markdown]
# *With the mended piece, the solid blue curve and the maps are those of the healthy run.*
#
# Leave the mask out altogether, and this training fails as well: nothing tells the 7 of the scene from the 7 in the padding.

# %% [markdown]
# ## Second training: it is sure from the first step
#
# "What is at top-left?", asked by a model that is 128 numbers wide. Its attention subtracts the largest score before the
# softmax, "so that no exponential gets too large".


# %% id="broken-scale" draws="1"
def broken_once(query, key, value):
    """query (..., T, d_k), key (..., S, d_k), value (..., S, d_v)"""
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights


broken, broken_losses = train_short(SCALE, broken_once, seed, device)
show_run(SCALE, {"broken": broken_losses}, broken, "broken")
print(gate_report(SCALE, broken))
untrained, _ = train_short(SCALE, broken_once, seed, device, steps=0)
maps = answers_and_maps(untrained, *(one.to(device) for one in shown_examples(SCALE).asked))[1]
print("largest weights before the first step:", [round(weight, 2) for weight in maps.amax(-1).tolist()], "even: 0.11")

# %% [markdown]
# *The loss sinks slowly, and ends far above the dashed one. The maps are sharp, and sharp on the wrong patch: the model is
# sure, and mistaken. And it was sure before it had learned anything: the last line.*

# %% [markdown] about="4.6"
# Write `look_once(query, key, value)` → what is seen (..., T, d_v), and the weights (..., T, S). Query is (..., T, d_k), key
# (..., S, d_k), value (..., S, d_v). Mend what `broken_once` lacks. It must be right for every d_k.
#
# <details><summary>First hint</summary>
#
# Subtracting the largest score changes no weight; that line is right. How large are the scores? Print their standard deviation
# for random queries and keys of 4, 32 and 128 numbers.
# </details>
#
# <details><summary>Second hint</summary>
#
# A smaller learning rate does not help: where one weight is nearly 1, the softmax hands on hardly any gradient, and the head
# cannot find out that another patch would have been better. Lesson 1 divides the scores by something that depends on d_k.
# </details>
#
# Expected below: maps that begin nearly even, become sharp while the loss falls, and end in the orange frames.


# %% exercise="4.6"
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention.

    Args:
        query: (..., T, d_k)
        key: (..., S, d_k)
        value: (..., S, d_v)

    Returns:
        (..., T, d_v), (..., T, S)
    """
    ### BEGIN SOLUTION
    scores = (query / query.shape[-1] ** 0.5) @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    powers = scores.exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ value, weights
    ### END SOLUTION


# %% id="train-scale"
mended_scale, mended_scale_losses = train_short(SCALE, look_once, seed, device, train_steps)

# %% id="draw-scale" draws="1"
need("mended_scale", "4.6")
show_run(SCALE, {"broken": broken_losses, "mended": mended_scale_losses}, mended_scale, "mended")
print(gate_report(SCALE, mended_scale))

# %% [markdown]
# *With the mended piece, curve and maps are those of the healthy run.*

# %% [markdown]
# ## Third training: it learns, and then no more
#
# This model points: "where is the 7?", and the map is the answer. Its patches go through an **encoder** that was trained
# before and stays as it is, and then through a new **aligner**, eight numbers wide, which learns.


# %% id="broken-aligner" draws="1"
def broken_tokens(encoder, aligner, patches):
    """patches (B, S, 64)"""
    with torch.no_grad():  # the encoder was trained before
        features = encoder(patches)
        tokens = aligner(features)
    return tokens


broken, broken_losses = train_short(ALIGNER, broken_tokens, seed, device)
show_run(ALIGNER, {"broken": broken_losses}, broken, "broken")
print(gate_report(ALIGNER, broken))
before, _ = train_short(ALIGNER, broken_tokens, seed, device, steps=0)
weights = {name: one for name, one in broken.named_parameters() if name.endswith("weight")}
for name, parameter in weights.items():
    moved = (parameter - before.get_parameter(name)).norm() / before.get_parameter(name).norm()
    print(f"{name:18} moved by {moved:.2f} of its length")

# %% [markdown]
# *The loss falls well below the dotted line at first, so something is learned; then it stays, and the healthy one falls on. Some
# weight is in the orange frames, and much beside them, on other digits. The list says how far each parameter has moved.*

# %% [markdown] about="4.7"
# Write `image_tokens(encoder, aligner, patches)` → the image tokens (B, S, d). `encoder` and `aligner` are modules; patches are
# (B, S, 64). The encoder must stay as it is, and everything behind it must learn.
#
# <details><summary>First hint</summary>
#
# Which parameters have not moved at all? Which of them should have?
# </details>
#
# <details><summary>Second hint</summary>
#
# What is computed inside `with torch.no_grad():` has no gradient for anything that went into it: inputs and parameters. How far
# does the block reach, and how far should it?
# </details>
#
# Expected below: the loss follows the dashed one. The encoder must not move, or the task has become another one.


# %% exercise="4.7"
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches (B, S, 64) through an encoder that stays as it is, and an aligner that learns: (B, S, d)."""
    ### BEGIN SOLUTION
    features = encoder(patches).detach()
    return aligner(features)
    ### END SOLUTION


# %% id="train-frozen"
mended_aligner, mended_aligner_losses = train_short(ALIGNER, image_tokens, seed, device, train_steps)

# %% id="draw-frozen" draws="1"
need("mended_aligner", "4.7")
show_run(ALIGNER, {"broken": broken_losses, "mended": mended_aligner_losses}, mended_aligner, "mended")
print(gate_report(ALIGNER, mended_aligner))

# %% [markdown]
# *With the mended piece, curve and maps are those of the healthy run.*
#
# This fault is hard to see because the rest learns around it: the embedding and the projections make the best of eight random
# directions.

# %% [markdown]
# ## Fourth training: it looks at two places
#
# More data for nothing: half of the scenes are **mirrored**, left for right, each time they are used. The patches change
# places; the digits on them stay as they were written.


# %% id="broken-mirror" draws="1"
def broken_mirror(cells, patches, turned):
    """cells (B,): 0…8, the place that is asked about. turned (B,): whether to mirror a scene."""
    grid = patches.unflatten(1, (3, 3))  # (B, row, column, pixels)
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    return cells, patches


broken, broken_losses = train_short(MIRROR, broken_mirror, seed, device)
show_run(MIRROR, {"broken": broken_losses}, broken, "broken")
print(gate_report(MIRROR, broken))
examples = MIRROR.draw(900, torch.Generator().manual_seed(seed), "test", 9, 9).to(device)
answers = answers_and_maps(broken, *examples.asked)[0].argmax(-1)
for column, name in enumerate(("left", "center", "right")):
    asked = examples.cells % 3 == column
    print(f"asked about the {name:6} column: {(answers == examples.answers)[asked].float().mean():.2f} right")

# %% [markdown]
# *The loss falls far below guessing and stays well above the dashed one. Where the question is about the left or the right
# column, the broken model looks at two places; about the column in between, at one. The list says what that costs.*

# %% [markdown] about="4.8"
# Write `mirror_left_right(cells, patches, turned)` → both, of the same shapes. `cells` (B,) are the places that are asked about,
# 0…8, row by row; patches are (B, 9, d), `turned` (B,) says which scenes are mirrored. What is asked and what is shown must
# belong together.
#
# <details><summary>First hint</summary>
#
# Take one mirrored scene, the question "what is at top-left?", and the digit that counts as right. Where in the mirrored scene
# does that digit stand now?
# </details>
#
# <details><summary>Second hint</summary>
#
# In half of the pairs, left and right are swapped in the image and not in the text. A place is 3 × row + column; a mirror
# changes the column from 0 to 2 and back.
# </details>
#
# Expected below: one bright patch in each map. To stop mirroring would also bring that about. It is not what was asked.


# %% exercise="4.8"
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them.

    Args:
        cells: (B,) 0…8, the place that is asked about
        patches: (B, 9, d)
        turned: (B,) bool, which scenes are mirrored
    """
    ### BEGIN SOLUTION
    opposite = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=cells.device)
    mirrored = patches[:, opposite]
    return torch.where(turned, opposite[cells], cells), torch.where(turned[:, None, None], mirrored, patches)
    ### END SOLUTION


# %% id="train-mirror"
mended_mirror, mended_mirror_losses = train_short(MIRROR, mirror_left_right, seed, device, train_steps)

# %% id="draw-mirror" draws="1"
need("mended_mirror", "4.8")
show_run(MIRROR, {"broken": broken_losses, "mended": mended_mirror_losses}, mended_mirror, "mended")
print(gate_report(MIRROR, mended_mirror))

# %% [markdown]
# *With the mended piece, curve and maps are those of the healthy run.*

# %% [markdown]
# ## Fifth training: it always looks at the same place
#
# A head that settles on one patch too early never finds out what the others hold. So this training has a **bonus for looking
# around**: as long as the entropy of the maps is large, the loss is to be smaller. The strength of the bonus fades from 1 to 0
# over the first half of the training.


# %% id="broken-bonus" draws="1"
def broken_loss(logits, answers, weights, strength):
    """logits (B, V), answers (B,), weights (B, S)"""
    surprise = -weights.clamp_min(1e-12).log()  # in place of −log 0
    entropy = (weights * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) + strength * entropy


broken, broken_losses = train_short(BONUS, broken_loss, seed, device)
show_run(BONUS, {"broken": broken_losses}, broken, "broken")
print(gate_report(BONUS, broken))

# %% [markdown]
# *The loss falls fast at first, and then stays near the dotted line. All maps lie on the same one or two patches, whatever is
# asked and wherever the orange frame is: the attention has collapsed.*

# %% [markdown] about="4.9"
# Write `looking_loss(logits, answers, weights, strength)` → a scalar: the mean cross-entropy of the answers, with the bonus for
# looking around, `strength` × the mean entropy of the maps. Logits are (B, V), answers (B,), weights (B, S); the rows of
# `weights` sum to 1, and a weight may be exactly 0.
#
# <details><summary>First hint</summary>
#
# The entropy of an even map over nine patches is log 9, that of a map on one patch is 0. Compute the loss of both, with the same
# logits. Which one is smaller? Which one should be?
# </details>
#
# <details><summary>Second hint</summary>
#
# Training makes the loss smaller. What is to become larger must make the loss smaller. The line of the entropy is right.
# </details>
#
# Expected below: maps that follow the question. The loss may be below 0 at first, since a bonus is subtracted.


# %% exercise="4.9"
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around.

    Args:
        logits: (B, V)
        answers: (B,)
        weights: (B, S), rows sum to 1
        strength: of the bonus
    """
    ### BEGIN SOLUTION
    negative_entropy = torch.xlogy(weights, weights.clamp_min(1e-12)).sum(-1)
    return F.cross_entropy(logits, answers) + strength * negative_entropy.mean()
    ### END SOLUTION


# %% id="train-bonus"
mended_bonus, mended_bonus_losses = train_short(BONUS, looking_loss, seed, device, train_steps)

# %% id="draw-bonus" draws="1"
need("mended_bonus", "4.9")
show_run(BONUS, {"broken": broken_losses, "mended": mended_bonus_losses}, mended_bonus, "mended")
print(gate_report(BONUS, mended_bonus))

# %% [markdown]
# *With the mended piece, curve and maps are those of the healthy run.*
#
# | what you see | what it may be |
# |---|---|
# | weight exactly where it must not be | a mask that means the opposite |
# | sharp maps before the first step | scores that are too large |
# | a loss that falls and then stays, a parameter that never moves | something is cut off from the gradient |
# | two bright places where one was asked for | pairs that do not belong together |
# | the same map for every question | a collapse: look at what the loss rewards |
#
# It would be handy if it were always so. Other faults can look the same, so the table says where to look first, and the gradient,
# the shapes and the numbers say what it is.

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
