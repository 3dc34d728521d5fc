import pytest
import torch
from attention.heads import merge_heads, split_heads


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_each_head_gets_its_own_features_of_every_token(lead):
    tokens = torch.randn(*lead, 7, 15)
    heads = split_heads(tokens, 3)
    assert heads.shape == (*lead, 3, 7, 5)
    for head in range(3):
        torch.testing.assert_close(heads[..., head, :, :], tokens[..., head * 5 : (head + 1) * 5], rtol=0, atol=0)


def test_merging_undoes_splitting_and_the_other_way_round():
    tokens, heads = torch.randn(2, 7, 15), torch.randn(2, 5, 7, 3)
    assert torch.equal(merge_heads(split_heads(tokens, 5)), tokens)
    assert torch.equal(split_heads(merge_heads(heads), 5), heads)


def test_two_tokens_by_hand():
    tokens = torch.tensor([[0.0, 1, 2, 3], [10, 11, 12, 13]])
    assert split_heads(tokens, 2).tolist() == [[[0, 1], [10, 11]], [[2, 3], [12, 13]]]


def test_a_width_that_does_not_divide_is_refused():
    with pytest.raises(ValueError, match="d_model = 7 is no multiple of num_heads = 2"):
        split_heads(torch.zeros(3, 7), 2)
