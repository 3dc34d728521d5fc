# %% [wrong] layers_from_the_last | Multiplies the layers in the wrong order: the last layer is applied to the cross map first, so the product is A_1 A_2 … A_L C. With one layer, or equal ones, it does not show.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map.mean(dim=-3)
    for weights in reversed(self_maps):
        mean = weights.mean(dim=-3)
        eye = torch.eye(mean.shape[-1], dtype=mean.dtype, device=mean.device)
        rollout = (0.5 * mean + 0.5 * eye) @ rollout
    return rollout


# %% [wrong] identity_not_halved | Adds the whole identity to the whole map, without the halves. Each layer doubles the rows, which then sum to 2^L, not to 1.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    from functools import reduce

    steps = [m.mean(-3) + torch.eye(m.shape[-1], dtype=m.dtype, device=m.device) for m in self_maps]
    return reduce(lambda so_far, step: step @ so_far, steps, cross_map.mean(-3))


# %% [wrong] residual_forgotten | Multiplies the bare mean maps; the half identity for the residual connection is missing. A word is then made only of what it attended to.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    total = torch.einsum("...hts->...ts", cross_map) / cross_map.shape[-3]
    for one in self_maps:
        average = torch.einsum("...hts->...ts", one) / one.shape[-3]
        total = torch.einsum("...ij,...js->...is", average, total)
    return total


# %% [wrong] mean_over_first_axis | Takes the mean over axis 0 as that of the heads. That fits a single scene; with a batch in front it averages the scenes and keeps the heads.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = torch.mean(cross_map, 0)
    for layer in self_maps:
        A = torch.mean(layer, 0)
        A = A / 2
        A = A + torch.eye(A.size(-1), dtype=A.dtype, device=A.device) / 2
        result = torch.matmul(A, result)
    return result


# %% [wrong] heads_multiplied_before_mean | Follows each head through the layers by itself and takes the mean at the end. The mean of the products is not the product of the means that the formula asks for: heads of one layer mix in the next.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    followed = cross_map
    for weights in self_maps:
        T = weights.shape[-1]
        half = torch.eye(T, dtype=weights.dtype, device=weights.device).mul(0.5)
        followed = (weights.mul(0.5) + half) @ followed
    return followed.mean(-3)


# %% [right] lerp_without_identity | No identity matrix: half of what was followed so far plus half of the map times it, by torch.lerp.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    followed = cross_map.mean(-3)
    for weights in self_maps:
        followed = torch.lerp(followed, weights.mean(-3) @ followed, 0.5)
    return followed
