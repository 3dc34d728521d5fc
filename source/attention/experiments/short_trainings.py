"""Five short trainings, each with one piece that can be replaced, to see what a fault in it does.

Each asks one word about a scene of digits, looks once with one head, and answers. All take 250 steps, about a second.

Axes: B examples, 9 patches, V answers.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.data.digits import POSITIONS, digits, draw_scenes
from attention.data.tokens import WORDS
from attention.experiments.pocket_vlm import (
    POCKET_BATCH,
    POCKET_BATCHES,
    POCKET_BETAS,
    POCKET_EPOCHS,
    POCKET_RATE,
    PocketVLM,
    align_pocket,
    draw_pocket_start,
    pocket_questions,
    pocket_rate,
)
from attention.experiments.recipe import draw_start

SHORT_STEPS = POCKET_EPOCHS * POCKET_BATCHES
GATE = 0.85  # the least share of right answers, and of maps that are largest on the right patch
FIRST_DIGIT, FIRST_PLACE = WORDS.index("0"), WORDS.index(POSITIONS[0])


class Examples(NamedTuple):
    """Questions about scenes, one word each, with the answers."""

    asked: tuple[Tensor, ...]  # words (B, 1), patches (B, 9, 64), and with padding: (B, 9), True where it is
    answers: Tensor  # (B,)
    cells: Tensor  # (B,) the patch that the answer is read from

    def to(self, device: torch.device | str) -> "Examples":
        return Examples(tuple(one.to(device) for one in self.asked), self.answers.to(device), self.cells.to(device))


class ShortTraining(NamedTuple):
    """What one of the five trainings is made of."""

    name: str
    build: Callable[[Callable], nn.Module]  # makes the model around a piece; (words, patches, …) → logits, maps
    start: Callable[[nn.Module, int], None]  # draws its weights from a seed
    draw: Callable[..., Examples]  # draw(count, generator, split, most and fewest digits of a scene)
    choices: int  # answers that somebody who guesses chooses from
    change: Callable[..., Examples] | None = None  # change(piece, examples, generator), before each step
    loss: Callable[..., Tensor] | None = None  # loss(piece, logits, answers, maps, share of the steps done)


def train_short(
    training: ShortTraining, piece: Callable, seed: int, device: torch.device | str = "cpu", steps: int | None = None
) -> tuple[nn.Module, list[float]]:
    """Train with a piece, on AdamW with a warm-up and half a cosine; return the model and the loss of every step.

    Scenes hold 1 or 2 digits at first and up to 9 at the end, unless the training draws them in another way.
    """
    torch.set_flush_denormal(True)  # weights come near 0, and processors are slow with such numbers
    generator = torch.Generator().manual_seed(seed)
    model = training.build(piece)
    training.start(model, seed)
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=POCKET_RATE, betas=POCKET_BETAS)
    losses: list[float] = []
    for step in range(SHORT_STEPS if steps is None else steps):
        examples = training.draw(POCKET_BATCH, generator, "train", min(9, 2 + step // POCKET_BATCHES))
        optimizer.param_groups[0]["lr"] = pocket_rate(step)
        losses.append(short_step(training, piece, model, optimizer, examples.to(device), generator, step / SHORT_STEPS))
    return model, losses


def short_step(
    training: ShortTraining,
    piece: Callable,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    examples: Examples,
    generator: torch.Generator,
    done: float,
) -> float:
    """Take one step of a training on some examples, and return the loss; `done` is the share of the steps before it."""
    if training.change:
        examples = training.change(piece, examples, generator)
    logits, maps = model(*examples.asked)
    if training.loss:
        loss = training.loss(piece, logits[:, 0], examples.answers, maps[-1][:, 0, 0], done)
    else:
        loss = F.cross_entropy(logits[:, 0], examples.answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def answers_and_maps(model: nn.Module, *asked: Tensor) -> tuple[Tensor, Tensor]:
    """Return what a model answers, logits (B, V), and where it looks, weights (B, 9), without gradients."""
    with torch.no_grad():
        logits, maps = model(*asked)
    return logits[:, 0], maps[-1][:, 0, 0]


def short_scores(training: ShortTraining, model: nn.Module, count: int = 500, seed: int = 7) -> dict[str, float]:
    """Return the shares of right answers and of maps that are largest on the right patch, on unseen images."""
    device = next(model.parameters()).device
    examples = training.draw(count, torch.Generator().manual_seed(seed), "test", 9, 9).to(device)
    logits, maps = answers_and_maps(model, *examples.asked)
    return {
        "right": (logits.argmax(-1) == examples.answers).double().mean().item(),
        "on the patch": (maps.argmax(-1) == examples.cells).double().mean().item(),
    }


def gate_report(training: ShortTraining, model: nn.Module) -> str:
    """Say the scores of a model in a line, and whether it passes the gate."""
    scores = short_scores(training, model)
    said = ", ".join(f"{name} {score:.3f}" for name, score in scores.items())
    return f"{said}: the gate is {'passed' if min(scores.values()) >= GATE else 'missed'}"


# ---------------------------------------------------------------- what is asked


def draw_what(count: int, generator: torch.Generator, split: str, most: int = 9, fewest: int = 1) -> Examples:
    """Draw "what is at top-left?": a word for a place, and the digit there."""
    asked = pocket_questions(count, generator, split, fewest, most)
    words, answers = asked.token_ids.split(1, 1)
    return Examples((words, asked.image_patches), answers[:, 0], asked.cells[:, 0])


def draw_where_padded(count: int, generator: torch.Generator, split: str, most: int = 9, fewest: int = 1) -> Examples:
    """Draw "where is the 7?" in scenes of 3 to 8 cells; the other cells are padding, left over from other scenes.

    So the 7 may stand in the padding, too, and only the padding's mask tells which one is meant. `most` and `fewest`
    change nothing here.
    """
    patches, labels = draw_scenes(count, generator, split)
    left_over, _ = draw_scenes(count, generator, split)
    held = torch.randint(3, 9, (count, 1), generator=generator)
    padding = torch.rand(count, 9, generator=generator).argsort(1).argsort(1) >= held
    cells = torch.rand(count, 9, generator=generator).masked_fill(padding, -1.0).argmax(1)
    words = FIRST_DIGIT + labels.gather(1, cells.unsqueeze(1))
    patches = torch.where(padding.unsqueeze(-1), left_over, patches)
    return Examples((words, patches, padding), FIRST_PLACE + cells, cells)


def draw_pointing(count: int, generator: torch.Generator, split: str, most: int = 9, fewest: int = 1) -> Examples:
    """Draw "where is the 7?" in full scenes.

    The answer is the number of the place. `most` and `fewest` change nothing.
    """
    patches, labels = draw_scenes(count, generator, split)
    cells = torch.randint(9, (count,), generator=generator)
    return Examples((FIRST_DIGIT + labels.gather(1, cells.unsqueeze(1)), patches), cells, cells)


# ---------------------------------------------------------------- models that are no PocketVLM alone


class PointerOnFeatures(nn.Module):
    """Points at a digit: a word asks, and the answers are patches that went through an encoder and an aligner."""

    def __init__(self, image_tokens: Callable, width: int = 32, d_aligned: int = 8) -> None:
        super().__init__()
        self.encoder = nn.Linear(64, width)
        self.aligner = nn.Linear(width, d_aligned)
        self.embedding = nn.Embedding(len(WORDS), width)
        self.W_Q = nn.Linear(width, width, bias=False)
        self.W_K = nn.Linear(d_aligned, width, bias=False)
        self.image_tokens = image_tokens

    def forward(self, words: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        """words (B, 1), patches (B, 9, 64) → scores (B, 1, 9), weights [(B, 1, 1, 9)]."""
        tokens = self.image_tokens(self.encoder, self.aligner, image_patches)
        query, key = self.W_Q(self.embedding(words)), self.W_K(tokens)
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        return scores, [scores.softmax(-1).unsqueeze(1)]


def start_pointer(pointer: nn.Module, seed: int) -> None:
    """Draw the weights of a pointer; its encoder is trained already, and holds the main directions of the digits."""
    draw_start(pointer, seed)
    patches, _ = digits("train")
    sizes, directions = torch.linalg.eigh(torch.cov(patches.T))  # in rising order
    main = directions[:, -pointer.encoder.out_features :].T
    # The sign of a direction is arbitrary: its largest number shall be positive, on every machine.
    main = main * main.gather(1, main.abs().argmax(1, keepdim=True)).sign()
    weight = main / sizes[-len(main) :].sqrt().unsqueeze(1)
    with torch.no_grad():
        pointer.encoder.weight.copy_(weight)
        pointer.encoder.bias.copy_(-weight @ patches.mean(0))


def start_pocket(model: PocketVLM, seed: int) -> None:
    """Draw the weights of a pocket-sized model, and align each digit to its word."""
    draw_pocket_start(model, seed)
    align_pocket(model)


def look_with(piece: Callable) -> Callable:
    """Put a piece (query, key, value) → seen, weights between the projections of a layer with one head."""

    def look(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = piece(cross_attn.W_Q(words), cross_attn.W_K(patches), cross_attn.W_V(patches))
        return cross_attn.W_O(seen), weights.unsqueeze(1)

    return look


def mirror_examples(piece: Callable, examples: Examples, generator: torch.Generator) -> Examples:
    """Mirror half of the scenes with a piece (cells, patches, turned) → cells, patches."""
    words, patches = examples.asked
    turned = torch.rand(len(words), generator=generator).to(words.device) < 0.5
    cells, patches = piece(words[:, 0] - FIRST_PLACE, patches, turned)
    return examples._replace(asked=(cells.unsqueeze(1) + FIRST_PLACE, patches))


def fading_bonus(piece: Callable, logits: Tensor, answers: Tensor, maps: Tensor, done: float) -> Tensor:
    """Return the loss of a piece (logits, answers, weights, strength).

    Its strength falls from 1 to 0 over the first half.
    """
    return piece(logits, answers, maps, max(0.0, 1.0 - 2.0 * done))


# ---------------------------------------------------------------- the five


PADDING = ShortTraining("padding", PocketVLM, start_pocket, draw_where_padded, choices=9)
SCALE = ShortTraining(
    "scale", lambda piece: PocketVLM(look_with(piece), width=128), start_pocket, draw_what, choices=10
)
ALIGNER = ShortTraining("aligner", PointerOnFeatures, start_pointer, draw_pointing, choices=9)
MIRROR = ShortTraining("mirror", lambda piece: PocketVLM(), start_pocket, draw_what, choices=10, change=mirror_examples)
BONUS = ShortTraining("bonus", lambda piece: PocketVLM(), start_pocket, draw_what, choices=10, loss=fading_bonus)
