"""A pocket-sized model that trains in a second, for the repairs.

One word asks, one word answers: `top-left` → `7`. The word looks at the scene once, through one head, and what it sees
decides the answer. Three pieces of the training can be replaced, to see what a mistake in them does.

Axes: B questions, T = 2 words (the question and its answer), 9 patches, V words in the vocabulary.
"""

from collections.abc import Callable
from math import cos, pi

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.data.digits import BLANK, POSITIONS, digits, draw_scenes
from attention.data.tokens import WORDS, Questions
from attention.experiments.recipe import draw_start
from attention.multi_head import MultiHeadAttention

POCKET_WIDTH, POCKET_EPOCHS, POCKET_BATCHES, POCKET_BATCH = 32, 10, 25, 80
POCKET_RATE, POCKET_BETAS, POCKET_WARM_UP = 0.01, (0.9, 0.9), 20


class PocketVLM(nn.Module):
    """Asks by one word, looks once, answers by one word: (B, T) and (B, 9, 64) → logits (B, T, V), maps."""

    def __init__(self, look: Callable | None = None, width: int = POCKET_WIDTH) -> None:
        """look: called as look(cross_attn, words, patches) → what is seen, weights; None: the layer alone."""
        super().__init__()
        self.aligner = nn.Linear(64, width)
        self.image_positions = nn.Parameter(torch.empty(9, width))
        self.image_norm, self.norm1, self.norm2, self.norm = (nn.LayerNorm(width) for _ in range(4))
        self.embedding = nn.Embedding(len(WORDS), width)
        self.cross_attn = MultiHeadAttention(width, num_heads=1)
        self.ffn = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.head = nn.Linear(width, len(WORDS), bias=False)
        self.look = look or MultiHeadAttention.__call__

    def forward(self, token_ids: Tensor, image_patches: Tensor, *more: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the logits and the maps; `more` is passed on to `look`."""
        patches = self.image_norm(self.aligner(image_patches) + self.image_positions)
        words = self.embedding(token_ids)
        seen, weights = self.look(self.cross_attn, self.norm1(words), patches, *more)
        words = words + seen
        words = words + self.ffn(self.norm2(words))
        return self.head(self.norm(words)), [weights]


def pocket_questions(
    count: int, generator: torch.Generator, split: str = "train", fewest: int = 9, most: int = 9
) -> Questions:
    """Draw questions on the CPU: the name of a place that shows a digit, and the digit."""
    patches, labels = draw_scenes(count, generator, split, fewest, most)
    cell = torch.where(labels != BLANK, torch.rand(count, 9, generator=generator), -1.0).argmax(1, keepdim=True)
    place, digit = WORDS.index(POSITIONS[0]) + cell, WORDS.index("0") + labels.gather(1, cell)
    lengths = torch.ones(count, dtype=torch.long)
    return Questions(torch.cat([place, digit], 1), lengths, patches, cell, labels)


def train_pocket(
    seed: int,
    look: Callable | None = None,
    start_stage_two: Callable | None = None,
    shuffle_questions: Callable | None = None,
    device: torch.device | str = "cpu",
) -> tuple[PocketVLM, list[float]]:
    """Train a pocket-sized model in two stages; return it, and the loss of every step of the second.

    Args:
        look: see PocketVLM.
        start_stage_two: called as start_stage_two(model) → the parameters that learn from then on, on a model in
            which everything but the aligner is frozen; None: nothing is ever frozen.
        shuffle_questions: called as shuffle_questions(token_ids, image_patches, generator) → both, in another
            order, on questions sorted by the place they ask about; None: they come in random order.
    """
    generator = torch.Generator().manual_seed(seed)
    model = PocketVLM(look)
    draw_pocket_start(model, seed)
    align_pocket(model)
    model.to(device)
    learning = list(model.parameters())
    if start_stage_two is not None:
        model.requires_grad_(False)
        model.aligner.requires_grad_(True)
        learning = start_stage_two(model)
    optimizer = torch.optim.AdamW(learning, lr=POCKET_RATE, betas=POCKET_BETAS)
    losses: list[float] = []
    for epoch in range(POCKET_EPOCHS):
        count = POCKET_BATCHES * POCKET_BATCH
        asked = pocket_questions(count, generator, fewest=1, most=min(9, 2 + epoch))
        token_ids, image_patches = asked.token_ids, asked.image_patches
        if shuffle_questions is not None:
            order = token_ids[:, 0].argsort(stable=True)
            token_ids, image_patches = shuffle_questions(token_ids[order], image_patches[order], generator)
        for words, patches in zip(token_ids.split(POCKET_BATCH), image_patches.split(POCKET_BATCH), strict=True):
            optimizer.param_groups[0]["lr"] = pocket_rate(len(losses))
            losses.append(_pocket_step(model, optimizer, words.to(device), patches.to(device)))
    return model, losses


def draw_pocket_start(model: PocketVLM, seed: int) -> None:
    """Draw every parameter from the seed; the word for a place begins as the vector of that place.

    If words and places are drawn apart, 1 training of 20 mixes up two places; if they begin alike, none does.
    """
    draw_start(model, seed)
    first = WORDS.index(POSITIONS[0])
    with torch.no_grad():
        model.image_positions.mul_(0.7)
        model.embedding.weight[first : first + 9] = model.image_positions


def align_pocket(model: PocketVLM) -> None:
    """Stage 1: bring each digit to the embedding of its word; for a linear aligner, least squares need no steps."""
    patches, labels = digits("train")
    words = model.embedding.weight[WORDS.index("0") + labels].detach()
    inputs = F.pad(patches, (0, 1), value=1.0)  # (N, 65), the last column for the bias
    # Some pixels are always white: without the small ridge there would be no single solution.
    solution = torch.linalg.solve(inputs.T @ inputs + torch.eye(65), inputs.T @ words)
    with torch.no_grad():
        model.aligner.weight.copy_(solution[:-1].T)
        model.aligner.bias.copy_(solution[-1])


def pocket_rate(step: int) -> float:
    """Return the learning rate of a step: a short warm-up, then half a cosine down to 0."""
    steps = POCKET_EPOCHS * POCKET_BATCHES
    return POCKET_RATE * min(1.0, (step + 1) / POCKET_WARM_UP) * (1 + cos(pi * step / steps)) / 2


def _pocket_step(model: PocketVLM, optimizer: torch.optim.Optimizer, token_ids: Tensor, patches: Tensor) -> float:
    logits, _ = model(token_ids[:, :1], patches)
    loss = F.cross_entropy(logits[:, 0], token_ids[:, 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def pocket_scores(model: PocketVLM, count: int = 500, seed: int = 7) -> dict[str, float]:
    """Return the shares of right answers, and of maps that are largest on the right patch, on full scenes of unseen images."""
    questions = pocket_questions(count, torch.Generator().manual_seed(seed), "test")
    device = model.head.weight.device
    with torch.no_grad():
        logits, maps = model(questions.token_ids[:, :1].to(device), questions.image_patches.to(device))
    answers, places = logits[:, 0].argmax(-1).cpu(), maps[-1].mean(1)[:, 0].argmax(-1).cpu()
    return {
        "right": (answers == questions.token_ids[:, 1]).float().mean().item(),
        "on the patch": (places == questions.cells[:, 0]).float().mean().item(),
    }
