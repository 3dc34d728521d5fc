"""Scores, softmax and attention against PyTorch's own, element by element."""

import pytest
import torch
from attention.dot_product import attention, attention_scores, masked_attention, scaled_scores, stable_softmax
from torch.nn import functional as F

LEADS = [(), (2,), (2, 3)]
DTYPES = [torch.float32, torch.float64]


def draw(*shapes: tuple[int, ...], dtype: torch.dtype = torch.float32, seed: int = 1) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


def test_scores_of_the_two_tokens_by_hand() -> None:
    query = torch.tensor([[1.0, 0, 1], [0, 1, 1]])
    key = torch.tensor([[1.0, 1, 1], [0, 1, 0]])
    assert attention_scores(query, key).tolist() == [[2, 0], [2, 1]]


@pytest.mark.parametrize("lead", LEADS)
def test_scores_are_dot_products_one_by_one(lead: tuple[int, ...]) -> None:
    query, key = draw((*lead, 5, 3), (*lead, 7, 3))
    one_by_one = torch.stack([torch.stack([(q * k).sum(-1) for k in key.unbind(-2)], -1) for q in query.unbind(-2)], -2)
    torch.testing.assert_close(attention_scores(query, key), one_by_one)
    torch.testing.assert_close(scaled_scores(query, key), one_by_one / 1.7320508075688772)


def test_scaled_scores_of_random_vectors_have_variance_one() -> None:
    query, key = draw((500, 512), (400, 512))
    assert attention_scores(query, key).var().item() == pytest.approx(512, rel=0.05)
    assert scaled_scores(query, key).var().item() == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize("function", [attention_scores, scaled_scores])
def test_widths_that_differ_are_refused(function) -> None:
    with pytest.raises(ValueError, match="query and key differ in d_k: 3 and 5"):
        function(torch.ones(2, 3), torch.ones(7, 5))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_softmax_is_pytorchs_along_any_axis(dim: int, dtype: torch.dtype) -> None:
    (scores,) = draw((3, 5, 7), dtype=dtype)
    scores = scores.requires_grad_()
    (along,) = draw((3, 5, 7), dtype=dtype, seed=2)
    got, expected = stable_softmax(scores, dim), torch.softmax(scores, dim)
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close(
        torch.autograd.grad((got * along).sum(), scores), torch.autograd.grad((expected * along).sum(), scores)
    )


def test_softmax_of_a_single_number_is_one() -> None:
    assert stable_softmax(torch.tensor([3.0])).tolist() == [1.0]


def test_softmax_of_large_scores_is_finite_and_right() -> None:
    scores = torch.tensor([[1e4, 1e4 - 1, 0], [-1e4, -1e4 - 2, -1e4 - 1]], dtype=torch.float64)
    torch.testing.assert_close(stable_softmax(scores), torch.softmax(scores, -1))


def test_softmax_of_a_row_of_minus_infinity_is_zero_along_its_axis_only() -> None:
    scores = torch.tensor([[-torch.inf, -torch.inf], [0, -torch.inf], [1, 1]])
    assert stable_softmax(scores).tolist() == [[0, 0], [1, 0], [0.5, 0.5]]
    columns = torch.stack([torch.tensor([-torch.inf] * 3), torch.tensor([0.0, 0, -torch.inf])], 1)
    assert stable_softmax(columns, 0).tolist() == [[0, 0.5], [0, 0.5], [0, 0]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("masked", [False, True])
def test_attention_is_pytorchs_own(lead: tuple[int, ...], dtype: torch.dtype, masked: bool) -> None:
    query, key, value = draw((*lead, 5, 3), (*lead, 7, 3), (*lead, 7, 11), dtype=dtype)
    generator = torch.Generator().manual_seed(4)
    mask = torch.rand(*lead, 5, 7, generator=generator) < 0.6 if masked else None
    if masked:
        mask[..., 0] = True  # PyTorch's answer for a row that may attend nowhere depends on its version
    leaves = [leaf.requires_grad_() for leaf in (query, key, value)]
    output, weights = masked_attention(query, key, value, mask)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    identity = torch.eye(7, dtype=dtype).expand(*lead, 7, 7)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, F.scaled_dot_product_attention(query, key, identity, attn_mask=mask))
    (along,) = draw((*lead, 5, 11), dtype=dtype, seed=5)
    for ours, theirs in zip(
        torch.autograd.grad((output * along).sum(), leaves),
        torch.autograd.grad((expected * along).sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)
    if not masked:
        torch.testing.assert_close(attention(query, key, value), (output, weights))


@pytest.mark.parametrize("shape", [(7,), (1, 7), (5, 7), (5, 1), (2, 1, 7), (2, 5, 7)])
def test_masks_broadcast(shape: tuple[int, ...]) -> None:
    query, key, value = draw((2, 5, 3), (2, 7, 3), (2, 7, 11))
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(6)) < 0.5
    written_out = mask.expand(2, 5, 7).contiguous()
    torch.testing.assert_close(
        masked_attention(query, key, value, mask), masked_attention(query, key, value, written_out)
    )


def test_a_query_that_may_attend_nowhere_gets_zeros_and_the_others_sum_to_one() -> None:
    query, key, value = draw((2, 5, 3), (2, 7, 3), (2, 7, 11))
    mask = torch.ones(2, 5, 7, dtype=torch.bool)
    mask[1, 3] = False
    output, weights = masked_attention(query, key, value, mask)
    assert output[1, 3].tolist() == [0] * 11
    assert weights[1, 3].tolist() == [0] * 7
    expected = torch.ones(2, 5)
    expected[1, 3] = 0
    torch.testing.assert_close(weights.sum(-1), expected)


def test_an_additive_mask_is_refused() -> None:
    with pytest.raises(ValueError, match="the mask must be bool"):
        masked_attention(torch.ones(5, 3), torch.ones(7, 3), torch.ones(7, 2), torch.zeros(5, 7))


def test_non_contiguous_inputs_give_the_same() -> None:
    query, key, value = draw((2, 5, 3), (2, 7, 3), (2, 7, 11))
    turned = [tensor.mT.contiguous().mT for tensor in (query, key, value)]
    assert not turned[0].is_contiguous()
    torch.testing.assert_close(attention(*turned), attention(query, key, value))
