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
# least .85 of its maps must be largest on the right patch, on 500 unseen scenes. Over 5 seeds, the mended trainings reach .92 or
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
# Paint the padding over with zeros instead, and the gate is passed, because there is no second 7 any more. But the empty cells
# take their share of the weight: a mask does what it says, and paint only hides.

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
largest = [round(weight, 2) for weight in maps.amax(-1).tolist()]
print("largest weights before the first step:", largest, "even: 0.11")

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
# directions. Let the encoder learn in the place of the aligner, and the gate is passed, too. That is no mend: an encoder that
# serves several models must not be changed by one of them.

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
# ## Fifth training: it stares at one patch
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
examples = BONUS.draw(900, torch.Generator().manual_seed(seed), "test", 9, 9).to(device)
maps = answers_and_maps(broken, *examples.asked)[1]
shares = torch.bincount(maps.argmax(-1), minlength=9) / 900
print("share of the maps that is largest on each patch:", [round(share, 2) for share in shares.tolist()])

# %% [markdown]
# *The loss falls fast at first, and then stays near the dotted line. Each map has all its weight on one patch, seldom on the one
# with the orange frame. The list counts over 900 questions, about 100 for each place: some patches are looked at again and again,
# others hardly ever. The attention has collapsed.*

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
# | each map on one patch, the same few patches again and again | a collapse: look at what the loss rewards |
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
