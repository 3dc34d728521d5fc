"""Joining two towers: splits, pairs in another order, names that are near, quarters, and a training that finds unseen pairs."""

import torch
from attention.contrastive import contrastive_loss
from attention.experiments.joining import (
    HELD_OUT,
    has_near_name,
    in_another_order,
    new_aligner,
    quarters,
    similarities,
    split_pairs,
    train_to_join,
    vectors_by_chance,
)
from attention.retrieval import recall_at_k


def test_a_split_uses_each_pair_once_and_another_seed_holds_out_others() -> None:
    train, held_out = split_pairs(300, seed=3)
    assert len(held_out) == HELD_OUT
    assert torch.cat([train, held_out]).sort().values.equal(torch.arange(300))
    assert split_pairs(300, seed=3)[0].equal(train)
    assert not split_pairs(300, seed=4)[0].equal(train)


def test_texts_in_another_order_are_the_same_texts() -> None:
    texts = torch.arange(20.0).reshape(10, 2)
    mixed = in_another_order(texts, seed=1)
    assert not mixed.equal(texts)
    assert mixed[mixed[:, 0].argsort()].equal(texts)
    assert vectors_by_chance(texts, 1).shape == texts.shape
    assert vectors_by_chance(texts, 1).equal(vectors_by_chance(texts * 2, 1))


def test_a_near_name_differs_in_one_word_of_two_or_more() -> None:
    known = ["clock face one oclock", "dog", "red apple"]
    names = ["clock face two oclock", "cat", "green apple", "apple red", "clock face one", "clock face two thirty"]
    assert has_near_name(names, known).tolist() == [True, False, True, False, False, False]


def test_quarters_by_hand() -> None:
    map = torch.tensor([[1.0, 3.0, 5.0, 5.0], [1.0, 3.0, 5.0, 5.0], [0.0, 0.0, 7.0, 8.0], [0.0, 4.0, 9.0, 8.0]])
    assert quarters(map).tolist() == [2, 5, 1, 8]
    assert quarters(map.expand(2, 3, 4, 4)).shape == (2, 3, 4)


def test_a_training_finds_pairs_that_it_has_not_seen_only_if_pairs_belong_together() -> None:
    """Texts are a turned copy of the images, so a linear aligner can carry all of them over."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(400, 16, generator=generator)
    texts = images @ torch.linalg.qr(torch.randn(16, 16, generator=generator))[0]
    target, found = torch.arange(100), {}
    for method, learned in (
        ("linear", texts[:300]),
        ("mlp", texts[:300]),
        ("shuffled", in_another_order(texts[:300], 0)),
    ):
        aligner = new_aligner("linear" if method == "shuffled" else method, width=16)
        losses = train_to_join(aligner, images[:300], learned, contrastive_loss, seed=0, steps=400)
        assert losses[-1] < losses[0]
        found[method] = recall_at_k(similarities(aligner, images[300:], texts[300:]), target, 1).item()
    assert found["linear"] > 0.9
    assert found["mlp"] > 0.5
    assert found["shuffled"] < 0.1


def test_one_seed_gives_one_training() -> None:
    images, texts = torch.randn(30, 8), torch.randn(30, 8)
    runs = [train_to_join(new_aligner(width=8), images, texts, contrastive_loss, seed, steps=3) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
