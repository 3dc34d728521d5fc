"""A model for the coloured world, its training, and what it does with pairs of colour and digit that it has never seen.

The model is lesson 3's, with three numbers for each pixel and a look at the image in both blocks; the recipe is lesson 3's:
align first, then answer, in scenes that fill up.

Axes: B questions, T tokens, 9 patches, 50 pairs.
"""

from collections.abc import Collection
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.data.coloured_world import (
    COLOURED_PROMPTS,
    COLOURED_TASKS,
    COLOURED_WORDS,
    COLOURS,
    ColouredQuestions,
    draw_coloured,
    seen_pairs,
    single_patches,
)
from attention.experiments.progress import progress
from attention.experiments.recipe import MODEL, adamw, draw_start, learning_rate, most_digits
from attention.open_vlm import Block, OpenVLM, answer_step

COLOURED_MODEL = MODEL | {"d_vision": 192, "vocab_size": len(COLOURED_WORDS), "max_tokens": 11}
COLOURED_STEPS, COLOURED_ALIGN_STEPS, COLOURED_BATCH = 1200, 200, 80


class Answers(NamedTuple):
    """What a model answers to questions of one kind."""

    right: Tensor  # (B,) bool
    said: Tensor  # (B,) the likeliest word
    looks: Tensor  # (B, 9) its last map over the image, averaged over the heads
    target: Tensor  # (B,) the patch that holds the answer


def coloured_model(looks: Collection[int] = (0, 1)) -> OpenVLM:
    """Return a model whose blocks in `looks` attend to the image; the last one must be among them."""
    model = OpenVLM(**COLOURED_MODEL)
    for number in range(COLOURED_MODEL["num_layers"]):
        sizes = (COLOURED_MODEL["d_model"], COLOURED_MODEL["num_heads"], COLOURED_MODEL["d_ff"])
        model.blocks[number] = Block(*sizes, number in looks)
    return model


def coloured_align_step(model: nn.Module, optimizer: torch.optim.Optimizer, patches: Tensor, pairs: Tensor) -> float:
    """Stage 1: pull a patch (B, 192) to the sum of its two words, and let cosines tell each word; returns the loss."""
    words = model.embedding.weight.detach()
    digits, colours = (words[COLOURED_WORDS.index(first) :][:count] for first, count in (("0", 10), (COLOURS[0], 5)))
    aligned = model.aligner(patches)
    near = F.normalize(aligned, dim=-1)
    loss = F.mse_loss(aligned, digits[pairs % 10] + colours[pairs // 10])
    for table, labels in ((digits, pairs % 10), (colours, pairs // 10)):
        loss = loss + F.cross_entropy(near @ F.normalize(table, dim=-1).T / 0.1, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train_coloured(
    seed: int,
    steps: int = COLOURED_STEPS,
    align_steps: int = COLOURED_ALIGN_STEPS,
    missing: int = 1,
    looks: Collection[int] = (0, 1),
    device: torch.device | str = "cpu",
) -> tuple[OpenVLM, list[float]]:
    """Train a model on the seen pairs alone; return it, and the loss of every step of stage 2.

    Args:
        missing: how many of the five colours each digit lacks in training.
        looks: the blocks that attend to the image.
    """
    torch.set_flush_denormal(True)  # a processor takes long over numbers below 1e-38
    model = coloured_model(looks)
    draw_start(model, seed)
    model.to(device)
    generator, losses = torch.Generator().manual_seed(seed), []
    aligning = adamw(model.aligner)
    for _ in progress(range(align_steps), "stage 1: align"):
        patches, pairs = single_patches("train", seen_pairs(missing), generator, 256)
        coloured_align_step(model, aligning, patches.to(device), pairs.to(device))
    optimizer = adamw(model)
    for step in progress(range(steps), "stage 2: answer"):
        optimizer.param_groups[0]["lr"] = learning_rate(step, steps)
        most = most_digits(step, steps)
        asked = draw_coloured(COLOURED_BATCH, generator, missing=missing, fewest=min(2, most), most=most)
        losses.append(answer_step(model, optimizer, asked.to(device).batch))
    return model.eval(), losses


def held_out_coloured(task: str, count: int, unseen: bool, missing: int = 1, seed: int = 7) -> ColouredQuestions:
    """Return questions of one kind about full scenes of unseen images.

    The pair in question is a seen or an unseen one.
    """
    generator = torch.Generator().manual_seed(seed)
    return draw_coloured(count, generator, "test", (task,), missing, unseen)


def coloured_answers(model: OpenVLM, task: str, asked: ColouredQuestions) -> Answers:
    """Return what the model says to questions of one kind, and where it looks as it does."""
    length = COLOURED_PROMPTS[COLOURED_TASKS.index(task)]
    device = model.head.weight.device
    with torch.no_grad():
        logits, maps = model(asked.token_ids[:, :length].to(device), asked.image_patches.to(device))
    said = logits[:, -1].argmax(-1).cpu()
    return Answers(
        right=said == asked.token_ids[:, length],
        said=said,
        looks=maps[-1].mean(1)[:, -1].cpu(),
        target=asked.cells - 1 if task == "left" else asked.cells,
    )


def coloured_scores(model: OpenVLM, missing: int = 1, count: int = 1000) -> dict[str, dict[str, dict[str, float]]]:
    """For seen and for unseen pairs and each kind of question: shares of right answers, and of maps on the answer's patch."""
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for name, unseen in (("seen pairs", False), ("unseen pairs", True)):
        scores[name] = {}
        for task in COLOURED_TASKS:
            found = coloured_answers(model, task, held_out_coloured(task, count, unseen, missing))
            scores[name][task] = {
                "right": found.right.float().mean().item(),
                "on the patch": (found.looks.argmax(-1) == found.target).float().mean().item(),
            }
    return scores


def right_by_pair(model: OpenVLM, task: str, unseen: bool, missing: int = 1, count: int = 4000) -> Tensor:
    """Return the share of right answers for every pair in question, (50,); NaN where a pair was never asked about."""
    asked = held_out_coloured(task, count, unseen, missing)
    right = coloured_answers(model, task, asked).right.float()
    pair = asked.pairs.gather(1, asked.cells.unsqueeze(1)).squeeze(1)
    return torch.stack([right[pair == one].mean() for one in range(50)])


def aligned_pairs(model: OpenVLM, seen: Tensor, count: int = 2000, seed: int = 7) -> dict[str, float]:
    """Return how often the aligner brings a single unseen image nearest to the right digit.

    Do the same for the right colour. Nearness is by cosine.

    Args:
        seen: (50,) bool, the pairs that are drawn.
    """
    patches, pairs = single_patches("test", seen, torch.Generator().manual_seed(seed), count)
    with torch.no_grad():
        words = F.normalize(model.embedding.weight.cpu(), dim=-1)
        near = F.normalize(model.aligner(patches.to(model.head.weight.device)).cpu(), dim=-1) @ words.T
    shares = {}
    for name, first, many, labels in (("digit", "0", 10, pairs % 10), ("colour", COLOURS[0], 5, pairs // 10)):
        start = COLOURED_WORDS.index(first)
        right = near[:, start : start + many].argmax(-1) == labels
        shares[name] = right.float().mean().item()
    return shares
