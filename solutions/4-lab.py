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
