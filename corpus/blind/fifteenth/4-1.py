# %% [wrong] layers_in_reverse | The last layer is multiplied on first, so the product has the layers in the wrong order. Begin with the first layer and multiply each later one from the left: the last layer stands leftmost.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map.mean(-3)
    for weights in reversed(self_maps):
        T = weights.shape[-1]
        half = 0.5 * weights.mean(-3) + 0.5 * torch.eye(T, dtype=weights.dtype, device=weights.device)
        rollout = half @ rollout
    return rollout


# %% [wrong] each_head_followed_alone | Each head is followed through all layers by itself, and the mean over the heads is taken only at the end. The heads' maps have to be averaged in each layer before they are multiplied.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map
    for layer_map in self_maps:
        identity = torch.eye(layer_map.shape[-1], dtype=layer_map.dtype, device=layer_map.device)
        result = torch.matmul((layer_map + identity) / 2, result)
    return result.mean(dim=-3)
