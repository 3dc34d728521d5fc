"""Two towers that do not know each other: tokens of pictures from real eyes, and vectors of texts from real words.

Both are frozen. The student's functions compute them, as in the sections before. A sentence's
vector is the mean of its last tokens. Axes: N pictures or texts, n patches.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from attention.real.real_eyes import RealEyes, layer_by_layer
from attention.real.real_words import RealWords, first_tokens, pieces_of, read_through

AT_ONCE = 32  # pictures


def patch_tokens(
    eyes: RealEyes,
    pictures: Tensor,
    patch_embedding: Callable[..., Tensor],
    vit_block: Callable,
    progress: Callable[[Sequence, str], Iterable] = lambda steps, title: steps,
) -> Tensor:
    """Compute the tokens of the patches after the last layer, each brought to mean 0 and variance 1.

    Args:
        pictures: (N, 3, height, width) of multiples of 14 pixels.
        progress: goes through the steps and shows how far they are.

    Returns:
        (N, n, 384), without [CLS]
    """
    tokens = []
    for some in progress(pictures.split(AT_ONCE), "pictures"):
        for layer, _ in layer_by_layer(eyes, some, patch_embedding, vit_block):
            last = layer
        tokens.append(F.layer_norm(last[:, 1:], last.shape[-1:]))
    return torch.cat(tokens)


def text_vectors(words: RealWords, texts: Sequence[str], block: Callable) -> Tensor:
    """Compute a vector (N, 384) of each text. Texts of as many pieces go through the layers together."""
    pieces = [pieces_of(text, words.vocabulary) for text in texts]
    by_length = defaultdict(list)
    for index, cut in enumerate(pieces):
        by_length[len(cut)].append(index)
    vectors = torch.empty(len(texts), words.pieces.shape[-1])
    for indices in by_length.values():
        starts = torch.stack([first_tokens(words, pieces[index]) for index in indices])  # (B, T, 384)
        vectors[indices] = read_through(words, starts, block)[0].mean(-2)
    return vectors
