"""A richer world: handwritten digits in five colours, questions about pairs and neighbours, and pairs never seen.

The handwriting is `attention.data.digits`'s, split by image: no image of a test scene was in a training scene. On top of it
lies a second split, by pairs of colour and digit: some pairs are in no training scene, in no answer and in no question.

Axes: B questions, 9 patches of 3 · 64 numbers (red, green, blue), T = 11 tokens, 50 pairs = 10 · colour + digit.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from attention.data.digits import _MEAN, _STD, POSITIONS, _by_label, digits

COLOURS = ("red", "green", "blue", "orange", "purple")
_RGB = torch.tensor([[0.85, 0.1, 0.1], [0.1, 0.6, 0.2], [0.1, 0.3, 0.9], [0.95, 0.6, 0.1], [0.6, 0.2, 0.7]])
COLOURED_WORDS = (
    *"<pad> <bos> <eos> which colour has the where is what left of at ?".split(),
    *"0 1 2 3 4 5 6 7 8 9".split(),
    *COLOURS,
    *POSITIONS,
)
COLOURED_TASKS = ("colour", "at", "where", "left")
COLOURED_PROMPTS = (7, 7, 7, 9)  # tokens of each task's question, with <bos>
NO_PAIR = 50  # the label of an empty patch
_FIRST_DIGIT, _FIRST_COLOUR = COLOURED_WORDS.index("0"), COLOURED_WORDS.index("red")
_FIRST_PLACE = COLOURED_WORDS.index(POSITIONS[0])


class ColouredQuestions(NamedTuple):
    """Questions of one kind or several, about one scene each."""

    token_ids: Tensor  # (B, 11) <bos>, question, answer, <eos>, then <pad>
    prompt_lengths: Tensor  # (B,)
    image_patches: Tensor  # (B, 9, 192)
    cells: Tensor  # (B,) the patch that the question is about
    pairs: Tensor  # (B, 9) 10 · colour + digit, NO_PAIR where a patch is empty

    @property
    def batch(self) -> tuple[Tensor, Tensor, Tensor]:
        """What training needs: token_ids, prompt_lengths, image_patches."""
        return self.token_ids, self.prompt_lengths, self.image_patches

    def to(self, device: torch.device | str) -> "ColouredQuestions":
        return ColouredQuestions(*(tensor.to(device) for tensor in self))


def seen_pairs(missing: int = 1) -> Tensor:
    """Return which of the 50 pairs training may show, (50,) bool: every digit lacks `missing` of the five colours.

    The pairs lie evenly: each colour lacks 2 · missing of the ten digits.
    """
    pair = torch.arange(50)
    colour, digit = pair // 10, pair % 10
    return (colour - digit) % 5 >= missing


def paint(ink: Tensor, colours: Tensor) -> Tensor:
    """Handwriting in colour on white paper.

    Args:
        ink: (..., 64), as `digits` gives it.
        colours: (...) integers of 0…4.

    Returns:
        (..., 192), all red numbers, then all green, then all blue, scaled about as `digits` are.
    """
    amount = (ink * _STD + _MEAN).unsqueeze(-2)  # (..., 1, 64), 0 paper to 1 ink
    light = 1 - amount * (1 - _RGB[colours]).unsqueeze(-1)  # (..., 3, 64)
    return ((1 - light - 0.2) / 0.33).flatten(-2)


def to_pictures(image_patches: Tensor) -> Tensor:
    """Return patches (..., 9, 192) as pictures (..., 24, 24, 3), from 0, which is black, to 1."""
    light = 1 - (image_patches * 0.33 + 0.2)
    grid = light.unflatten(-1, (3, 8, 8)).unflatten(-4, (3, 3))  # (..., 3, 3, 3, 8, 8): row, column, light, y, x
    return grid.movedim(-3, -1).transpose(-4, -3).flatten(-5, -4).flatten(-3, -2)


def single_patches(split: str, seen: Tensor, generator: torch.Generator, count: int) -> tuple[Tensor, Tensor]:
    """Draw single coloured digits of the pairs that `seen` (50,) allows: patches (count, 192), pairs (count,)."""
    pairs = _choose(seen.expand(count, 50), generator)
    return paint(_handwriting_of(pairs % 10, split, generator), pairs // 10), pairs


def draw_coloured(
    count: int,
    generator: torch.Generator,
    split: str = "train",
    tasks: tuple[str, ...] = COLOURED_TASKS,
    missing: int = 1,
    unseen: bool = False,
    fewest: int = 9,
    most: int = 9,
) -> ColouredQuestions:
    """Return questions about fresh scenes, drawn on the CPU.

    - "colour", `which colour has the 3 ?`: no other 3 is there.
    - "at", `which colour is at center ?`: the same answer, but the question does not name the digit.
    - "where", `where is the red 7 ?` and "left", `what is left of the red 7 ?`: a full scene has a 7 in another colour,
      and another red digit, so neither word alone finds the patch.

    Args:
        missing: as in `seen_pairs`.
        unseen: whether the patch in question shows a pair that training never shows; all other patches show seen pairs.
        fewest, most: digits in a scene.
    """
    seen = seen_pairs(missing)
    choices = torch.tensor([COLOURED_TASKS.index(task) for task in tasks])
    task = choices[torch.randint(len(tasks), (count,), generator=generator)]
    target = _choose((~seen if unseen else seen).expand(count, 50), generator)
    cell = _choose(_allowed_cells(task), generator)
    pairs, order = _fill(target, cell, task, seen, generator)
    held = torch.randint(fewest, most + 1, (count, 1), generator=generator)
    shown = order < held
    patches = paint(_handwriting_of(pairs % 10, split, generator), pairs // 10)
    blank = paint(torch.full((64,), -_MEAN / _STD), torch.tensor(0))
    return ColouredQuestions(
        token_ids=_sentences(target, cell, pairs)[task, torch.arange(count)],
        prompt_lengths=torch.tensor(COLOURED_PROMPTS)[task],
        image_patches=torch.where(shown.unsqueeze(-1), patches, blank),
        cells=cell,
        pairs=torch.where(shown, pairs, NO_PAIR),
    )


def _choose(allowed: Tensor, generator: torch.Generator) -> Tensor:
    """Draw one index along the last axis, each place where `allowed` (..., n) is True equally likely: (...)."""
    return torch.where(allowed, torch.rand(allowed.shape, generator=generator), -1.0).argmax(-1)


def _allowed_cells(task: Tensor) -> Tensor:
    """Return the patches that may be asked about (B, 9): for "left" those that have a left neighbour."""
    middle_or_right = torch.arange(9) % 3 > 0
    return middle_or_right | (task != COLOURED_TASKS.index("left")).unsqueeze(1)


def _fill(
    target: Tensor, cell: Tensor, task: Tensor, seen: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Return the pair of every patch (B, 9), and in which order patches are shown (B, 9).

    The one in question has 0.
    """
    count = len(target)
    pair = torch.arange(50)
    other = seen & (pair != target.unsqueeze(1))  # (B, 50)
    same_digit = pair % 10 == (target % 10).unsqueeze(1)
    same_colour = pair // 10 == (target // 10).unsqueeze(1)
    first = task == COLOURED_TASKS.index("colour")
    other = other & ~(same_digit & first.unsqueeze(1))  # here the digit alone names the patch
    rank = torch.rand(count, 9, generator=generator)
    rank = rank.scatter(1, cell.unsqueeze(1), -1.0)
    order = rank.argsort(1).argsort(1)  # 0 is the patch in question
    left = task == COLOURED_TASKS.index("left")
    beside = F.one_hot((cell - 1).clamp(0), 9).bool() & left.unsqueeze(1)  # the answer's patch, shown as the second
    shown_as = torch.where(beside, 0.5, order.float()).argsort(1).argsort(1)
    alike = torch.stack([other, other & same_digit, other & same_colour], 1)  # (B, 3, 50)
    some = alike.any(-1)  # (B, 3): where a digit has one colour only, there is no other 7
    role = torch.where(first.unsqueeze(1), 0, (order == 1) + 2 * (order == 2))  # (B, 9)
    role = torch.where(some.gather(1, role), role, 0)
    allowed = alike.gather(1, role.unsqueeze(-1).expand(-1, -1, 50))
    return _choose(allowed, generator).scatter(1, cell.unsqueeze(1), target.unsqueeze(1)), shown_as


def _handwriting_of(labels: Tensor, split: str, generator: torch.Generator) -> Tensor:
    """Return an image of each label (...), drawn among those of the split: (..., 64)."""
    table, sizes = _by_label(split)
    which = (torch.rand(labels.shape, generator=generator) * sizes[labels]).long()
    return F.embedding(table[labels, which], digits(split).patches)


def _sentences(target: Tensor, cell: Tensor, pairs: Tensor) -> Tensor:
    """Return each question in all four forms, with its answer: (4, B, 11)."""
    colour, digit = _FIRST_COLOUR + target // 10, _FIRST_DIGIT + target % 10
    place = _FIRST_PLACE + cell
    beside = _FIRST_DIGIT + pairs.gather(1, (cell - 1).clamp(0).unsqueeze(1)).squeeze(1) % 10

    def sentence(*words: str | Tensor) -> Tensor:
        ids = [torch.full_like(target, COLOURED_WORDS.index(word)) if isinstance(word, str) else word for word in words]
        return F.pad(torch.stack(ids, 1), (0, 11 - len(words)))

    return torch.stack(
        [
            sentence("<bos>", "which", "colour", "has", "the", digit, "?", colour, "<eos>"),
            sentence("<bos>", "which", "colour", "is", "at", place, "?", colour, "<eos>"),
            sentence("<bos>", "where", "is", "the", colour, digit, "?", place, "<eos>"),
            sentence("<bos>", "what", "is", "left", "of", "the", colour, digit, "?", beside, "<eos>"),
        ]
    )
