"""Zero-shot retrieval: names that no training has seen are ranked by their cosine similarity with a picture.

Radford et al. 2021, section 3.1.2: https://arxiv.org/abs/2103.00020
Axes: V names, n pictures.
"""

from torch import Tensor
from torch.nn import functional as F


def rank_names(image: Tensor, names: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Find the k names that are nearest to a picture, the nearest first.

    Args:
        image: (..., d)
        names: (V, d)
        k: 1 … V

    Returns:
        similarity (..., k), cosines in descending order, and the indices (..., k) of their names,
        int64.
    """
    similarity = F.normalize(image, dim=-1) @ F.normalize(names, dim=-1).T  # (..., V)
    best = similarity.topk(k, dim=-1)
    return best.values, best.indices


def recall_at_k(logits: Tensor, target: Tensor, k: int) -> Tensor:
    """Measure how often the right column is among the k highest of its row.

    A row counts if fewer than k other columns are as high as the right one or higher. So a tie
    counts against the model, and a model that finds all columns alike gets 0 for each k below the
    number of columns.

    Args:
        logits: (..., V)
        target: (...) integers of 0 … V − 1
        k: 1 … V

    Returns:
        A scalar of the logits' dtype: the share of all rows, 0 … 1.
    """
    right = logits.gather(-1, target.unsqueeze(-1))
    rivals = (logits >= right).sum(-1) - 1  # the right column itself is not one
    return (rivals < k).to(logits.dtype).mean()
