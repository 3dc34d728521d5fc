"""The recipe that trains a small vision-language model in seconds, and the record that it keeps.

Two things make the difference between learning and sitting at chance: a first stage makes the image tokens as large as
the words (it aligns them, too, which this task does not need), and scenes start almost empty and fill up (measured:
benchmarks/recipe_parts.py). The learning rate warms up and comes down. `train` asks only for digits that the scene shows; `teach_nowhere` goes on with digits that it lacks.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from math import cos, pi

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.data.digits import digits
from attention.data.tokens import WORDS, Questions, draw_questions

MODEL = {
    "d_vision": 64,
    "d_model": 64,
    "num_heads": 4,
    "d_ff": 128,
    "num_layers": 2,
    "vocab_size": len(WORDS),
    "max_tokens": 9,
    "num_patches": 9,
}
# With batches of 64, 1 seed of 17 failed the gates; with 80 none of 20, and with 128 none of 20 either.
ALIGN_STEPS, STEPS, BATCH, LEARNING_RATE, WARM_UP = 150, 800, 80, 3e-3, 50
# Of AdamW; with its own 0.999 and a faster ramp 1 seed of 19 failed the gates, so 0 of 20.
BETAS = (0.9, 0.95)
# With absent digits from the start some seeds still name a place for 10 % of them (recipe_parts); so they come last.
NOWHERE_STEPS, ABSENT = 200, 0.5
CHECKPOINT_EVERY = 100  # steps


def as_they_are(steps: Iterable, what: str) -> Iterable:
    """Iterate over the steps of a training without a progress bar."""
    return steps


def draw_start(model: nn.Module, seed: int) -> None:
    """Draw every parameter anew, by name: the same seed gives the same start, however the model was written."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            part, _, kind = name.rpartition(".")
            if "norm" in part.rpartition(".")[2] or kind == "bias":
                start = torch.full(parameter.shape, float(kind == "weight"))
            elif "embedding" in name or "positions" in name:
                start = torch.randn(parameter.shape, generator=generator) * (0.5 if "text" in name else 1.0)
            else:  # as nn.Linear does
                start = (torch.rand(parameter.shape, generator=generator) * 2 - 1) / parameter.shape[-1] ** 0.5
            parameter.copy_(start)


def learning_rate(step: int, steps: int = STEPS) -> float:
    """Return the rate of a step: 50 steps of warm-up, then half a cosine down to 0."""
    return LEARNING_RATE * min(1.0, (step + 1) / WARM_UP) * (1 + cos(pi * step / steps)) / 2


def most_digits(step: int, steps: int = STEPS) -> int:
    """Return the clutter ramp: scenes hold up to 2 digits at first, and up to 9 in the last third of training."""
    return min(9, 2 + 11 * step // max(steps, 1))


def training_questions(step: int, seed: int, steps: int = STEPS, count: int = BATCH) -> Questions:
    """Return the questions of one step: drawn from the seed and the step alone."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + step)
    return draw_questions(count, generator, "train", fewest=1, most=most_digits(step, steps))


def nowhere_questions(step: int, seed: int, count: int = BATCH) -> Questions:
    """Return the questions of one step of `teach_nowhere`.

    The scenes are full, and half of the "where" questions ask for a digit that is not there.
    """
    generator = torch.Generator().manual_seed((seed + 1) * 7_000_003 + step)
    return draw_questions(count, generator, "train", fewest=9, most=9, absent=ABSENT)


def align_step(model: nn.Module, optimizer: torch.optim.Optimizer, patches: Tensor, labels: Tensor) -> float:
    """Stage 1: pull each single digit's patch to the embedding of its word; only the aligner learns.

    Lesson 2's contrastive loss, plus the squared distance, because here the length matters too.
    """
    words = model.embedding.weight[WORDS.index("0") : WORDS.index("9") + 1].detach()
    aligned = model.aligner(patches)
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    loss = F.cross_entropy(similarity / 0.1, labels) + F.mse_loss(aligned, words[labels])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def adamw(model: nn.Module) -> torch.optim.AdamW:
    """Return the recipe's optimizer; as one fused kernel, a tenth of the training time less, where there is one."""
    fused = next(model.parameters()).device.type in ("cpu", "cuda")
    return torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, betas=BETAS, weight_decay=0.01, fused=fused)


def train(
    model: nn.Module,
    train_step: Callable,
    seed: int,
    steps: int = STEPS,
    align_steps: int = ALIGN_STEPS,
    progress: Callable[[Iterable, str], Iterable] = as_they_are,
) -> dict:
    """Train both stages, in place.

    Args:
        model: a MiniVLM; its parameters are drawn anew from the seed.
        train_step: called as train_step(model, optimizer, batch) → the loss.
        progress: called as progress(steps, title) → the same steps, with a bar.

    Returns:
        The record of the run: "losses" (steps,), "align losses" (align_steps,), and "checkpoints": all parameters by
        step of stage 2, every 100 steps and at the end.
    """
    device = next(model.parameters()).device
    # Numbers below 1e-38 count as 0: a processor takes long over them, here a tenth of the whole time.
    torch.set_flush_denormal(True)
    draw_start(model, seed)
    aligning = adamw(model.aligner) if align_steps else None  # an aligner may have nothing to learn
    patches, labels = (tensor.to(device) for tensor in digits("train"))
    align_losses, losses = [], []
    for step in progress(range(align_steps), "stage 1: align"):
        generator = torch.Generator().manual_seed(seed * 1_000_003 - 1 - step)
        chosen = torch.randint(len(labels), (256,), generator=generator).to(device)
        align_losses.append(align_step(model, aligning, patches[chosen], labels[chosen]))
    optimizer, checkpoints = adamw(model), {0: _state(model)}
    for step in progress(range(steps), "stage 2: answer"):
        optimizer.param_groups[0]["lr"] = learning_rate(step, steps)
        batch = training_questions(step, seed, steps).to(device).batch
        losses.append(train_step(model, optimizer, batch))
        if (step + 1) % CHECKPOINT_EVERY == 0 or step + 1 == steps:
            checkpoints[step + 1] = _state(model)
    return {"align losses": torch.tensor(align_losses), "losses": torch.tensor(losses), "checkpoints": checkpoints}


def teach_nowhere(
    model: nn.Module,
    train_step: Callable,
    seed: int,
    steps: int = NOWHERE_STEPS,
    progress: Callable[[Iterable, str], Iterable] = as_they_are,
) -> Tensor:
    """Train a trained model further, in place, so that it may answer "nowhere"; return the losses (steps,)."""
    device, optimizer, losses = next(model.parameters()).device, adamw(model), []
    for step in progress(range(steps), "the way out"):
        optimizer.param_groups[0]["lr"] = learning_rate(step, steps)
        losses.append(train_step(model, optimizer, nowhere_questions(step, seed).to(device).batch))
    return torch.tensor(losses)


def at_checkpoint(model: nn.Module, record: dict, step: int) -> nn.Module:
    """Return a copy of the model as it was after a step of its training."""
    earlier = deepcopy(model)
    earlier.load_state_dict(record["checkpoints"][step])
    return earlier


def _state(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
