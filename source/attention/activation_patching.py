"""Which head carries the answer? Put what it hands on for one scene into the run on another.

Vig et al. 2020, section 3: https://arxiv.org/abs/2004.12265; Meng et al. 2022, section 2: https://arxiv.org/abs/2202.05262.
Taking a head out (Michel et al. 2019) asks whether the answer needs it. Putting it in asks whether it is enough.
Axes: B scenes, H heads, T tokens, S patches.
"""

from torch import Tensor

from attention.open_vlm import OpenVLM


def patch_head(model: OpenVLM, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, but let one head hand on what it hands on for the clean scenes.

    Args:
        model: whose `inside` runs it; it stays as it is.
        head: 0…H−1, of the cross-attention.
        token_ids: (B, T)
        clean, twin: image patches (B, S, d_vision).

    Returns:
        logits (B, T, vocab_size)
    """
    taken = model.inside(token_ids, clean).heads[:, head]

    def put_in(heads: Tensor) -> Tensor:
        heads = heads.clone()
        heads[:, head] = taken
        return heads

    return model.inside(token_ids, twin, edit=put_in).logits
