# %% [wrong] last_keys_left_out | The loop runs S // tile times: where tile does not divide S, the keys of the last, smaller tile are never seen.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    root = query.shape[-1] ** 0.5
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    mixed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for step in range(key.shape[-2] // tile):
        part = slice(step * tile, (step + 1) * tile)
        scores = query @ key[..., part, :].transpose(-2, -1) / root
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        mixed = mixed * shrink + weights @ value[..., part, :]
        largest = new
    return mixed / total
