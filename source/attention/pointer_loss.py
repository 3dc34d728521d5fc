"""A pointer: attention that is trained to look at the right patch.

Axes: T queries, S patches.
"""

from torch import Tensor


def pointer_loss(weights: Tensor, target: Tensor) -> Tensor:
    """Return the mean negative log weight on the target patch: cross-entropy, read off an attention map.

    Vinyals et al. 2015, eq. 3, trains attention weights as an output in this way: https://arxiv.org/abs/1506.03134

    Args:
        weights: (..., S), rows sum to 1.
        target: (...) integers of 0…S−1.

    Returns:
        A scalar; log S for a uniform map, 0 where all weight is on the target.
    """
    return -weights.gather(-1, target.unsqueeze(-1)).log().mean()
