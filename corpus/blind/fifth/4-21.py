# %% [wrong] looked_at_cls | weights[..., 1:, 0] is the column of [CLS], how much each patch looks at it; its row, weights[..., 0, 1:], is asked
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 1:, 0].unflatten(-1, (rows, columns))

# %% [wrong] renormalised | the map is divided by its sum; the numbers should stay as they are, so that it sums to less than 1
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row = weights[..., 0, 1:]
    row = row / row.sum(-1, keepdim=True)
    return row.reshape(*row.shape[:-1], rows, columns)

# %% [wrong] last_token | [CLS] is taken for the last token (index −1, and the patches before it); it stands in front
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., -1, :-1].unflatten(-1, (rows, columns))

# %% [wrong] column_by_column | the row is laid out as (columns, rows) and turned round, so patches are read column by column; they lie row by row
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    flat = weights[..., 0, 1:]
    return flat.unflatten(-1, (columns, rows)).transpose(-2, -1)

# %% [wrong] one_place_late | the slice keeps the weight of [CLS] on itself and drops the last patch (0, :-1): every number stands one place too late
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    grid = weights[..., 0, : rows * columns]
    return grid.reshape(grid.shape[:-1] + (rows, columns))

# %% [wrong] heads_averaged | the maps are averaged over the axis before, the heads, and one map comes back; every leading axis should stay (and without one there is nothing to average)
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    cls_row = weights.mean(dim=-3)[..., 0, 1:]
    return cls_row.unflatten(-1, (rows, columns))

# %% [right] select_and_narrow | select takes the row of [CLS], narrow the patches, and a reshape lays them out behind any leading axes
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    asked = weights.select(-2, 0).narrow(-1, 1, rows * columns)
    return asked.reshape(*weights.shape[:-2], rows, columns)
