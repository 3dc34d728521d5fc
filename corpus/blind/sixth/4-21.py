# %% [wrong] column_of_cls | weights[..., 1:, 0] is the column: how much each patch looks at [CLS], instead of the row, what [CLS] looks at
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 1:, 0].unflatten(-1, (rows, columns))

# %% [wrong] sums_to_one | The map is divided by its sum, although the numbers are to stay as they are: [[0.4, 0.6]] instead of [[0.2, 0.3]]
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row = weights[..., 0, 1:]
    row = row / row.sum(-1, keepdim=True)
    return row.unflatten(-1, (rows, columns))

# %% [wrong] sides_swapped | The map is laid out as (columns, rows) and then transposed: the shape is right, and the patches are read column by column instead of row by row
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 0, 1:].unflatten(-1, (columns, rows)).transpose(-2, -1)

# %% [wrong] last_token | The last token is taken for [CLS] (row −1, without the last column); [CLS] stands in front
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    from_cls = weights[..., -1, :-1]
    return from_cls.reshape(*from_cls.shape[:-1], rows, columns)

# %% [wrong] averaged_heads | The axis in third place from the end, the heads, is averaged away, so (H, T, T) gives one map instead of H; without heads, (T, T), it fails
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    mean = weights.mean(dim=-3)
    return mean[..., 0, 1:].unflatten(-1, (rows, columns))

# %% [wrong] four_axes | The indexing takes (B, H, T, T) for granted; (T, T) of the example and (H, T, T) raise an IndexError, and five axes a wrong cut
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    B, H = weights.shape[:2]
    return weights[:, :, 0, 1:].reshape(B, H, rows, columns)

# %% [right] select_narrow | select and narrow instead of an index
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row = weights.select(-2, 0)
    return row.narrow(-1, 1, rows * columns).unflatten(-1, (rows, columns))
