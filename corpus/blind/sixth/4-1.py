# %% [wrong] last_layer_first | The layers are multiplied on in reversed order, so the product is Â₁ Â₂ … Â_L C̄ instead of Â_L … Â₁ C̄
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rolled = cross_map.mean(-3)
    for layer in reversed(self_maps):
        eye = torch.eye(layer.shape[-1], dtype=layer.dtype, device=layer.device)
        rolled = (0.5 * layer.mean(-3) + 0.5 * eye) @ rolled
    return rolled

# %% [wrong] no_identity | The half identity for the residual is missing: Â is the mean map alone; the example gives [0.5, 0.5] instead of [0.25, 0.75]
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    out = cross_map.mean(dim=-3)
    for a in self_maps:
        out = a.mean(dim=-3) @ out
    return out

# %% [wrong] not_halved | Map and identity are added and not halved, so the rows sum to 2 for each layer instead of 1
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(-3)
    T = cross_map.shape[-2]
    I = torch.eye(T, dtype=cross_map.dtype, device=cross_map.device)
    for m in self_maps:
        result = (m.mean(-3) + I) @ result
    return result

# %% [wrong] heads_multiplied_apart | The product is made for each head by itself and the mean over the heads is taken at the end; the mean of products is not the product of the means
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    state = cross_map
    for maps in self_maps:
        eye = torch.eye(maps.size(-1), dtype=maps.dtype, device=maps.device)
        state = (maps + eye) / 2 @ state
    return state.mean(dim=-3)

# %% [wrong] strongest_head | The largest weight over the heads (amax) is taken instead of their mean, so the rows no longer sum to 1
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    eye = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    rolled = cross_map.amax(-3)
    for a in self_maps:
        rolled = (a.amax(-3) + eye) / 2 @ rolled
    return rolled

# %% [wrong] heads_on_axis_1 | The heads are averaged along dim=1, which is right for (B, H, T, T) only; without a batch, as in the example, axis 1 is the words that ask
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    mixed = cross_map.mean(1)
    for maps in self_maps:
        mean = maps.mean(1)
        eye = torch.eye(mean.shape[-1], dtype=mean.dtype, device=mean.device)
        mixed = torch.matmul(0.5 * mean + 0.5 * eye, mixed)
    return mixed

# %% [right] residual_as_mean | no identity matrix: half of what was there plus half of what was attended to
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rolled = cross_map.mean(dim=-3)
    for maps in self_maps:
        rolled = (rolled + maps.mean(dim=-3) @ rolled) / 2
    return rolled
