import torch
from attention.digits import BLANK
from attention.reader import TwoCellReader, draw_parameters, draw_reading, train_reader


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


def test_one_head_reads_one_cell():
    reader = train_reader(num_heads=1, steps=600, seed=0)
    with torch.no_grad():
        patches, cells, answers = draw_reading(1000, torch.Generator().manual_seed(99), "test")
        logits, _ = reader(patches, cells)
    right = logits.argmax(-1) == answers
    assert right.all(1).float().mean() <= 0.2
    assert right.float().mean(0).max() >= 0.9
