"""Words, and questions about scenes of digits.

Three kinds of question: `where is the 7 ?`, `what is at top-left ?`, `read the top-row ?`. Every word is one
token; digits as words have ids of their own, so no id can be mistaken for a label. The answer to "where" is
`nowhere` if the scene lacks the digit; such questions are drawn only on request.

Axes: B questions, T = 9 tokens (the longest question with its answer), 9 patches.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from attention.data.digits import BLANK, POSITIONS, draw_scenes

ROWS = ("top-row", "middle-row", "bottom-row")
WORDS = (
    *"<pad> <bos> <eos> where what read is the at ?".split(),
    *"0 1 2 3 4 5 6 7 8 9 blank".split(),
    *POSITIONS,
    *ROWS,
    "nowhere",
)
PAD, BOS, EOS = 0, 1, 2
MAX_TOKENS = 9
TASKS = ("where", "what", "read")
PROMPT_LENGTHS = (6, 6, 5)  # of each task, with <bos>
ANSWER_LENGTHS = (1, 1, 3)  # without <eos>
NOWHERE = WORDS.index("nowhere")
_DIGIT, _POSITION, _ROW = WORDS.index("0"), WORDS.index(POSITIONS[0]), WORDS.index(ROWS[0])


class Questions(NamedTuple):
    """Questions with their answers, about one scene each."""

    token_ids: Tensor  # (B, 9) <bos>, question, answer, <eos>, then <pad>
    prompt_lengths: Tensor  # (B,)
    image_patches: Tensor  # (B, 9, 64)
    cells: Tensor  # (B, 3) the patch that each word of the answer is read from; −1 where there is no word
    labels: Tensor  # (B, 9) the digits of the scene

    @property
    def batch(self) -> tuple[Tensor, Tensor, Tensor]:
        """What training needs: token_ids, prompt_lengths, image_patches."""
        return self.token_ids, self.prompt_lengths, self.image_patches

    def to(self, device: torch.device | str) -> "Questions":
        return Questions(*(tensor.to(device) for tensor in self))


def encode(text: str) -> Tensor:
    """ "where is the 7 ?" as token ids (T,), with <bos> in front.

    Raises:
        ValueError: a word is not in the vocabulary.
    """
    if unknown := [word for word in text.split() if word not in WORDS]:
        raise ValueError(f"{unknown[0]!r} is not among the {len(WORDS)} words of the model")
    return torch.tensor([BOS, *(WORDS.index(word) for word in text.split())])


def decode(token_ids: Tensor) -> str:
    """Return token ids (T,) as text, without <pad>, <bos> and <eos>."""
    return " ".join(WORDS[token] for token in token_ids.tolist() if token > EOS)


def draw_questions(
    count: int,
    generator: torch.Generator,
    split: str = "train",
    tasks: tuple[str, ...] = ("where", "where", "what", "read"),
    fewest: int = 1,
    most: int = 9,
    absent: float = 0.0,
) -> Questions:
    """Return questions about fresh scenes, drawn on the CPU. "what" asks about a patch that shows a digit.

    Args:
        count: how many, B.
        generator: a CPU generator; the same state gives the same questions on every machine.
        split: which handwriting, "train" or "test".
        tasks: what is asked, with equal chances; by default half of the questions are "where", the hardest to learn.
        fewest, most: digits in a scene.
        absent: the share of "where" questions that ask for a digit which the scene lacks.
    """
    patches, labels = draw_scenes(count, generator, split, fewest, most)
    choices = torch.tensor([TASKS.index(task) for task in tasks])
    task = choices[torch.randint(len(tasks), (count,), generator=generator)]
    shown = labels != BLANK
    cell = torch.where(shown, torch.rand(count, 9, generator=generator), -1.0).argmax(1)
    in_row = cell.unsqueeze(1) // 3 * 3 + torch.arange(3)
    digit, position, row = (_DIGIT + labels.gather(1, cell.unsqueeze(1)).squeeze(1), _POSITION + cell, _ROW + cell // 3)
    wanted, place = digit, position  # of the "where" questions
    lacks = torch.zeros(count, dtype=torch.bool)
    if absent:  # no draw without need: other questions stay as they are
        lacks = (task == TASKS.index("where")) & (torch.rand(count, generator=generator) < absent)
        wanted = torch.where(lacks, _DIGIT + _absent_digit(labels, generator), digit)
        place = torch.where(lacks, NOWHERE, position)
    read = _DIGIT + labels.gather(1, in_row)
    bos, where, what, reads, is_, the, at, mark, pad, end = (
        torch.full((count,), WORDS.index(word))
        for word in ("<bos>", "where", "what", "read", "is", "the", "at", "?", "<pad>", "<eos>")
    )
    rows = torch.stack(
        [
            torch.stack([bos, where, is_, the, wanted, mark, place, end, pad], 1),
            torch.stack([bos, what, is_, at, position, mark, digit, end, pad], 1),
            torch.stack([bos, reads, the, row, mark, *read.unbind(1), end], 1),
        ]
    )  # (3, B, 9): each question in all three forms
    none = torch.full_like(cell, -1)
    one = torch.stack([torch.where(lacks, none, cell), none, none], 1)
    return Questions(
        token_ids=rows[task, torch.arange(count)],
        prompt_lengths=torch.tensor(PROMPT_LENGTHS)[task],
        image_patches=patches,
        cells=torch.where((task == TASKS.index("read")).unsqueeze(1), in_row, one),
        labels=labels,
    )


def one_of_each(generator: torch.Generator, split: str) -> Questions:
    """Return a question of each kind, each about a full scene of its own."""
    drawn = [draw_questions(1, generator, split, (task,), fewest=9) for task in TASKS]
    return Questions(*(torch.cat(parts) for parts in zip(*drawn, strict=True)))


def _absent_digit(labels: Tensor, generator: torch.Generator) -> Tensor:
    """Return a digit that is not among the labels (B, 9) of each scene, all such digits equally likely: (B,)."""
    shown = F.one_hot(labels, BLANK + 1)[..., :BLANK].any(1)
    return torch.where(shown, -1.0, torch.rand(shown.shape, generator=generator)).argmax(1)
