"""Exercise 5.9, patch_map: the share of each patch in the similarity of a picture with a text."""

import torch
from attention.patch_maps import patch_map
from torch import Tensor

from grader.declare.authoring import CheckSpec, InputSampler, drawn, normal, sizes, written_exercise
from grader.declare.drawn import Sizes
from grader.declare.probes import function_effects


def draw_patches(sampler: InputSampler, sizes: Sizes) -> Tensor:
    """Draw patches (..., n, d) with a common direction, so that their mean is long enough to divide by."""
    common = normal("* 1 d", scale=1.5)(sampler, sizes)
    return common + normal("* patches d")(sampler, sizes)


PATCH_MAP = written_exercise("5.9 Shares of the patches", patch_map, (
    CheckSpec("values", 6, "a share for each patch; their mean is the similarity",
        examples=[sizes(patches=3, d=4)],
        trials=[sizes(patches=7, d=5), sizes(patches=5, d=11)], map="map"),
    CheckSpec("batch", 3,
        examples=[sizes(batch_shape=(2,), patches=3, d=4)],
        trials=[sizes(batch_shape=(3,), patches=7, d=5), sizes(batch_shape=(2, 3), patches=5, d=7),
            sizes(batch_shape=(1,), patches=3, d=5)]),
    CheckSpec("conduct", 2, "float64 stays float64, inputs stay as they are",
        examples=[sizes(patches=3, d=4)],
        trials=[sizes(batch_shape=(2,), patches=5, d=3, dtype=torch.float64)], probe=function_effects),
),
    draw=drawn(aligned=draw_patches, text=normal("* d", scale=2.0)), returns=("map",),
    difficulty=2, minutes=10, review="Where in the picture",
    mistakes="""
    cosine_of_each_patch: Each patch is divided by its own length here, so the mean is no longer the picture's
        similarity. Divide all by the length of their mean.
        = F.cosine_similarity(aligned, text.unsqueeze(-2), dim=-1)
    length_of_the_mean_missing: Your code does not divide by the length of the mean patch. Divide all shares by
        this length.
        .squeeze(-1) / length  →  .squeeze(-1)
    mean_of_the_lengths: Your code divides by the mean of the patches' lengths. Divide by the length of the mean
        patch, which is shorter.
        aligned.mean(-2).norm(dim=-1, keepdim=True)  →  aligned.norm(dim=-1).mean(-1, keepdim=True)
    text_keeps_its_length: Your code does not divide by the length of the text. Divide all shares by this length.
        F.normalize(text, dim=-1)  →  text
    dot_products_with_the_text: Your shares are plain dot products. Divide by two lengths: that of the mean of the
        patches, and that of the text.
        F.normalize(text, dim=-1)  →  text
        .squeeze(-1) / length  →  .squeeze(-1)
    shares_that_sum: The shares sum to the similarity here, but their mean should be the similarity. Do not divide by
        the number of patches, nor by the length of their sum.
        = result / result.shape[-1]
    shares_sum_to_one: Your code divides the shares by their sum, so they sum to 1. Instead, their mean must be
        the similarity of the picture and the text.
        = result / result.sum(-1, keepdim=True)
    scaled_to_one: The map is scaled to 0 … 1 here. Leave the shares as they are, also the negative ones.
        = (result - result.amin(-1, keepdim=True)) / (result.amax(-1, keepdim=True) - result.amin(-1, keepdim=True))
    one_length_for_all: norm() without an axis takes one length of all batches. Each batch has its own length: use
        dim=-1, keepdim=True.
        aligned.mean(-2).norm(dim=-1, keepdim=True)  →  aligned.mean(-2).norm()
    one_length_of_everything: norm() without an axis takes one length of all batches. Each batch has its own length: use
        dim=-1, keepdim=True.
        aligned.mean(-2).norm(dim=-1, keepdim=True)  →  aligned.mean(-2).norm()
        F.normalize(text, dim=-1)  →  (text / text.norm())
    length_of_all_patches: Your code divides by the length of all patches together. Divide by the length of the
        mean patch.
        aligned.mean(-2).norm(dim=-1, keepdim=True)  →  aligned.flatten(-2).norm(dim=-1, keepdim=True)
    axes_of_one_dropped: squeeze() without an axis also removes the batch axis if its length is 1. Name the axis:
        squeeze(-1).
        = result.squeeze()
    softmax_over_patches: There is a softmax over the patches here. Leave the shares as they are, also the negative
        ones.
        = result.softmax(-1)
    negative_shares_dropped: Negative shares are set to 0, so the mean is no longer the similarity. Leave them.
        = result.clamp(min=0)
    without_their_signs: Your shares have lost their signs. Keep the signs: a patch that points away from the text
        has a negative share.
        = result.abs()
    one_number_for_all: You return the similarity of the whole picture. Return a share for each patch.
        = result.mean(-1)
    mean_subtracted_first: The mean of the patches is subtracted first, so the shares sum to 0. Leave the patches as
        they are.
        aligned @ F.normalize  →  (aligned - aligned.mean(-2, keepdim=True)) @ F.normalize
""")  # fmt: skip
