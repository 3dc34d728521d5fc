"""Rotary positions: by hand, as complex numbers, and the relation that they are for."""

from math import cos, sin

import pytest
import torch
from attention.rotary import rotate, rotate_2d

PLACES = torch.tensor([0, 3, 11, 5, 900])


def drawn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_by_hand():
    turned = rotate(torch.tensor([[1.0, 0.0, 0.0, 2.0]]), torch.tensor([3]))
    by_hand = [cos(3), sin(3), -2 * sin(0.03), 2 * cos(0.03)]
    assert turned[0].tolist() == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.parametrize("positions", [PLACES, PLACES.expand(3, 5), PLACES / 7])
def test_each_pair_of_neighbours_is_a_complex_number_that_is_multiplied(positions):
    vectors = drawn(3, 5, 6)
    speeds = torch.tensor([50.0 ** (-2 * i / 6) for i in range(3)], dtype=torch.float64)
    turns = torch.exp(1j * positions[..., None] * speeds)
    expected = torch.view_as_real(torch.view_as_complex(vectors.unflatten(-1, (3, 2))) * turns).flatten(-2)
    assert torch.allclose(rotate(vectors, positions, 50.0), expected)


def test_a_score_depends_on_the_distance_alone():
    query, key = drawn(2, 5, 6)

    def scores(of_query, of_key):
        return rotate(query, of_query) @ rotate(key, of_key).T

    before = scores(PLACES, PLACES)
    assert torch.allclose(scores(PLACES + 37, PLACES + 37), before)
    assert (scores(PLACES, PLACES + 37) - before).abs().min() > 1e-3
    assert torch.allclose(rotate(query, PLACES).norm(dim=-1), query.norm(dim=-1))


def test_neighbours_and_halves_are_the_same_in_another_order():
    """What the docstring says of the other pairing."""
    vectors, order = drawn(5, 6), torch.tensor([0, 2, 4, 1, 3, 5])
    first, second = vectors.chunk(2, dim=-1)
    angle = PLACES[:, None] * 10000.0 ** -(torch.arange(3) / 3)
    halves = torch.cat([first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()], -1)
    neighbours = rotate(torch.empty_like(vectors).index_copy(1, order, vectors), PLACES)[:, order]
    assert torch.allclose(neighbours, halves, atol=1e-4)
    assert not torch.allclose(rotate(vectors, PLACES), halves, atol=1e-1)


def test_rows_turn_the_first_half_and_columns_the_last():
    vectors, rows, columns = drawn(2, 5, 8), PLACES, PLACES.flip(0)
    turned = rotate_2d(vectors, rows, columns, 50.0)
    assert torch.equal(turned[..., :4], rotate(vectors[..., :4], rows, 50.0))
    assert torch.equal(turned[..., 4:], rotate(vectors[..., 4:], columns, 50.0))


def test_widths_that_do_not_fit():
    with pytest.raises(ValueError, match="d = 5 is odd"):
        rotate(drawn(5, 5), PLACES)
    with pytest.raises(ValueError, match="no multiple of 4"):
        rotate_2d(drawn(5, 6), PLACES, PLACES)
