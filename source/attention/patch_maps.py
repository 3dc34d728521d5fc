"""Shares the similarity of a picture with a text out among the picture's patches, without a remainder.

A cosine is linear in the vector of the picture apart from its length. If that vector is a mean of
patches, the cosine is a mean, too. A linear aligner keeps this exact also for patches that are
averaged before they are aligned. Axes: n patches.
"""

from torch import Tensor
from torch.nn import functional as F


def patch_map(aligned: Tensor, text: Tensor) -> Tensor:
    """Share out the cosine similarity of a picture with a text among the picture's patches.

    The picture's vector is the mean m of its aligned patches. The share of patch i is aᵢ · t / (‖m‖
    ‖t‖). The mean of the shares is the cosine of m and t. A share may be negative, or above 1.

    Args:
        aligned: (..., n, d), the patches' tokens in the space of the texts.
        text: (..., d)

    Returns:
        (..., n)
    """
    length = aligned.mean(-2).norm(dim=-1, keepdim=True)  # (..., 1)
    return (aligned @ F.normalize(text, dim=-1).unsqueeze(-1)).squeeze(-1) / length
