# %% [wrong] layers_reversed | multiplies the layers in the wrong order: the product begins with the last layer next to the cross map, A_1 ... A_L C instead of A_L ... A_1 C; with one layer (or commuting maps) it does not show
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map.mean(-3)
    T = rollout.shape[-2]
    eye = torch.eye(T, dtype=rollout.dtype, device=rollout.device)
    for layer_map in reversed(self_maps):
        rollout = (0.5 * layer_map.mean(-3) + 0.5 * eye) @ rollout
    return rollout


# %% [wrong] heads_followed_apart | follows each head through the layers by itself and averages at the end: the mean of the products is not the product of the means, since heads mix in every layer
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map
    for maps in self_maps:
        identity = torch.eye(maps.shape[-1], dtype=maps.dtype, device=maps.device)
        result = torch.einsum("...hij,...hjk->...hik", (maps + identity) / 2, result)
    return result.mean(dim=-3)


# %% [wrong] not_halved | adds the full identity to the full map and never halves: each layer doubles the rows, so they sum to 2 to the number of layers instead of 1
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    mixed = None
    for a in self_maps:
        a_hat = a.mean(-3) + torch.eye(a.size(-1), device=a.device, dtype=a.dtype)
        mixed = a_hat if mixed is None else a_hat @ mixed
    c = cross_map.mean(-3)
    return c if mixed is None else mixed @ c


# %% [wrong] heads_on_axis_1 | averages over axis 1 as if there always were exactly one batch axis: for maps (H, T, T) without a batch it averages over the queries, and with two axes in front over the wrong one
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    averaged = [m.mean(dim=1) for m in self_maps]
    out = cross_map.mean(dim=1)
    for m in averaged:
        out = (m @ out + out) / 2
    return out


# %% [wrong] residual_of_the_cross_map | the residual is added behind each product as half of the averaged cross map instead of half of what has been followed so far: from the second layer on, what was mixed before is partly thrown away
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    looks = cross_map.mean(-3)
    followed = looks.clone()
    for maps in self_maps:
        followed = 0.5 * (maps.mean(-3) @ followed) + 0.5 * looks
    return followed


# %% [right] from_the_left_without_identity | one product from the left (last layer first), and the identity never made: half is handed on, half mixed; einsum averages the heads on the way
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    reach, left = cross_map.mean(-3), None
    for maps in self_maps[::-1]:  # left = A_L ... A_(l+1)
        average = maps.mean(-3)
        if left is None:
            half = torch.full_like(average[..., 0], 0.5)
            left = average / 2 + torch.diag_embed(half)
        else:
            left = torch.lerp(left, left @ average, 0.5)
    return reach if left is None else left @ reach
