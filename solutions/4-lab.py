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
#
# A language model reads words. Three well-known models let it see in three ways:
#
# | way | model | who meets the image |
# |---|---|---|
# | **concatenation** | LLaVA (Liu et al. 2023) | patches stand in front of the words; one self-attention serves all |
# | **gated cross-attention** | Flamingo (Alayrac et al. 2022) | words ask patches, through a gate that begins closed |
# | **learned queries** | BLIP-2 (Li et al. 2023) | a few learned queries ask the patches; words meet the queries |
#
# Think of a museum again. You can walk through the rooms yourself, with the pictures all around you (concatenation). You
# can stay in the reading room and ask by telephone (cross-attention). Or you read a guide book of four pages, which
# somebody wrote before they knew your question (learned queries).
#
# You write one layer for each, train the three side by side, and count what they cost.

# %% [markdown]
# ## Concatenation: who may see whom?
#
# The layer gets S image tokens and T words, and makes one sequence of S + T tokens, the image first. One self-attention
# runs over all. What is left to decide is the mask, and it has four corners:
#
# | | patches answer | words answer |
# |---|---|---|
# | **patches ask** | all: an image is there at once | none: the image does not depend on the question |
# | **words ask** | all | as the mask of the words says, mostly causal |
#
# LLaVA itself lays one causal mask over everything, because its text model brings that mask along. Then a patch sees only
# the patches before it. We let patches see all patches, as PaliGemma does
# ([Beyer et al. 2024](https://arxiv.org/abs/2407.07726)).

# %% [markdown] about="4.15"
# Write `ConcatenatedAttention(d_model, num_heads)`. Its only part is `.self_attn`, a `MultiHeadAttention(d_model, num_heads)`.
# Its call `layer(text_tokens, image_tokens, mask=None)` returns what the self-attention returns for the sequence, image
# first: tokens (..., S + T, d_model) and weights (..., H, S + T, S + T). There is no norm and no residual; the block has both.
# `mask` is (T, T), of the words among themselves; without one all words see all words.
#
# <details><summary>First hint</summary>
#
# Begin with a mask of (S + T, S + T) that is True everywhere. One of its four corners has to become False, another one gets
# `mask`.
# </details>
#
# <details><summary>Second hint</summary>
#
# Rows ask, columns answer. `allowed[:S, S:]` is the corner in which patches ask and words answer. The sequence is
# `torch.cat([image_tokens, text_tokens], dim=-2)`.
# </details>
#
# Expected below: three pictures of who sees whom. In the left one a patch sees four patches and no word.


# %% exercise="4.15"
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        ### END SOLUTION

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Self-attention over image and text.

        Args:
            text_tokens: (..., T, d_model)
            image_tokens: (..., S, d_model)
            mask: (T, T) bool, of the words among themselves; True = may attend. None: all see all.

        Returns:
            tokens (..., S + T, d_model), the image's first; weights (..., num_heads, S + T, S + T).
        """
        ### BEGIN SOLUTION
        S, T = image_tokens.size(-2), text_tokens.size(-2)
        if mask is None:
            mask = torch.ones(T, T, dtype=torch.bool, device=text_tokens.device)
        patches_ask = torch.cat([mask.new_ones(S, S), mask.new_zeros(S, T)], dim=1)
        words_ask = torch.cat([mask.new_ones(T, S), mask], dim=1)
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(sequence, mask=torch.cat([patches_ask, words_ask], dim=0))
        ### END SOLUTION


# %% [markdown]
# ## Gated cross-attention: a door that begins closed
#
# Flamingo takes a language model that is trained already, freezes it, and puts new layers between the old ones. A new
# layer has random weights. If it spoke at once, it would shout into every sentence. So each new layer has a gate g, one
# learned number that begins at 0:
#
# $$x \leftarrow x + \tanh(g) \cdot \mathrm{CrossAttn}(\mathrm{norm}(x),\ \text{image})$$
#
# tanh(0) = 0, so at first the new layer says nothing. tanh(0.5) = 0.462, tanh(1) = 0.762, and tanh never leaves −1 to 1.
#
# Flamingo also gates a feed-forward step that follows; we leave that out.

# %% [markdown] about="4.16"
# Write `GatedCrossAttention(d_model, num_heads)`.
#
# - `.norm`: `nn.LayerNorm(d_model)`, for the text; the image tokens are taken as they come
# - `.cross_attn`: `MultiHeadAttention(d_model, num_heads)`
# - `.gate`: an `nn.Parameter` of shape (1,) that begins at 0
#
# `layer(text_tokens, image_tokens)` returns the tokens, with what the words saw added through the gate, and the weights.
#
# <details><summary>First hint</summary>
#
# Lesson 3's block had `tokens = tokens + seen`. One factor is new.
# </details>
#
# <details><summary>Second hint</summary>
#
# `self.gate = nn.Parameter(torch.zeros(1))`. The weights come back as the cross-attention gives them, without the gate.
# </details>
#
# Expected below: put into your trained model, the new layer changes no answer while its gate is closed.


# %% exercise="4.16"
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.tensor([0.0]))
        ### END SOLUTION

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """text (..., T, d_model), image (..., S, d_model) → tokens (..., T, d_model), weights (..., num_heads, T, S)."""
        ### BEGIN SOLUTION
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.addcmul(text_tokens, self.gate.tanh(), seen), weights
        ### END SOLUTION


# %% [markdown]
# ## Learned queries: a summary for every question
#
# An image of 576 patches in front of every question is dear. BLIP-2 puts 32 *learned queries* between image and text. They
# are parameters, the same for every image and every question. They ask the image once, and the text model only meets the
# 32 tokens that they bring back. BLIP-2's Q-Former has 12 layers of this kind; ours is one.

# %% [markdown] about="4.17"
# Write `LearnedQueries(num_queries, d_model, num_heads)`.
#
# - `.queries`: an `nn.Parameter` of shape (num_queries, d_model), drawn from a normal distribution
# - `.cross_attn`: `MultiHeadAttention(d_model, num_heads)`; `.norm`: `nn.LayerNorm(d_model)`
#
# `layer(image_tokens)` returns the summary norm(queries + seen), (..., K, d_model), and the weights (..., H, K, S).
#
# <details><summary>First hint</summary>
#
# Who asks? The queries. Who answers? The image. The image has batch dimensions, the queries have none yet.
# </details>
#
# <details><summary>Second hint</summary>
#
# `self.queries.expand(*image_tokens.shape[:-2], -1, -1)` gives every image of a batch the same queries.
# </details>
#
# Expected below: queries that begin alike get the same gradient, so they would stay alike for ever.


# %% exercise="4.17"
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.queries = nn.Parameter(torch.empty(num_queries, d_model).normal_())
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """image (..., S, d_model) → summary (..., K, d_model), weights (..., num_heads, K, S)."""
        ### BEGIN SOLUTION
        asking = self.queries + torch.zeros_like(image_tokens[..., :1, :])
        found, weights = self.cross_attn(asking, context=image_tokens)
        return self.norm(asking + found), weights
        ### END SOLUTION


# %% provided="attention.predictions"

# %% provided="attention.three_ways"

# %% provided="attention.ways_plots"

# %% id="try-joined" draws="1"
need("ConcatenatedAttention", "4.15")
layer = ConcatenatedAttention(8, 2)
generator = torch.Generator().manual_seed(seed)
words, patches = torch.randn(3, 8, generator=generator), torch.randn(4, 8, generator=generator)
sights = {
    "concatenation": layer(words, patches, causal_mask(3))[1][0] > 0,
    "gated cross-attention": GatedCrossAttention(8, 2)(words, patches)[1][0] > 0,
}
show_sights(sights, patches=4)

# %% [markdown]
# *Yellow: may see, dark: may not. Left, seven tokens among themselves: the patches see the patches alone, the words see all
# patches and the words up to themselves. Right: three words, who see four patches.*

# %% id="try-gate" draws="1"
need("GatedCrossAttention", "4.16")
new = GatedCrossAttention(MODEL["d_model"], MODEL["num_heads"]).to(device)
cell_questions = draw_questions(1000, torch.Generator().manual_seed(7), "test", ("what",), fewest=9)
with torch.no_grad():
    for name, gate in (("without the new layer", None), ("gate closed, g = 0", 0.0), ("gate half open, g = 0.5", 0.5),
                       ("gate open, g = 100", 100.0)):
        nn.init.constant_(new.gate, gate or 0.0)
        with added_layer(model, new if gate is not None else lambda text, image: (text, None)):
            logits, _ = model(cell_questions.token_ids[:, :6].to(device), cell_questions.image_patches.to(device))
        right = (logits[:, -1].argmax(-1).cpu() == cell_questions.token_ids[:, 6]).float().mean()
        print(f"{name:24} {right:.3f} of the answers to “what is at …” are right")

# %% id="try-queries" draws="1"
need("LearnedQueries", "4.17")
for name, start in (("drawn apart", torch.randn(4, 8, generator=generator)), ("all alike", torch.zeros(4, 8))):
    layer = LearnedQueries(4, 8, 1)
    layer.queries.data.copy_(start)
    summary, _ = layer(torch.randn(5, 9, 8, generator=generator))
    gradient = torch.autograd.grad(summary.square().cumsum(-1).sum(), layer.queries)[0]
    print(f"{name:12} gradients of query 0 and query 1 differ by {(gradient[0] - gradient[1]).abs().max():.1e}")

# %% [markdown]
# ## Predict, then run: the three ways side by side
#
# One small task for all three: one word names a place, `top-left`; the answer is the digit that stands there. One block,
# width 32, one head, four learned queries. Each way gets the same 500 batches and the same learning rate. Chance is 0.1.
#
# **Predict first.** Which share of the answers will be right? Four queries, nine patches: how much can they keep?

# %% predict="three-ways"
my_ways = {"concatenation": None, "gated cross-attention": None, "learned queries": None}

# %% id="train-ways" draws="1"
need("LearnedQueries", "4.17")
layers = WayLayers(ConcatenatedAttention, GatedCrossAttention, LearnedQueries)
ways = {}
for way in WAYS:
    started = time.process_time()
    way_model, _ = train_way(way, layers, seed, steps=WAY_STEPS if train_steps is None else train_steps, device=device)
    ways[way] = {**way_scores(way_model), "model": way_model, "seconds": time.process_time() - started}
    print(f"{way:22} right {ways[way]['right']:.3f}, map on the patch {ways[way]['on the patch']:.3f}, "
          f"{counted_flops(way_model):,} FLOPs a question, {ways[way]['seconds']:.1f} s of training")

# %% id="compare-ways" draws="1"
need("ways", "4.17")
compare_predictions(my_ways, {way: found["right"] for way, found in ways.items()})
show_squares({f"{way}\n{found['right']:.2f} right": found["by place"] for way, found in ways.items()}, "right answers")

# %% [markdown]
# *Three maps of 3×3 places, the share of right answers at each. Concatenation and gated cross-attention are bright
# everywhere. Learned queries are bright at one or two places and dark at the others.*
#
# The third map is the surprise. Four queries could share nine digits out in many ways. What do they look at?

# %% id="query-looks" draws="1"
need("ways", "4.17")
asked = place_questions(500, torch.Generator().manual_seed(7), "test")
with torch.no_grad():
    looks = ways[QUERIES]["model"].summary.to("cpu")(
        ways[QUERIES]["model"].to("cpu").image_norm(
            ways[QUERIES]["model"].aligner(asked.image_patches) + ways[QUERIES]["model"].image_positions)
    )[1].mean((0, 1))
show_squares({f"query {number}": look for number, look in enumerate(looks)}, "weight")

# %% [markdown]
# *Four maps of 3×3 patches, averaged over 500 scenes. Where a query rests on one place, that place was bright in the map
# before; where it spreads over several, their digits are blended into one vector.*
#
# === WAYS RESULTS ===

# %% [markdown]
# ## What they cost
#
# Nine patches are few. The formula below counts the same products as PyTorch's counter; with it you can ask for any size: a
# text model of 12 blocks, width 768, and a question of 100 words.

# %% id="count-costs" draws="1"
need("ways", "4.17")
shared = 2 * 9 * 64 * WAY_WIDTH + 2 * WAY_WIDTH * len(WORDS)  # the aligner and the head, the same for all
print("counted and by formula the same:",
      all(counted_flops(found["model"]) - shared == way_flops(way, 9) for way, found in ways.items()))
sizes = (9, 36, 144, 576, 2304)
show_costs(sizes, {way: [way_flops(way, size, 100, 32, 768, 12) for size in sizes] for way in WAYS},
           "12 blocks, 100 words, 32 learned queries")

# %% [markdown]
# *Lines over the number of patches, both axes logarithmic. Learned queries stay nearly flat, gated cross-attention rises
# slowly, concatenation rises fastest: every patch goes through every block.*
#
# With nine patches 32 queries are dearer than the patches themselves. At 576 patches, as in LLaVA-1.5, concatenation takes
# === COSTS ===
# Real systems cache the image's keys and values, so that later words of an answer do not pay again.

# %% [markdown]
# # A richer world
#
# Digits in five colours, and questions that need two things at once:
#
# - `which colour has the 3 ?` → a colour
# - `which colour is at center ?` → a colour, asked by place
# - `where is the red 7 ?` → a place. There is a 7 in another colour, and another red digit
# - `what is left of the red 7 ?` → the digit of its left neighbour
#
# The handwriting is real, and split by image, as before: no image in a test scene was seen in training. On top comes a
# second split. Of the 50 pairs of colour and digit, **ten are never shown in training**: every digit lacks one colour, every
# colour lacks two digits. The model sees red digits and it sees sevens, but never a red 7. Will it know one?

# %% provided="attention.coloured_world"

# %% provided="attention.compositional"

# %% id="coloured-world" draws="1"
scenes = [held_out_coloured(task, 1, unseen=True, seed=seed + 3) for task in COLOURED_TASKS]
sentences = [" ".join(COLOURED_WORDS[token] for token in scene.token_ids[0].tolist() if token > 2) for scene in scenes]
show_pictures(
    torch.cat([to_pictures(scene.image_patches) for scene in scenes]),
    [text.partition("?")[0] + "?" for text in sentences],
    ["→" + text.partition("?")[2] for text in sentences],
    [scene.cells.item() for scene in scenes],
)

# %% [markdown]
# *Four scenes of nine handwritten digits in red, green, blue, orange and purple. Above each its question, one of each kind,
# below it the answer. The black frame marks the digit in question; its pair of colour and digit is one that training never
# shows.*
#
# The model is lesson 3's, with 192 numbers a patch (64 pixels in red, green and blue) and a look at the image in both of its
# blocks: to find the left neighbour of the red 7, you must have found the red 7. The recipe is lesson 3's, too: align
# patches to the sum of their two words, then answer in scenes that fill up. Only seen pairs take part in either.
#
# **Predict first.** Which share of the answers will be right when the digit in question is of a pair that was seen in
# training, and of one that was not? Everything else in these scenes was seen. Chance is 0.20 for a colour,
# 0.11 for a place and 0.10 for a digit.

# %% predict="unseen-pairs"
my_pairs = {
    "colour, seen": None, "colour, unseen": None, "at, seen": None, "at, unseen": None,
    "where, seen": None, "where, unseen": None, "left, seen": None, "left, unseen": None,
}

# %% id="train-coloured" draws="1"
started = time.process_time()
coloured, coloured_losses = train_coloured(
    seed,
    steps=COLOURED_STEPS if train_steps is None else train_steps,
    align_steps=COLOURED_ALIGN_STEPS if train_steps is None else min(COLOURED_ALIGN_STEPS, train_steps),
    device=device,
)
pair_scores = coloured_scores(coloured)
print(f"{len(coloured_losses)} steps in {time.process_time() - started:.1f} s, last loss {coloured_losses[-1]:.3f}")

# %% id="compare-pairs" draws="1"
need("pair_scores", "4.17")
shares = {name: {task: row["right"] for task, row in rows.items()} for name, rows in pair_scores.items()}
compare_predictions(
    my_pairs,
    {f"{task}, {name.split()[0]}": shares[name][task] for task in COLOURED_TASKS for name in shares},
)
show_gap(shares["seen pairs"], shares["unseen pairs"], {"colour": 1 / 5, "at": 1 / 5, "where": 1 / 9, "left": 1 / 10})

# %% [markdown]
# *Bars in twos, seen pairs beside unseen pairs, for the four kinds of question; dotted lines: chance. All are far above
# chance. The gap is widest for "colour".*

# %% id="draw-pairs" draws="1"
need("pair_scores", "4.17")
by_pair = torch.stack([right_by_pair(coloured, "colour", unseen) for unseen in (False, True)])
show_pairs(
    torch.where(seen_pairs(), by_pair[0], by_pair[1]).reshape(5, 10),
    seen_pairs().reshape(5, 10),
    COLOURS,
    [str(digit) for digit in range(10)],
    "which colour has the …? Framed: pairs that training never showed",
)

# %% [markdown]
# *A map of five colours by ten digits, the share of right answers. Seen pairs are bright. Among the ten framed ones some are
# as bright, and a few are dark.*
#
# === PAIRS RESULTS ===

# %% [markdown]
# ## What you have now
#
# <!-- the lead writes this at the end -->

# %% [markdown] id="glossary"
# ## Glossary
#
# <!-- glossary -->
