"""The coloured world: what is asked is what is there, and an unseen pair stands only where it is asked about."""

import pytest
import torch
from attention.data.coloured_world import (
    COLOURED_PROMPTS,
    COLOURED_TASKS,
    COLOURED_WORDS,
    COLOURS,
    NO_PAIR,
    draw_coloured,
    paint,
    seen_pairs,
    single_patches,
    to_pictures,
)
from attention.data.digits import POSITIONS, digits


def drawn(seed: int = 0, count: int = 400, **options):
    return draw_coloured(count, torch.Generator().manual_seed(seed), **options)


def sentence(ids: torch.Tensor) -> list[str]:
    return [COLOURED_WORDS[token] for token in ids.tolist() if token > 2]


@pytest.mark.parametrize("missing", [1, 2, 4])
def test_every_digit_and_every_colour_lacks_its_share(missing: int) -> None:
    table = seen_pairs(missing).reshape(5, 10)
    assert table.sum(0).tolist() == [5 - missing] * 10
    assert table.sum(1).tolist() == [10 - 2 * missing] * 5


@pytest.mark.parametrize("unseen", [False, True])
def test_only_the_pair_in_question_is_unseen(unseen: bool) -> None:
    asked = drawn(unseen=unseen)
    new = ~seen_pairs()[asked.pairs]
    here = torch.arange(9) == asked.cells.unsqueeze(1)
    assert torch.equal(new, here & unseen)


def test_training_shows_no_unseen_pair_and_no_unseen_image() -> None:
    asked = drawn(fewest=2)
    shown = asked.pairs[asked.pairs != NO_PAIR]
    assert seen_pairs()[shown].all()
    _, singles = single_patches("train", seen_pairs(), torch.Generator().manual_seed(0), 500)
    assert seen_pairs()[singles].all()
    inks = digits("train").patches
    for patch, pair in zip(asked.image_patches[0], asked.pairs[0], strict=True):
        if pair != NO_PAIR:
            assert (paint(inks, (pair // 10).expand(len(inks))) - patch).abs().amax(1).min() < 1e-6


@pytest.mark.parametrize("task", COLOURED_TASKS)
def test_the_answer_is_what_the_scene_shows(task: str) -> None:
    asked = drawn(tasks=(task,), fewest=3)
    length = COLOURED_PROMPTS[COLOURED_TASKS.index(task)]
    assert (asked.prompt_lengths == length).all()
    for ids, pairs, cell in zip(asked.token_ids, asked.pairs.tolist(), asked.cells.tolist(), strict=True):
        words = sentence(ids)
        colour, digit = COLOURS[pairs[cell] // 10], str(pairs[cell] % 10)
        expected = {
            "colour": f"which colour has the {digit} ? {colour}",
            "at": f"which colour is at {POSITIONS[cell]} ? {colour}",
            "where": f"where is the {colour} {digit} ? {POSITIONS[cell]}",
            "left": f"what is left of the {colour} {digit} ? {pairs[cell - 1] % 10}",
        }
        assert " ".join(words) == expected[task]
        assert task != "left" or (cell % 3 > 0 and pairs[cell - 1] != NO_PAIR)


def test_neither_colour_nor_digit_alone_finds_the_patch() -> None:
    asked = drawn(tasks=("where", "left"))
    pair = asked.pairs.gather(1, asked.cells.unsqueeze(1))
    assert ((asked.pairs % 10 == pair % 10).sum(1) >= 2).all()
    assert ((asked.pairs // 10 == pair // 10).sum(1) >= 2).all()
    assert ((asked.pairs == pair).sum(1) == 1).all()
    by_digit = drawn(tasks=("colour",))
    digit = by_digit.pairs.gather(1, by_digit.cells.unsqueeze(1)) % 10
    assert ((by_digit.pairs % 10 == digit).sum(1) == 1).all()


def test_paint_and_pictures() -> None:
    black, paper = torch.tensor([(1 - 0.3) / 0.38]), torch.tensor([-0.3 / 0.38])
    ink = torch.cat([black, paper.expand(63)])  # one dark pixel, top left
    patches = paint(ink, torch.tensor(0)).expand(1, 9, 192).clone()
    patches[0, 1:] = paint(paper.expand(64), torch.tensor(0))
    picture = to_pictures(patches)[0]
    assert picture.shape == (24, 24, 3)
    torch.testing.assert_close(picture[0, 0], torch.tensor([0.85, 0.1, 0.1]))  # red
    assert torch.allclose(picture[1:], torch.ones(23, 24, 3), atol=1e-5)
