# %% [right] first_row_without_cls_reshaped | attentions[..., 0, 1:].reshape, after facebookresearch/dino (visualize_attention.py)
def cls_map(weights, rows, columns):
    attentions = weights[..., 0, 1:]
    return attentions.reshape(*attentions.shape[:-1], rows, columns)


# %% [right] select_narrow_unflatten | select and narrow, then unflatten, after torch indexing tutorials
def cls_map(weights, rows, columns):
    cls_row = weights.select(-2, 0)
    return cls_row.narrow(-1, 1, rows * columns).unflatten(-1, (rows, columns))


# %% [right] split_off_cls_and_view | split into [CLS] and patches, contiguous view, after jacobgil/vit-explain (mask = result[0, 0, 1:])
def cls_map(weights, rows, columns):
    _, patches = weights[..., 0, :].split([1, weights.shape[-1] - 1], dim=-1)
    return patches.contiguous().view(weights.shape[:-2] + (rows, columns))
