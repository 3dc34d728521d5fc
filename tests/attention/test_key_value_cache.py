"""A cache changes how much is computed, and nothing of what comes out."""

import pytest
import torch
from attention.cached_generation import generate_with_cache
from attention.generation import generate
from attention.key_value_cache import attend_with_cache
from attention.masks import causal_mask
from attention.multi_head import MultiHeadAttention
from attention.vlm import MiniVLM

SIZES = {"d_vision": 5, "d_model": 12, "num_heads": 3, "d_ff": 7, "num_layers": 2, "vocab_size": 11}


@pytest.fixture
def model():
    torch.manual_seed(3)
    return MiniVLM(**SIZES, max_tokens=40, num_patches=4).double().eval()


@pytest.mark.parametrize("pieces", [[8], [1] * 8, [3, 1, 4]])
def test_pieces_give_what_the_whole_gives(pieces):
    torch.manual_seed(0)
    layer, tokens = MultiHeadAttention(6, 3).double(), torch.randn(2, 8, 6, dtype=torch.float64)
    cache, outputs = None, []
    for piece in tokens.split(pieces, dim=1):
        output, cache = attend_with_cache(layer, piece, cache)
        outputs.append(output)
    whole, _ = layer(tokens, mask=causal_mask(8))
    assert torch.allclose(torch.cat(outputs, 1), whole)
    assert torch.allclose(cache[0], layer.W_K(tokens).unflatten(-1, (3, 2)).transpose(1, 2))
    assert torch.allclose(cache[1], layer.W_V(tokens).unflatten(-1, (3, 2)).transpose(1, 2))


@pytest.mark.parametrize(("words", "eos"), [(0, -1), (1, -1), *((30, word) for word in range(-1, 11))])
def test_the_same_words(model, words, eos):
    prompts, patches = torch.randint(0, 11, (5, 3)), torch.randn(5, 4, 5, dtype=torch.float64)
    plain = generate(model, prompts, patches, words, eos)
    assert torch.equal(generate_with_cache(model, prompts, patches, words, eos, attend_with_cache), plain)


def test_every_token_goes_through_the_model_once(model):
    """The prompt's three, then one at a time; the last word is not read."""
    read = []

    def counting(layer, tokens, cache):
        read.append(tokens.shape[1])
        return attend_with_cache(layer, tokens, cache)

    generate_with_cache(model, torch.zeros(1, 3).long(), torch.zeros(1, 4, 5, dtype=torch.float64), 5, -1, counting)
    assert read == [3, 3, 1, 1, 1, 1, 1, 1, 1, 1]  # in two blocks
