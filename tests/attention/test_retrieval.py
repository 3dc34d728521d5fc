"""Names ranked for a picture, and the share of rows whose right column is among the highest."""

import pytest
import torch
from attention.retrieval import rank_names, recall_at_k


def test_names_are_ranked_by_direction_and_not_by_length() -> None:
    names = torch.tensor([[0.0, 9.0], [0.1, 0.1], [5.0, 0.0], [-1.0, 0.0]])
    similarity, indices = rank_names(torch.tensor([4.0, 3.0]), names, 3)
    assert indices.tolist() == [1, 2, 0]
    assert similarity.tolist() == pytest.approx([7 / 50**0.5, 0.8, 0.6])


def test_ranking_agrees_with_a_sort_in_batches() -> None:
    generator = torch.Generator().manual_seed(3)
    image, names = torch.randn(2, 3, 5, generator=generator), torch.randn(11, 5, generator=generator)
    similarity, indices = rank_names(image, names, 7)
    cosine = torch.cosine_similarity(image.unsqueeze(-2), names, dim=-1)
    assert torch.equal(indices, cosine.argsort(-1, descending=True)[..., :7])
    torch.testing.assert_close(similarity, cosine.sort(-1, descending=True).values[..., :7])


def test_recall_by_hand() -> None:
    logits = torch.tensor([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    target = torch.tensor([0, 1, 0, 2])
    assert [recall_at_k(logits, target, k).item() for k in (1, 2, 3)] == [0.5, 0.75, 1.0]
    assert recall_at_k(logits.reshape(2, 2, 3), target.reshape(2, 2), 2) == 0.75


def test_a_tie_counts_against() -> None:
    logits, target = torch.ones(2, 5), torch.tensor([0, 4])
    assert [recall_at_k(logits, target, k).item() for k in (1, 4, 5)] == [0, 0, 1]
    assert recall_at_k(torch.tensor([[2.0, 2.0, 1.0]]), torch.tensor([1]), 2) == 1


def test_recall_agrees_with_topk_where_nothing_ties() -> None:
    generator = torch.Generator().manual_seed(5)
    logits, target = torch.randn(3, 7, 11, generator=generator).double(), torch.randint(11, (3, 7), generator=generator)
    for k in (1, 4, 11):
        among = (logits.topk(k).indices == target.unsqueeze(-1)).any(-1).double().mean()
        torch.testing.assert_close(recall_at_k(logits, target, k), among)
