"""The shares of patches: their mean is the similarity, for a linear aligner also that of the mean token."""

import torch
from attention.alignment import TokenAligner
from attention.patch_maps import patch_map


def test_shares_by_hand() -> None:
    # The mean is (3, 4), of length 5; the text points along the second axis.
    shares = patch_map(torch.tensor([[6.0, 0.0], [0.0, 8.0]]), torch.tensor([0.0, 0.5]))
    torch.testing.assert_close(shares, torch.tensor([0.0, 8 / 5]))


def test_the_mean_of_the_shares_is_the_cosine_of_the_mean() -> None:
    generator = torch.Generator().manual_seed(2)
    aligned, text = torch.randn(2, 3, 7, 5, generator=generator), torch.randn(2, 3, 5, generator=generator)
    shares = patch_map(aligned, text)
    assert shares.shape == (2, 3, 7)
    torch.testing.assert_close(shares.mean(-1), torch.cosine_similarity(aligned.mean(-2), text, dim=-1))
    torch.testing.assert_close(shares[1, 2], patch_map(aligned[1, 2], text[1, 2]))


def test_only_a_linear_aligner_may_be_used_on_the_mean_token() -> None:
    torch.manual_seed(1)
    patches, text = torch.randn(7, 5), torch.randn(3)
    for method, exact in (("linear", True), ("mlp", False)):
        aligner = TokenAligner(5, 3, method)
        of_the_mean = torch.cosine_similarity(aligner(patches.mean(0)), text, dim=-1)
        apart = (patch_map(aligner(patches), text).mean() - of_the_mean).abs().item()
        assert (apart < 1e-5) == exact
