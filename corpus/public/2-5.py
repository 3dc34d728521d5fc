# %% [right] transpose_contiguous_view | transpose, contiguous, view, after classic PyTorch ports of the transformer (transpose, contiguous, view)
def merge_heads(heads):
    *lead, H, n, d_head = heads.shape
    return heads.transpose(-3, -2).contiguous().view(*lead, n, H * d_head)


# %% [right] cat_of_unbound_heads | unbind along the head axis and cat along the width, after the original formula Concat(head_1 ... head_h)
def merge_heads(heads):
    return torch.cat(heads.unbind(dim=-3), dim=-1)


# %% [right] permute_and_size_sum | permute, new shape by tuple addition, after A1ex-Chen/DL_project_log (CTRL split_into_heads, undone)
def merge_heads(heads):
    axes = list(range(heads.dim()))
    axes[-3], axes[-2] = axes[-2], axes[-3]
    context_layer = heads.permute(*axes).contiguous()
    new_shape = context_layer.size()[:-2] + (heads.size(-3) * heads.size(-1),)
    return context_layer.view(new_shape)


# %% [right] swapaxes_flatten | swapaxes and flatten(-2), after timm like compact code
def merge_heads(heads):
    return heads.swapaxes(-2, -3).flatten(-2)


# %% [right] filled_slice_by_slice | an empty result filled slice by slice, after loop style homework
def merge_heads(heads):
    H, n, d_head = heads.shape[-3:]
    out = heads.new_empty((*heads.shape[:-3], n, H * d_head))
    for h in range(H):
        out[..., h * d_head : (h + 1) * d_head] = heads[..., h, :, :]
    return out


# %% [right] reshape_with_minus_one | movedim, reshape with -1 at the end, after lucidrains code without einops
def merge_heads(heads):
    swapped = heads.movedim(-3, -2)
    return swapped.reshape(*swapped.shape[:-2], -1)
