"""What is overheard in a trained model."""

import pytest
import torch
from attention.data.tokens import WORDS, encode
from attention.experiments import recipe
from attention.measures.evaluation import every_map, follow, held_out, looked, maps_by_cell, prompt_of, where_it_points
from attention.vlm import MiniVLM


def test_every_map_is_overheard_and_the_model_stays_as_it_was() -> None:
    torch.manual_seed(0)
    model = MiniVLM(5, 6, 3, 7, 2, vocab_size=11, max_tokens=4, num_patches=9).train()
    token_ids, patches = torch.randint(0, 11, (2, 4)), torch.randn(2, 9, 5)
    maps = every_map(model, token_ids, patches)
    assert {name: tuple(weights.shape) for name, weights in maps.items()} == {
        "block 1, words": (2, 3, 4, 4),
        "block 2, words": (2, 3, 4, 4),
        "block 2, image": (2, 3, 4, 9),
    }
    torch.testing.assert_close(maps["block 2, image"], looked(model, token_ids, patches)[2])
    for name, weights in maps.items():
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 4), msg=name)
        assert not weights.requires_grad
    assert model.training
    assert not [module for module in model.modules() if module._forward_hooks]


def test_follow_gives_every_tensor_on_the_way():
    model = MiniVLM(**recipe.MODEL)
    scene = held_out("where", 1).image_patches[0]
    met = follow(model, "where is the 7 ?", scene)
    shapes = {name: tuple(made.shape) for name, made in met.items()}
    assert shapes == {
        "patches": (9, 64), "aligned": (9, 64), "image tokens": (9, 64), "text tokens": (6, 64),
        "block 1": (6, 64), "block 2": (6, 64), "map": (4, 6, 9), "logits": (34,),
    }  # fmt: skip
    with torch.no_grad():
        logits, maps = model(encode("where is the 7 ?").unsqueeze(0), scene.unsqueeze(0))
        aligned = model.aligner(scene)
    assert torch.allclose(met["logits"], logits[0, -1])
    assert torch.allclose(met["map"], maps[-1][0])
    assert torch.allclose(met["aligned"], aligned, atol=1e-6)
    assert not model.blocks[0]._forward_hooks


def test_a_map_by_cell_has_a_row_for_each_cell_in_question():
    model, questions = MiniVLM(**recipe.MODEL), held_out("what", 60)
    maps = maps_by_cell(model, "what", questions)
    assert maps.shape == (4, 9, 9)
    weights = looked(model, prompt_of("what", questions), questions.image_patches)[2][:, 2, -1]
    assert torch.allclose(maps[2, 5], weights[questions.cells[:, 0] == 5].mean(0), atol=1e-6)


def test_where_it_points_counts_places_and_nowhere():
    said = ["top-left", "center", "nowhere", "7", "bottom-right"]
    ids = torch.tensor([WORDS.index(word) for word in said])

    def generate(model, prompts, patches, max_new_tokens, eos_id):
        return torch.cat([prompts, ids.unsqueeze(1)], 1)

    shares = where_it_points(MiniVLM(**recipe.MODEL), generate, held_out("where", 5))
    assert shares == {"a place": pytest.approx(0.6), "nowhere": pytest.approx(0.2)}
