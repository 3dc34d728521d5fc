"""Two words ask about each other's digit: the experiment that needs both directions, and two layers.

The text names two digits of a scene. Each word must say where the digit of the *other* word stands, and each patch
whether it is named. Words see patches and patches see words, but no word sees the other word. So a patch must first
hear that it is named, and then be seen by the other word.
Axes: B scenes, 2 words of 32 numbers, 9 patches of 48 numbers.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.bidirectional_fusion import ImageTextFusion
from attention.data.digits import draw_scenes
from attention.experiments.progress import progress

PAIR_STEPS = 200


class Pairs(NamedTuple):
    """digits (B, 2) that are named, patches (B, 9, 64), other (B, 2) where the other one stands, named (B, 9)."""

    digits: Tensor
    patches: Tensor
    other: Tensor
    named: Tensor


class PairFinder(nn.Module):
    """Layers of fusion between two words and nine patches, and what each of them answers.

    What a layer learns is added as `keep` · tokens + `add` · update.
    """

    def __init__(self, layers: int, both: bool = True, keep: float = 1.0, add: float | None = None) -> None:
        super().__init__()
        self.both, self.keep = both, keep
        self.add = layers**-0.5 if add is None else add
        self.positions = nn.Parameter(torch.randn(9, 16))
        self.layers = nn.ModuleList(ImageTextFusion(32, 48, 64, num_heads=8) for _ in range(layers))
        self.text_norm, self.image_norm = nn.LayerNorm(32), nn.LayerNorm(48)
        self.place, self.named = nn.Linear(32, 9), nn.Linear(48, 2)

    def fuse(self, text: Tensor, aligned: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return words (B, 2, 32) and aligned patches (B, 9, 32) → text and image (B, 9, 48).

        The result has them before and after every layer.
        """
        image = torch.cat([aligned, self.positions.expand(*aligned.shape[:-1], 16)], -1)
        states = [(text, image)]
        for layer in self.layers:
            text_update, image_update = layer(text, image)
            text = self.keep * text + self.add * text_update
            if self.both:
                image = self.keep * image + self.add * image_update
            states.append((text, image))
        return states

    def forward(self, text: Tensor, aligned: Tensor) -> tuple[Tensor, Tensor]:
        """Return words (B, 2, 32), aligned patches (B, 9, 32) → logits of the place (B, 2, 9).

        There are also logits of "named", (B, 9, 2).
        """
        text, image = self.fuse(text, aligned)[-1]
        return self.place(self.text_norm(text)), self.named(self.image_norm(image))


def draw_pairs(count: int, generator: torch.Generator, split: str = "train") -> Pairs:
    """Draw full scenes on the CPU, and two different digits of each."""
    patches, labels = draw_scenes(count, generator, split)
    cells = torch.rand(count, 9, generator=generator).argsort(1)[:, :2]
    return Pairs(labels.gather(1, cells), patches, cells.flip(1), F.one_hot(cells, 9).sum(1))


def as_tokens(pairs: Pairs, words: Tensor, aligner: nn.Module) -> tuple[Tensor, Tensor]:
    """Return the two words and the aligned patches, all of length √32, so that each number is about 1 large."""
    with torch.no_grad():
        aligned = F.normalize(aligner(pairs.patches.to(words.device)), dim=-1)
    return words[pairs.digits.to(words.device)] * 32**0.5, aligned * 32**0.5


def train_finder(
    finder: PairFinder, words: Tensor, aligner: nn.Module, seed: int, steps: int = PAIR_STEPS, title: str = "finder"
) -> None:
    """Train in place: Adam, 5e-3 after a warm-up, down to 0 on a cosine, 128 fresh scenes a step."""
    draw_finder(finder, seed)
    optimizer = torch.optim.Adam(finder.parameters(), lr=5e-3)
    rates = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 5e-3, total_steps=max(steps, 2), pct_start=0.1, cycle_momentum=False
    )
    generator = torch.Generator().manual_seed(seed)
    for _ in progress(range(steps), title):
        pairs = draw_pairs(128, generator)
        place, named = finder(*as_tokens(pairs, words, aligner))
        loss = F.cross_entropy(place.flatten(0, 1), pairs.other.flatten().to(place.device))
        loss = loss + F.cross_entropy(named.flatten(0, 1), pairs.named.flatten().to(place.device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rates.step()


def draw_finder(finder: nn.Module, seed: int) -> None:
    """Draw every weight anew, by name: the same seed gives the same start, however the layers were written."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(finder.named_parameters()):
            if "norm" in name:
                parameter.fill_(float(name.endswith("weight")))
            elif name == "positions":
                parameter.copy_(torch.randn(parameter.shape, generator=generator))
            else:  # as nn.Linear draws its own
                width = parameter.shape[-1] if parameter.ndim > 1 else 64
                parameter.copy_((torch.rand(parameter.shape, generator=generator) * 2 - 1) / width**0.5)


def finder_right(finder: PairFinder, words: Tensor, aligner: nn.Module, count: int = 2000) -> tuple[float, float]:
    """Return how often a word gives the place of its pair's other digit, and a patch whether it is named.

    Both are shares, on unseen scenes.
    """
    pairs = draw_pairs(count, torch.Generator().manual_seed(99), "test")
    with torch.no_grad():
        place, named = finder(*as_tokens(pairs, words, aligner))
    places = (place.argmax(-1).cpu() == pairs.other).double().mean().item()
    return places, (named.argmax(-1).cpu() == pairs.named).double().mean().item()
