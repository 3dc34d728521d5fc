import pytest
import torch
from attention.positions import PositionEmbedding


def test_first_positions_are_added():
    layer = PositionEmbedding(11, 3)
    tokens = torch.randn(2, 5, 7, 3)
    assert torch.equal(layer(tokens), tokens + layer.embedding[:7])


def test_the_embedding_is_the_only_parameter():
    assert {name: tuple(value.shape) for name, value in PositionEmbedding(11, 3).named_parameters()} == {
        "embedding": (11, 3)
    }


def test_more_tokens_than_positions():
    with pytest.raises(ValueError, match="5 tokens, but only 3"):
        PositionEmbedding(3, 2)(torch.zeros(5, 2))
