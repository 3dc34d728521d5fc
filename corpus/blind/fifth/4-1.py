# %% [wrong] last_layer_first | the layers are taken in reversed order, so the first layer's map stands leftmost: Â₁ … Â_L C̄ in place of Â_L … Â₁ C̄
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    followed = cross_map.mean(-3)
    T = cross_map.shape[-2]
    for weights in reversed(self_maps):
        mixed = 0.5 * weights.mean(-3) + 0.5 * torch.eye(T, dtype=weights.dtype, device=weights.device)
        followed = mixed @ followed
    return followed

# %% [wrong] no_residual_half | the layers' maps are multiplied as they are, without half an identity for the residual connection; word 2 of the example comes out as [0.5, 0.5]
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(dim=-3)
    for layer in self_maps:
        result = layer.mean(dim=-3) @ result
    return result

# %% [wrong] whole_identity | the identity is added whole and not half and half, so each layer doubles the rows: they sum to 2 for each layer and not to 1
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    out = cross_map.mean(-3)
    for maps in self_maps:
        A = maps.mean(-3)
        A = A + torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        out = A @ out
    return out

# %% [wrong] strongest_head | the largest weight over the heads (amax) is taken in place of their mean; rows no longer sum to 1
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rolled = cross_map.amax(dim=-3)
    eye = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    for m in self_maps:
        rolled = (m.amax(dim=-3) / 2 + eye / 2) @ rolled
    return rolled

# %% [wrong] heads_on_axis_zero | mean(0) averages over the first axis, which are the heads only without a batch; with one it averages over the scenes
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    T = cross_map.shape[-2]
    identity = torch.eye(T, dtype=cross_map.dtype, device=cross_map.device)
    product = identity
    for one in self_maps:
        product = (one.mean(0) + identity) / 2 @ product
    return product @ cross_map.mean(0)

# %% [wrong] mean_of_layers | the layers' mixings are averaged and multiplied on once, where they should be multiplied with one another; right for a single layer only
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    C = cross_map.mean(-3)
    eye = torch.eye(C.shape[-2], dtype=C.dtype, device=C.device)
    hats = [0.5 * m.mean(-3) + 0.5 * eye for m in self_maps]
    average = sum(hats) / len(hats)
    return average @ C

# %% [right] halves_without_an_identity | half of what is there plus half of what the map mixes from it: no identity matrix is made
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    reached = cross_map.mean(dim=-3)
    for weights in self_maps:
        reached = torch.lerp(reached, weights.mean(dim=-3) @ reached, 0.5)
    return reached
