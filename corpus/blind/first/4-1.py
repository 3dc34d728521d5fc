# %% [wrong] no_identity | The residual connection is left out: the bare maps are multiplied, without the half identity.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    result = cross_map.mean(dim=-3)
    for weights in self_maps:
        result = weights.mean(dim=-3) @ result
    return result
# %% [wrong] reversed_layers | The layers are multiplied in the wrong order: the last layer comes first.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    T = cross_map.shape[-2]
    eye = torch.eye(T, dtype=cross_map.dtype, device=cross_map.device)
    joint = eye
    for weights in self_maps:
        a_hat = 0.5 * weights.mean(dim=-3) + 0.5 * eye
        joint = joint @ a_hat
    return joint @ cross_map.mean(dim=-3)
# %% [wrong] full_identity | A whole identity is added and nothing is halved, so the rows sum to 2 for each layer.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    rollout = cross_map.mean(-3)
    for A in self_maps:
        A = A.mean(-3)
        A = A + torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        rollout = A @ rollout
    return rollout
# %% [wrong] sum_over_heads | The heads of the maps are summed, not averaged.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    rollout = cross_map.sum(dim=-3)
    for maps in self_maps:
        maps = maps.sum(dim=-3)
        identity = torch.eye(maps.shape[-1], dtype=maps.dtype, device=maps.device)
        rollout = (0.5 * maps + 0.5 * identity) @ rollout
    return rollout
# %% [wrong] heads_of_axis_0 | The mean is taken over the first axis, which is the batch as soon as there is one.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    rollout = cross_map.mean(dim=0)
    for layer_map in self_maps:
        mean_map = layer_map.mean(dim=0)
        eye = torch.eye(mean_map.shape[-1], dtype=mean_map.dtype, device=mean_map.device)
        rollout = (mean_map + eye) / 2 @ rollout
    return rollout
# %% [wrong] last_layer_only | Only the last layer's map is used; the layers before it are overwritten in the loop.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    C = cross_map.mean(dim=-3)
    I = torch.eye(C.shape[-2], dtype=C.dtype, device=C.device)
    for layer in self_maps:
        A = 0.5 * layer.mean(dim=-3) + 0.5 * I
        rollout = A @ C
    return rollout
# %% [wrong] elementwise_product | The layers are multiplied elementwise with * where a matrix product is meant.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    n = cross_map.shape[-2]
    eye = torch.eye(n, dtype=cross_map.dtype, device=cross_map.device)
    mixed = None
    for layer in self_maps:
        hat = layer.mean(dim=-3) / 2 + eye / 2
        mixed = hat if mixed is None else hat * mixed
    return mixed @ cross_map.mean(dim=-3)
# %% [wrong] identity_on_the_image_too | The map over the image is treated like a layer: it is halved and half an identity is added to it.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    C = cross_map.mean(dim=-3)
    C = 0.5 * C + 0.5 * torch.eye(C.shape[-2], C.shape[-1], dtype=C.dtype, device=C.device)
    for layer in self_maps:
        A = layer.mean(dim=-3)
        A = 0.5 * A + 0.5 * torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        C = A @ C
    return C
# %% [wrong] default_dtype_eye | The identity is made without a dtype and filled into a new float32 result, so float64 maps come back as float32.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    T = cross_map.shape[-2]
    rollout = cross_map.mean(dim=-3).float()
    for maps in self_maps:
        rollout = (0.5 * maps.mean(dim=-3).float() + 0.5 * torch.eye(T)) @ rollout
    return rollout
# %% [right] residual_by_hand | Never builds an identity: half of what there was is added to half of what the map mixes.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    reached = torch.einsum("...hts->...ts", cross_map) / cross_map.size(-3)
    for maps in self_maps:
        reached = (reached + maps.mean(-3) @ reached) / 2
    return reached
# %% [right] reduce_of_stack | Stacks the layers, adds to the diagonal, and multiplies them with functools.reduce.
from functools import reduce


def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    hats = [m.mean(-3).mul(0.5) for m in self_maps]
    for hat in hats:
        hat.diagonal(dim1=-2, dim2=-1).add_(0.5)
    return reduce(lambda right, left: left @ right, hats, cross_map.mean(-3))
