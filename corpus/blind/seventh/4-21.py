# %% [wrong] who_looks_at_cls | weights[..., 1:, 0] is the column: how much each patch looks at [CLS]; what [CLS] looks at is its row, weights[..., 0, 1:].
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    to_patches = weights[..., 1:, 0]
    return to_patches.unflatten(-1, (rows, columns))

# %% [wrong] made_to_sum_to_one | The row is divided by its sum without [CLS], so that the map sums to 1; the numbers should stay as they are.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row = weights[..., 0, 1:]
    row = row / row.sum(-1, keepdim=True)
    return row.unflatten(-1, (rows, columns))

# %% [wrong] mean_of_all_who_ask | The mean over all queries is taken, so the map says where all tokens look on average; the row of [CLS] alone is asked for.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    looks = weights.mean(dim=-2)[..., 1:]
    return looks.unflatten(-1, (rows, columns))

# %% [wrong] cls_thought_to_be_last | [CLS] is looked for at the end, row −1 without the last number; it is the first token, so this is the map of the last patch, shifted by one.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., -1, :-1].unflatten(-1, (rows, columns))

# %% [wrong] leading_axes_in_one | reshape(-1, rows, columns) makes one axis of all leading ones, and one of length 1 where there was none; (..., rows, columns) is asked for.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 0, 1:].reshape(-1, rows, columns)

# %% [wrong] read_column_by_column | The patches are laid out column by column, (columns, rows) and transposed; they are numbered row by row, so the picture comes out mirrored at the diagonal and sheared.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row_of_cls = weights[..., 0, 1:]
    return row_of_cls.unflatten(-1, (columns, rows)).transpose(-2, -1)

# %% [right] selected_and_split | selects the row, splits [CLS] from the patches, and views these as the grid
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    _, patches = weights.select(-2, 0).split([1, rows * columns], dim=-1)
    return patches.reshape(*weights.shape[:-2], rows, columns)
