# %% [wrong] no_identity | Leaves out the residual: the plain mean maps are multiplied.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map.mean(dim=-3)
    for maps in self_maps:
        rollout = maps.mean(dim=-3) @ rollout
    return rollout

# %% [wrong] layers_in_reverse | Takes the last layer first, so the product stands in the reverse order.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map.mean(-3)
    for maps in reversed(self_maps):
        T = maps.shape[-1]
        mixed = 0.5 * maps.mean(-3) + 0.5 * torch.eye(T, dtype=maps.dtype, device=maps.device)
        rollout = mixed @ rollout
    return rollout

# %% [wrong] full_identity | Adds a whole identity to the map without halving: rows sum to 2 for each layer.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    out = cross_map.mean(-3)
    for one in self_maps:
        out = one.mean(-3) @ out + out
    return out

# %% [wrong] first_layer_left_out | Begins the product with the second layer; the first one is skipped.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = torch.mean(cross_map, dim=-3)
    eye = torch.eye(rollout.shape[-2], dtype=rollout.dtype, device=rollout.device)
    for layer in range(1, len(self_maps)):
        rollout = torch.matmul((self_maps[layer].mean(-3) + eye) / 2, rollout)
    return rollout

# %% [wrong] heads_are_axis_one | Averages over axis 1, which is the heads only with exactly one batch axis.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    flow = cross_map.mean(1)
    for maps in self_maps:
        average = maps.mean(1)
        flow = 0.5 * (average @ flow) + 0.5 * flow
    return flow

# %% [wrong] largest_head | Takes the largest of the heads in place of their mean: rows no longer sum to 1.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.amax(dim=-3)
    for maps in self_maps:
        identity = torch.eye(maps.shape[-1], dtype=maps.dtype, device=maps.device)
        result = (0.5 * maps.amax(dim=-3) + 0.5 * identity) @ result
    return result

# %% [right] half_kept_half_mixed | Never builds an identity: each layer takes the mean of what is there and what is mixed in, with torch.lerp.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    from functools import reduce

    def through(seen, maps):
        mixed = torch.einsum("...htu,...us->...ts", maps, seen) / maps.shape[-3]
        return torch.lerp(seen, mixed, 0.5)

    return reduce(through, self_maps, cross_map.sum(-3) / cross_map.shape[-3])
