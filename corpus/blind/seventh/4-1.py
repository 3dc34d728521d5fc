# %% [wrong] last_layer_first | The layers are multiplied on in reverse, so the product is Â₁ … Â_L · C̄ with the last layer nearest to the image; the first layer must come first, Â_L … Â₁ · C̄.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map.mean(-3)
    for maps in reversed(self_maps):
        mean = maps.mean(-3)
        eye = torch.eye(mean.shape[-1], dtype=mean.dtype, device=mean.device)
        rollout = (0.5 * mean + 0.5 * eye) @ rollout
    return rollout

# %% [wrong] each_head_for_itself | The rollout is made for each head on its own and averaged at the end; the heads must be averaged in every layer before the product, which is not the same.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map
    T = cross_map.shape[-2]
    identity = torch.eye(T, dtype=cross_map.dtype, device=cross_map.device)
    for layer in self_maps:
        result = (layer + identity) / 2 @ result
    return result.mean(dim=-3)

# %% [wrong] heads_as_second_axis | mean(1) averages over the heads only with exactly one batch axis; without a batch axis 1 holds the words that ask, and with two it is still a batch axis. It should be mean(-3).
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rolled = cross_map.mean(1)
    for one in self_maps:
        A = one.mean(1)
        A = 0.5 * (A + torch.eye(A.shape[-1], dtype=A.dtype, device=A.device))
        rolled = A @ rolled
    return rolled

# %% [wrong] largest_head_counts | The maximum over the heads stands in place of the mean, so the rows of each layer sum to more than 1, and so do those of the rollout.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map.amax(dim=-3)
    for weights in self_maps:
        A = weights.amax(dim=-3)
        I = torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        rollout = (0.5 * A + 0.5 * I) @ rollout
    return rollout

# %% [wrong] whole_identity_added | The identity is added whole to the whole mean map, without the halves, so the rows of each layer sum to 2 and those of the rollout to 2 to the power of the layers.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    out = cross_map.mean(-3)
    for maps in self_maps:
        residual = torch.eye(maps.shape[-1], dtype=maps.dtype, device=maps.device)
        out = torch.matmul(maps.mean(-3) + residual, out)
    return out

# %% [wrong] list_eaten_up | The layers are taken off the list with pop, so the list of the caller is empty afterwards; the first result is right, a second call with the same list only returns the mean cross map.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map.mean(-3)
    while self_maps:
        maps = self_maps.pop(0)
        A = maps.mean(-3)
        A_hat = 0.5 * A + 0.5 * torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        rollout = A_hat @ rollout
    return rollout

# %% [right] half_way_by_lerp | no identity is made: half of what there is plus half of the map times what there is, by lerp
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    looked = cross_map.mean(dim=-3)
    for weights in self_maps:
        looked = torch.lerp(looked, weights.mean(dim=-3) @ looked, 0.5)
    return looked
