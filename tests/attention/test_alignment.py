import pytest
import torch
from attention.alignment import TokenAligner, alignment_loss, explained_variance
from torch import nn
from torch.nn import functional as F


def test_the_three_forms_of_an_aligner_are_made_of_what_they_say():
    assert isinstance(TokenAligner(5, 3).proj, nn.Linear)
    assert [type(part) for part in TokenAligner(5, 3, "mlp").proj] == [nn.Linear, nn.GELU, nn.Linear]
    assert isinstance(TokenAligner(5, 5, "identity").proj, nn.Identity)


def test_an_aligner_computes_what_its_formula_says():
    tokens = torch.randn(2, 7, 5)
    linear, mlp = TokenAligner(5, 3), TokenAligner(5, 3, "mlp")
    torch.testing.assert_close(linear(tokens), tokens @ linear.proj.weight.T + linear.proj.bias)
    hidden = tokens @ mlp.proj[0].weight.T + mlp.proj[0].bias
    hidden = hidden * (1 + torch.erf(hidden / 2**0.5)) / 2  # the exact GELU
    torch.testing.assert_close(mlp(tokens), hidden @ mlp.proj[2].weight.T + mlp.proj[2].bias)


@pytest.mark.parametrize("args", [(5, 3, "pca"), (5, 3, "identity"), (5, 5, "Linear")])
def test_an_aligner_refuses_what_it_cannot_do(args):
    with pytest.raises(ValueError, match=r"method|identity"):
        TokenAligner(*args)


def test_explained_variance_agrees_with_sklearns_regression():
    from sklearn.linear_model import LinearRegression

    generator = torch.Generator().manual_seed(3)
    tokens = torch.randn(2, 41, 7, generator=generator) * torch.tensor([1.0, 2, 3, 4, 5, 6, 7]) + 4
    aligned = torch.tanh(tokens @ torch.randn(7, 5, generator=generator)) + 2
    rows, features = tokens.flatten(0, 1).double().numpy(), aligned.flatten(0, 1).double().numpy()
    residual = ((rows - LinearRegression().fit(features, rows).predict(features)) ** 2).sum()
    total = ((rows - rows.mean(0)) ** 2).sum()
    torch.testing.assert_close(explained_variance(tokens, aligned).item(), 1 - residual / total, atol=1e-5, rtol=0)


def test_explained_variance_of_a_truncation_by_hand():
    # Three independent dimensions of variance 1, 4 and 9; the first two are kept: 5 of 14.
    signs = torch.tensor([[a, b, c] for a in (-1.0, 1) for b in (-1.0, 1) for c in (-1.0, 1)])
    tokens = signs * torch.tensor([1.0, 2, 3]) + 10
    assert explained_variance(tokens, tokens[:, :2]).item() == pytest.approx(5 / 14)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_explained_variance_where_columns_repeat(dtype):
    tokens = torch.randn(50, 7, dtype=dtype, generator=torch.Generator().manual_seed(1))
    aligned = tokens[:, :2]
    repeated = torch.cat([aligned, aligned, torch.ones(50, 1, dtype=dtype)], dim=1)
    torch.testing.assert_close(explained_variance(tokens, repeated), explained_variance(tokens, aligned))
    assert explained_variance(tokens, torch.ones(50, 3, dtype=dtype)) == 0
    assert explained_variance(tokens, tokens).item() == pytest.approx(1)
    assert explained_variance(tokens, aligned).dtype == dtype


def test_alignment_loss_against_torchs_cross_entropy_and_by_hand():
    aligned, words = torch.randn(2, 7, 5), torch.randn(11, 5)
    labels = torch.randint(11, (2, 7))
    cosine = torch.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1)
    expected = F.cross_entropy((cosine / 0.3).flatten(0, 1), labels.flatten())
    torch.testing.assert_close(alignment_loss(aligned, words, labels, temperature=0.3), expected)
    # The right word at cosine 1, the wrong one at cosine 0: log(1 + e^(−1 / 0.5)).
    two = alignment_loss(torch.tensor([[3.0, 0.0]]), torch.eye(2), torch.tensor([0]), temperature=0.5)
    assert two.item() == pytest.approx(0.126928, abs=1e-6)


def test_alignment_loss_of_one_token_without_batch():
    aligned, words = torch.randn(5), torch.randn(3, 5)
    one = alignment_loss(aligned, words, torch.tensor(2))
    torch.testing.assert_close(one, alignment_loss(aligned[None], words, torch.tensor([2])))
