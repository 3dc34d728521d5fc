# %% [wrong] last_layer_first | The layers are gone through backwards, so the last one is multiplied onto the cross map first, and the product is Â₁ Â₂ … C. The formula has Â_L outermost; with one layer, as by hand, nothing shows.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map.mean(-3)
    T = rollout.shape[-2]
    eye = torch.eye(T, dtype=rollout.dtype, device=rollout.device)
    for layer in reversed(self_maps):
        rollout = (0.5 * layer.mean(-3) + 0.5 * eye) @ rollout
    return rollout

# %% [wrong] mean_over_the_first_axis | The mean is taken over axis 0. That is the heads' axis for a single scene (H, T, T); with a batch (B, H, T, T) the scenes are averaged, and the heads stay.
def attention_rollout(self_maps, cross_map):
    result = cross_map.mean(0)
    for maps in self_maps:
        A = maps.mean(0)
        A_hat = 0.5 * A + 0.5 * torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        result = A_hat @ result
    return result

# %% [wrong] identity_not_halved | Identity and mean map are added without the two halves. Each layer doubles the sums, so the rows sum to 2, 4, 8 … and not to 1.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    joint = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    for A in self_maps:
        joint = (A.mean(dim=-3) + torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)) @ joint
    return joint @ cross_map.mean(dim=-3)

# %% [wrong] heads_fused_by_the_maximum | The heads are put together by their maximum and the rows brought back to sum 1, as in a well-known blog's head_fusion="max". The formula has the mean of the heads' maps, and with more than one head the result differs.
def attention_rollout(self_maps, cross_map):
    def fuse(maps):
        fused = maps.max(dim=-3).values
        return fused / fused.sum(-1, keepdim=True)

    out = fuse(cross_map)
    I = torch.eye(out.shape[-2], dtype=out.dtype, device=out.device)
    for maps in self_maps:
        out = (fuse(maps) + I) / 2 @ out
    return out

# %% [wrong] residual_left_out | The mean maps are multiplied as they are, without half an identity for the residual connection. So a token is made only of what it attended to, and nothing of itself is handed on; by hand word 2 gets [0.5, 0.5].
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    product = cross_map.mean(-3)
    for A in self_maps:
        product = torch.matmul(A.mean(-3), product)
    return product

# %% [right] halves_without_an_identity | The identity is never made: half of what there is, plus half of the map times what there is, is the same; the heads are averaged in an einsum.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    followed = cross_map.sum(dim=-3) / cross_map.shape[-3]
    for maps in self_maps:
        mixed = torch.einsum("...hts,...sp->...tp", maps, followed) / maps.shape[-3]
        followed = torch.lerp(followed, mixed, 0.5)
    return followed
