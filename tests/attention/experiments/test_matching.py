import pytest
import torch
from attention.alignment import TokenAligner
from attention.data.digits import digits
from attention.experiments.matching import draw_linear, matching_accuracy, train_aligner, word_vectors


def test_word_vectors_are_unit_vectors_and_depend_on_the_seed_alone():
    words = word_vectors(3)
    torch.testing.assert_close(words.norm(dim=-1), torch.ones(10))
    assert torch.equal(words, word_vectors(3))
    assert not torch.equal(words, word_vectors(4))


def test_matching_accuracy_by_hand():
    aligned = torch.tensor([[5.0, 1], [1, 0.1], [-1, 2]])
    assert matching_accuracy(aligned, torch.eye(2), torch.tensor([0, 1, 1])) == pytest.approx(2 / 3)


def test_an_aligner_learns_to_match_handwriting_that_it_has_never_seen():
    words, aligner = word_vectors(0), TokenAligner(64, 32)
    patches, labels = digits("test")
    draw_linear(aligner, seed=0)
    with torch.no_grad():
        before = matching_accuracy(aligner(patches), words, labels)
    losses = train_aligner(aligner, words, steps=200, seed=0)
    with torch.no_grad():
        after = matching_accuracy(aligner(patches), words, labels)
    assert len(losses) == 200
    assert losses[-1] < losses[0]
    assert before < 0.2
    assert after >= 0.94


def test_the_start_depends_on_the_seed_alone():
    one, two = TokenAligner(5, 3, "mlp"), TokenAligner(5, 3, "mlp")
    draw_linear(one, seed=1)
    draw_linear(two, seed=1)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    draw_linear(two, seed=2)
    assert not torch.equal(one.proj[0].weight, two.proj[0].weight)
