# %% [wrong] root_of_the_number_of_patches | The scores are divided by the root of the number of keys, S, and not by the root of d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / key.shape[-2] ** 0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights
