# %% [right] product_first_then_image | right
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    T = cross_map.shape[-2]
    mixing = torch.eye(T, dtype=cross_map.dtype, device=cross_map.device)
    for layer in self_maps[::-1]:
        mixing = mixing @ torch.lerp(torch.eye(T).to(layer), layer.mean(dim=-3), 0.5)
    return mixing @ cross_map.mean(dim=-3)

# %% [right] residual_without_eye | right
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    state = cross_map.mean(-3)
    for maps in self_maps:
        state = (state + maps.mean(-3) @ state) / 2
    return state

# %% [wrong] wrong_order_of_layers | The layers are multiplied in the wrong order: the last layer is taken first.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(-3)
    eye = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    for layer in reversed(self_maps):
        result = (0.5 * layer.mean(-3) + 0.5 * eye) @ result
    return result

# %% [wrong] no_identity | The identity of the residual connection is left out, only the mean maps are multiplied.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(-3)
    for layer in self_maps:
        result = layer.mean(-3) @ result
    return result

# %% [wrong] half_forgotten | Map and identity are added without halving, so the rows sum to 2 per layer.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(-3)
    eye = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    for layer in self_maps:
        result = (layer.mean(-3) + eye) @ result
    return result

# %% [wrong] heads_not_averaged_first | The product is taken per head and averaged over the heads only at the end.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    T = cross_map.shape[-2]
    eye = torch.eye(T, dtype=cross_map.dtype, device=cross_map.device)
    result = cross_map
    for layer in self_maps:
        result = (0.5 * layer + 0.5 * eye) @ result
    return result.mean(-3)

# %% [wrong] head_axis_zero | The mean is taken over axis 0, which is the batch and not the heads when there is a batch.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(0)
    eye = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    for layer in self_maps:
        result = (0.5 * layer.mean(0) + 0.5 * eye) @ result
    return result

# %% [wrong] summed_heads | The heads are summed instead of averaged.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.sum(-3)
    eye = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    for layer in self_maps:
        result = (0.5 * layer.sum(-3) + 0.5 * eye) @ result
    return result / result.sum(-1, keepdim=True)

# %% [wrong] transposed_map | The map of each layer is transposed before it is multiplied on.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(-3)
    eye = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    for layer in self_maps:
        step = 0.5 * layer.mean(-3) + 0.5 * eye
        result = step.transpose(-2, -1) @ result
    return result

# %% [wrong] first_layer_skipped | The loop starts at the second layer, so the first map is never used.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(-3)
    eye = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    for i in range(1, len(self_maps)):
        result = (0.5 * self_maps[i].mean(-3) + 0.5 * eye) @ result
    return result
