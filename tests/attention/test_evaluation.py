"""What is overheard in a trained model."""

import torch
from attention.evaluation import every_map, looked
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
