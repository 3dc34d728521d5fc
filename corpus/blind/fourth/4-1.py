# %% [wrong] last_layer_first | The layers are multiplied in the wrong order: the last one comes first onto the map of the image.
def attention_rollout(self_maps, cross_map):
    result = cross_map.mean(-3)
    for weights in reversed(self_maps):
        mean = weights.mean(-3)
        eye = torch.eye(mean.shape[-1], dtype=mean.dtype, device=mean.device)
        result = (0.5 * mean + 0.5 * eye) @ result
    return result


# %% [wrong] no_residual | The half identity for the residual is missing: the plain maps are multiplied.
def attention_rollout(self_maps, cross_map):
    rollout = cross_map.mean(dim=-3)
    for layer in self_maps:
        rollout = layer.mean(dim=-3) @ rollout
    return rollout


# %% [wrong] whole_identity | Adds a whole identity and does not halve: the rows sum to 2, 4, 8 and so on.
def attention_rollout(self_maps, cross_map):
    out = cross_map.mean(-3)
    T = out.shape[-2]
    I = torch.eye(T, dtype=out.dtype, device=out.device)
    for A in self_maps:
        out = (A.mean(-3) + I) @ out
    return out


# %% [wrong] heads_at_axis_one | The mean is taken over axis 1: those are the heads with one batch dimension, and something else without one.
def attention_rollout(self_maps, cross_map):
    R = None
    for weights in self_maps:
        A = weights.mean(1)
        A = 0.5 * A + 0.5 * torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        R = A if R is None else A @ R
    C = cross_map.mean(1)
    return C if R is None else R @ C


# %% [wrong] heads_added_up | The heads of the self-attention are added up in place of their mean: rows no longer sum to 1.
def attention_rollout(self_maps, cross_map):
    eye = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    rolled = cross_map.mean(-3)
    for one in self_maps:
        rolled = (one.sum(-3) + eye) / 2 @ rolled
    return rolled


# %% [wrong] last_layer_only | In the loop each layer starts afresh from the map of the image, so only the last one counts.
def attention_rollout(self_maps, cross_map):
    cross = cross_map.mean(-3)
    result = cross
    for maps in self_maps:
        A = maps.mean(-3)
        A_hat = (A + torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)) / 2
        result = A_hat @ cross
    return result


# %% [right] lerp_without_identity | Makes no identity: each step is halfway, by `lerp`, between what there was and what the layer's mean map makes of it.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    followed = cross_map.mean(dim=-3)
    for maps in self_maps:
        attended = torch.einsum("...htu,...us->...ts", maps, followed) / maps.shape[-3]
        followed = followed.lerp(attended, 0.5)
    return followed
