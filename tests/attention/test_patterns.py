import pytest
import torch
from attention.patterns import attention_entropy, classify_pattern


def test_entropy_runs_from_one_key_to_all_keys():
    weights = torch.tensor([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25], [0, 0, 0, 0]])
    torch.testing.assert_close(attention_entropy(weights), torch.tensor([0, 0.5, 1, 0]))


def test_entropy_agrees_with_torch_distributions():
    weights = torch.randn(2, 5, 7).softmax(-1)
    expected = torch.distributions.Categorical(probs=weights).entropy() / torch.tensor(7.0).log()
    torch.testing.assert_close(attention_entropy(weights), expected)


def band(n: int, inside: float) -> torch.Tensor:
    position = torch.arange(n)
    near = ((position[:, None] - position).abs() <= 1).float()
    return (near * inside / near.sum(-1, keepdim=True)) + (1 - near) * (1 - inside) / (1 - near).sum(-1, keepdim=True)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (torch.full((7, 7), 1 / 7), "uniform"),
        (torch.eye(7)[[2] * 7] * 0.6 + 0.4 / 7, "hub"),
        (torch.eye(7) * 0.6 + 0.4 / 7, "diagonal"),
        (band(11, 0.9), "local"),
        (torch.eye(7).flip(1), "other"),
    ],
)
def test_a_map_is_named_after_where_its_weight_lies(weights, expected):
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(weights)))
    assert classify_pattern(weights) == expected


def test_a_band_that_holds_too_little_is_not_called_local():
    assert classify_pattern(band(11, 0.7)) == "other"
