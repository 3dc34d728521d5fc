"""The pointer's loss against cross-entropy, and the experiment around it."""

import math

import pytest
import torch
from attention.data.digits import BLANK, draw_scenes
from attention.experiments.digit_pointer import Pointer, draw_looks, draw_start, found
from attention.pointer_loss import pointer_loss
from torch.nn import functional as F


@pytest.mark.parametrize("lead", [(), (5,), (2, 3)])
def test_the_loss_is_cross_entropy_of_the_scores_behind_the_weights(lead: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(*lead, 7, generator=generator)
    target = torch.randint(7, lead, generator=generator)
    expected = F.cross_entropy(scores.reshape(-1, 7), target.reshape(-1))
    torch.testing.assert_close(pointer_loss(torch.softmax(scores, -1), target), expected)


def test_a_uniform_map_costs_log_nine_and_a_perfect_one_nothing() -> None:
    target = torch.tensor([4, 0])
    assert pointer_loss(torch.full((2, 9), 1 / 9), target).item() == pytest.approx(math.log(9))
    assert pointer_loss(F.one_hot(target, 9).float(), target).item() == 0


def test_the_start_is_the_seeds_whoever_made_the_layers() -> None:
    one, two = Pointer(), Pointer()
    two.attention.W_Q, two.attention.W_V = two.attention.W_V, two.attention.W_Q  # made in another order
    draw_start(one, 5)
    draw_start(two, 5)
    for name, parameter in one.named_parameters():
        assert torch.equal(parameter, dict(two.named_parameters())[name]), name
    draw_start(two, 6)
    assert not torch.equal(one.embedding.weight, two.embedding.weight)


def test_a_look_asks_for_a_digit_that_stands_at_the_target() -> None:
    looks = draw_looks(50, torch.Generator().manual_seed(2), "test")
    patches, labels = draw_scenes(50, torch.Generator().manual_seed(2), "test")
    assert torch.equal(looks.patches, patches)
    assert torch.equal(labels.gather(1, looks.target[:, None]).squeeze(1), looks.words)
    assert not bool((looks.words == BLANK).any())
    assert len(looks.target.unique()) == 9


def test_maps_are_distributions_and_depend_on_the_word() -> None:
    pointer = Pointer()
    draw_start(pointer, 0)
    _, patches, _ = draw_looks(3, torch.Generator().manual_seed(3))
    maps = pointer(torch.tensor([1, 2, 3]), patches)
    assert maps.shape == (3, 9)
    torch.testing.assert_close(maps.sum(-1), torch.ones(3))
    assert not torch.allclose(maps, pointer(torch.tensor([4, 5, 6]), patches), atol=1e-3)


def test_found_counts_largest_weights() -> None:
    weights = torch.tensor([[0.1, 0.9], [0.6, 0.4], [0.5, 0.5], [0.2, 0.8]])
    assert found(weights, torch.tensor([1, 1, 0, 1])) == 0.75
