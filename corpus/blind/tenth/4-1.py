# %% [wrong] layers_in_the_wrong_order | The layers are multiplied from the right, A_1 A_2 … A_L in place of A_L … A_2 A_1. With more than one layer the result differs, because matrices do not commute.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    T = cross_map.shape[-2]
    eye = torch.eye(T, dtype=cross_map.dtype, device=cross_map.device)
    rollout = eye
    for maps in self_maps:
        rollout = rollout @ (0.5 * maps.mean(-3) + 0.5 * eye)
    return rollout @ cross_map.mean(-3)

# %% [wrong] identity_added_without_halving | The map and the identity are added without the halves. Each row of a layer then sums to 2, and those of the rollout to 2 to the power of the number of layers, in place of 1.
def attention_rollout(self_maps, cross_map):
    result = cross_map.mean(dim=-3)
    for A in self_maps:
        A_bar = A.mean(dim=-3)
        A_hat = A_bar + torch.eye(A.shape[-1]).to(A)
        result = A_hat @ result
    return result

# %% [wrong] largest_head_in_place_of_the_mean | The heads are joined by their maximum, as some blogs on vision transformers do. The mean of the heads is asked for; rows no longer sum to 1.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rolled = cross_map.amax(-3)
    for weights in self_maps:
        joined = weights.amax(-3)
        half = (joined + torch.eye(joined.shape[-1], dtype=joined.dtype, device=joined.device)) / 2
        rolled = half @ rolled
    return rolled

# %% [wrong] heads_rolled_out_apart | Each head is followed through the layers by itself, and the mean over the heads is taken at the very end. In each layer the mean comes first; the mean of products is not the product of means.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    chain = cross_map
    identity = torch.eye(cross_map.size(-2), dtype=cross_map.dtype, device=cross_map.device)
    for maps in self_maps:
        chain = torch.matmul((maps + identity) * 0.5, chain)
    return chain.mean(dim=-3)

# %% [wrong] elementwise_product_of_layers | The layers are multiplied with *, number by number, as NumPy arrays, and only the last product is a matrix product. Following attention needs a matrix product for each layer; with two layers the result differs.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    I = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    total = None
    for a in self_maps[::-1]:
        step = a.mean(-3) / 2 + I / 2
        total = step if total is None else total * step
    bar_c = cross_map.mean(-3)
    return bar_c if total is None else total @ bar_c

# %% [right] residual_without_an_identity | No identity is made: half of what is there plus half of the map times it is the same as multiplying by (A + I) / 2. torch.lerp mixes the two.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    heads = cross_map.shape[-3]
    followed = cross_map.sum(-3).div(heads)
    for layer in self_maps:
        attended = torch.einsum("...hts,...sp->...tp", layer, followed) / layer.shape[-3]
        followed = torch.lerp(followed, attended, 0.5)
    return followed
