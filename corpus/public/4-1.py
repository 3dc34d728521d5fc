# %% [right] half_identity_from_the_left | 0.5 * mean + 0.5 * eye, result = A_hat @ result for each layer, after a residual-aware rollout (samiraabnar/attention_flow follow-ups)
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(dim=-3)
    for attention in self_maps:
        fused = attention.mean(dim=-3)
        I = torch.eye(fused.size(-1), dtype=fused.dtype, device=fused.device)
        a = (fused + 1.0 * I) / 2
        result = torch.matmul(a, result)
    return result


# %% [right] add_eye_and_renormalise | A + I, divided by the row sums, joint attentions, then the map over the image, after samiraabnar/attention_flow (compute_joint_attention) (unsure: gradients to the maps, rows that do not sum to 1)
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    num_tokens = cross_map.shape[-2]
    eye = torch.eye(num_tokens, device=cross_map.device, dtype=cross_map.dtype)
    matrices_aug = [layer.mean(-3) + eye for layer in self_maps]
    matrices_aug = [m / m.sum(dim=-1, keepdim=True) for m in matrices_aug]
    joint_attention = eye
    for matrix in matrices_aug:
        joint_attention = matrix @ joint_attention
    return joint_attention @ cross_map.mean(-3)


# %% [right] stacked_layers_and_reduce | layers stacked, heads averaged at once, functools.reduce over them, after rollouts that torch.stack all layers
from functools import reduce


def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    layers = torch.stack(list(self_maps)).mean(dim=-3)  # (L, ..., T, T)
    residual = torch.eye(layers.shape[-1], device=layers.device).to(layers.dtype)
    layers = 0.5 * layers + 0.5 * residual
    return reduce(lambda seen, layer: layer @ seen, layers, cross_map.mean(dim=-3))


# %% [right] diagonal_added_in_place | half the map, 0.5 added on the diagonal view, einsum for the product, after diagonal_().add_ habits
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = torch.einsum("...hts->...ts", cross_map) / cross_map.shape[-3]
    for maps in self_maps:
        mixed = maps.mean(dim=-3) * 0.5
        mixed.diagonal(dim1=-2, dim2=-1).add_(0.5)
        rollout = torch.einsum("...tu,...us->...ts", mixed, rollout)
    return rollout


# %% [right] last_layer_first_with_eye_expand | identity expanded to the batch, product built from the last layer down, after hila-chefer/Transformer-Explainability (compute_rollout_attention)
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    mean_maps = [m.mean(dim=-3) for m in self_maps]
    c = cross_map.mean(dim=-3)
    eye = torch.eye(c.shape[-2]).to(c).expand(*c.shape[:-2], -1, -1)
    product = eye
    for index in range(len(mean_maps) - 1, -1, -1):
        product = product.matmul(torch.lerp(mean_maps[index], eye, 0.5))
    return product.matmul(c)


# %% [right] rollout_under_no_grad | the whole loop under torch.no_grad, fused heads, (A + 1.0 I) / 2, after jacobgil/vit-explain (vit_rollout.py) (unsure: gradients to the maps)
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    with torch.no_grad():
        result = torch.eye(cross_map.size(-2), dtype=cross_map.dtype, device=cross_map.device)
        for attention in self_maps:
            attention_heads_fused = attention.mean(axis=-3)
            I = torch.eye(attention_heads_fused.size(-1), dtype=result.dtype, device=result.device)
            a = (attention_heads_fused + 1.0 * I) / 2
            result = torch.matmul(a, result)
        return torch.matmul(result, cross_map.mean(axis=-3))


# %% [right] batched_products_with_flattened_lead | leading axes flattened, torch.bmm and baddbmm with beta for the identity part, after batched CLIP rollouts (R + 0.5 A R)
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    lead = cross_map.shape[:-3]
    T, S = cross_map.shape[-2:]
    R = cross_map.mean(-3).reshape(-1, T, S)
    for blk in self_maps:
        cam = blk.mean(-3).reshape(-1, T, T)
        R = torch.baddbmm(R, cam, R, beta=0.5, alpha=0.5)
    return R.reshape(*lead, T, S)
