"""Greedy decoding, step by step, on a model whose next word can be read off a table."""

import pytest
import torch
from attention.generation import generate
from torch import nn
from torch.nn import functional as F

NEXT = torch.tensor([0, 3, 2, 4, 2, 6, 7, 5])  # 1 → 3 → 4 → 2 (end); 5 → 6 → 7 → 5 → …


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Dropout(0.9)
        self.seen = []

    def forward(self, token_ids, image_patches):
        self.seen.append((self.training, self.part.training, torch.is_grad_enabled(), token_ids.shape[1]))
        return self.part(F.one_hot(NEXT[token_ids], 8).float()), []


def test_rows_end_on_their_own_and_are_filled():
    found = generate(Table(), torch.tensor([[5, 1], [1, 4], [1, 3]]), torch.zeros(3, 1, 1), 7, eos_id=2)
    assert found.tolist() == [[5, 1, 3, 4, 2], [1, 4, 2, 2, 2], [1, 3, 4, 2, 2]]


def test_the_limit_holds():
    found = generate(Table(), torch.tensor([[5], [1]]), torch.zeros(2, 1, 1), 5, eos_id=2)
    assert found.tolist() == [[5, 6, 7, 5, 6, 7], [1, 3, 4, 2, 2, 2]]
    assert generate(Table(), torch.tensor([[5]]), torch.zeros(1, 1, 1), 0, eos_id=2).tolist() == [[5]]


def test_quiet_and_modes_restored():
    table = Table().train()
    table.part.eval()
    generate(table, torch.tensor([[1]]), torch.zeros(1, 1, 1), 3, eos_id=2)
    assert table.seen == [(False, False, False, 1), (False, False, False, 2), (False, False, False, 3)]
    assert (table.training, table.part.training) == (True, False)


def test_modes_are_restored_after_an_error():
    table = Table().train()
    with pytest.raises(IndexError):
        generate(table, torch.tensor([[99]]), torch.zeros(1, 1, 1), 3, eos_id=2)
    assert table.training
    assert table.part.training
