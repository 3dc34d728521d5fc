"""Two words that ask about each other: the task is what it says, and no layer lets a word see the other."""

import pytest
import torch
from attention.alignment import TokenAligner
from attention.data.digits import digits
from attention.experiments.matching import word_vectors
from attention.experiments.pair_finder import PairFinder, as_tokens, draw_finder, draw_pairs, finder_right, train_finder


def tokens(count: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(count, 2, 32, generator=generator), torch.randn(count, 9, 32, generator=generator)


def test_each_word_is_asked_for_the_place_of_the_other():
    pairs = draw_pairs(13, torch.Generator().manual_seed(0), "test")
    held_out, scene = digits("test"), torch.arange(13)
    for word in range(2):
        patch = pairs.patches[scene, pairs.other[:, word]]
        shown = held_out.labels[torch.cdist(patch, held_out.patches).argmin(1)]
        assert torch.equal(shown, pairs.digits[:, 1 - word])
    assert torch.equal(pairs.named.sum(1), torch.full((13,), 2))
    assert pairs.named.gather(1, pairs.other).all()


def test_tokens_are_as_long_as_the_root_of_their_width():
    pairs = draw_pairs(5, torch.Generator().manual_seed(0))
    for side in as_tokens(pairs, word_vectors(0), TokenAligner(64, 32)):
        torch.testing.assert_close(side.norm(dim=-1), torch.full(side.shape[:-1], 32**0.5))


@pytest.mark.parametrize(("layers", "both", "hears"), [(1, True, False), (2, False, False), (2, True, True)])
def test_a_word_hears_of_the_other_only_through_the_image(layers: int, both: bool, hears: bool):
    finder = PairFinder(layers, both=both)
    draw_finder(finder, 0)
    text, image = tokens()
    other = text.clone()
    other[:, 1] = text[:, 1].flip(-1)
    with torch.no_grad():
        moved = not torch.allclose(finder(text, image)[0][:, 0], finder(other, image)[0][:, 0])
    assert moved == hears


def test_updates_are_added_as_they_are_said_to_be():
    finder = PairFinder(1, keep=2.0, add=0.5)
    text, image = tokens()
    (before, patches), (after, _) = finder.fuse(text, image)
    update, _ = finder.layers[0](before, patches)
    torch.testing.assert_close(after, 2 * before + update / 2)


def test_the_start_depends_on_the_seed_alone_and_training_changes_it():
    one, two = PairFinder(1), PairFinder(1)
    draw_finder(one, 7)
    draw_finder(two, 7)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    words, aligner = word_vectors(0), TokenAligner(64, 32)
    train_finder(one, words, aligner, 7, steps=2)
    assert not torch.equal(one.place.weight, two.place.weight)
    places, named = finder_right(one, words, aligner, count=50)
    assert 0 <= places <= 0.5
    assert 0 <= named <= 1
