import pytest
import torch
from attention.data.digits import BLANK
from attention.experiments.reader import (
    HalfAndHalf,
    TwoCellReader,
    draw_parameters,
    draw_reading,
    shares_right,
    train_reader,
)


def test_a_reading_asks_for_two_different_cells_and_knows_what_is_there():
    patches, cells, answers = draw_reading(13, torch.Generator().manual_seed(0))
    assert patches.shape == (13, 9, 64)
    assert (cells[:, 0] != cells[:, 1]).all()
    assert ((cells >= 0) & (cells < 9)).all()
    assert ((answers >= 0) & (answers < BLANK)).all()


def test_the_start_depends_on_the_seed_alone():
    one, two = TwoCellReader(4), TwoCellReader(4)
    draw_parameters(one, 7)
    draw_parameters(two, 7)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_four_heads_read_both_cells_and_each_cell_has_a_head_of_its_own():
    reader = train_reader(num_heads=4, steps=600, seed=0)
    with torch.no_grad():
        patches, cells, answers = draw_reading(1000, torch.Generator().manual_seed(99), "test")
        logits, weights = reader(patches, cells)
    both = (logits.argmax(-1) == answers).all(1).float().mean()
    on_cell = (weights.argmax(-1, keepdim=True) == cells.unsqueeze(1)).float().mean(0)  # (H, 2)
    assert both >= 0.93
    assert (on_cell.max(0).values >= 0.95).all()


@pytest.mark.slow(
    held_by="tests/attention/experiments/test_reader.py::test_four_heads_read_both_cells_and_each_cell_has_a_head_of_its_own"
)
def test_one_head_reads_one_cell():
    reader = train_reader(num_heads=1, steps=600, seed=0)
    with torch.no_grad():
        patches, cells, answers = draw_reading(1000, torch.Generator().manual_seed(99), "test")
        logits, _ = reader(patches, cells)
    right = logits.argmax(-1) == answers
    assert right.all(1).float().mean() <= 0.2
    assert right.float().mean(0).max() >= 0.9


def test_half_and_half_looks_half_at_each_cell_and_cannot_tell_whose_digit_is_whose():
    patches, cells, _ = draw_reading(13, torch.Generator().manual_seed(0))
    swapped = patches.clone()
    scene = torch.arange(13).unsqueeze(1)
    swapped[scene, cells] = patches[scene, cells.flip(1)]
    reader = HalfAndHalf(4)
    with torch.no_grad():
        logits, weights = reader(patches, cells)
        for other in (reader(swapped, cells), reader(patches, cells.flip(1))):
            torch.testing.assert_close(other[0], logits)
    want = torch.zeros(13, 9).scatter(1, cells, 0.5)
    torch.testing.assert_close(weights, want.unsqueeze(1).expand(13, 4, 9))


def test_a_pair_counts_in_any_order_but_both_only_in_order():
    sharp = 20 * torch.eye(10)
    logits = torch.stack([sharp[[3, 7]], sharp[[7, 3]], sharp[[3, 1]], sharp[[3, 3]] + sharp[7] / 2])
    answers = torch.tensor([[3, 7]] * 4)
    assert shares_right(logits, answers) == (0.75, 0.25, 0.25, 0.75)
