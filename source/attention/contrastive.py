"""Two losses that join pictures and texts from pairs alone: CLIP's, with a softmax, and SigLIP's, with a sigmoid.

Radford et al. 2021, section 2.3 and figure 3: https://arxiv.org/abs/2103.00020
Zhai et al. 2023, section 3.2 and algorithm 1: https://arxiv.org/abs/2303.15343
Axes: n pairs, of which picture i and text i belong together.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def contrastive_loss(image: Tensor, text: Tensor, temperature: float = 0.07) -> Tensor:
    """Let each picture choose its text among all texts, and each text its picture among all pictures.

    Both choices are a cross-entropy over cosine similarities divided by the temperature. The loss
    is the mean of the two.

    Args:
        image: (..., n, d)
        text: (..., n, d); pairs of different batches do not meet.

    Returns:
        A scalar, the mean over all pairs of all batches.
    """
    logits = F.normalize(image, dim=-1) @ F.normalize(text, dim=-1).transpose(-2, -1) / temperature  # (..., n, n)
    texts_chosen = logits.log_softmax(-1).diagonal(dim1=-2, dim2=-1)
    images_chosen = logits.log_softmax(-2).diagonal(dim1=-2, dim2=-1)
    return -(texts_chosen + images_chosen).mean() / 2


def sigmoid_loss(image: Tensor, text: Tensor, temperature: float = 0.1, bias: float = -10.0) -> Tensor:
    """Ask of each picture and each text, by themselves: do these two belong together?

    The logit of a picture and a text is their cosine similarity divided by the temperature, plus
    the bias. The loss adds up −log sigmoid(logit) for two that belong together, and −log
    sigmoid(−logit) for any other two, and divides by n. SigLIP multiplies by t instead of dividing:
    t = 10 is the temperature 0.1.

    Args:
        image: (..., n, d)
        text: (..., n, d); pairs of different batches do not meet.

    Returns:
        A scalar, the mean over all pairs of all batches.
    """
    logits = F.normalize(image, dim=-1) @ F.normalize(text, dim=-1).transpose(-2, -1) / temperature + bias
    signs = 2 * torch.eye(logits.shape[-1], dtype=logits.dtype, device=logits.device) - 1
    return -F.logsigmoid(signs * logits).sum(-1).mean()
