# %% [wrong] who_looks_at_cls | The first column is taken, what each patch gives to [CLS]; it should be the first row, what [CLS] gives to the patches.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 1:, 0].unflatten(-1, (rows, columns))

# %% [wrong] shares_of_the_patches | The map is divided by its sum, so that it adds up to 1; the numbers should stay as they are. What rests on [CLS] is hidden.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row = weights[..., 0, 1:]
    row = row / row.sum(-1, keepdim=True)
    return row.unflatten(-1, (rows, columns))

# %% [wrong] the_last_number_left_out | The last number of the row is left out in place of the first; [CLS] is the first token. The map begins with what [CLS] gives itself, and all patches are shifted by one.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    asked_by_cls = weights[..., 0, : rows * columns]
    return asked_by_cls.unflatten(-1, (rows, columns))

# %% [wrong] one_axis_for_heads | weights[:, 0, 1:] and reshape(-1, rows, columns) hold for (H, T, T) alone; any leading axes should work, none as well. A single (T, T) raises an error, with a batch the wrong axis is indexed.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[:, 0, 1:].reshape(-1, rows, columns)

# %% [wrong] mean_over_the_heads | The map is averaged over the third axis from the end, the heads; each should keep its own map. The result has an axis too few, and a single (T, T) raises an error.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    together = weights.mean(dim=-3)
    return together[..., 0, 1:].unflatten(-1, (rows, columns))

# %% [wrong] laid_out_column_by_column | The patches are laid out column by column (unflatten to (columns, rows), then a transpose); they lie row by row. The shape is right, and the picture is mixed up, but for a single row or column.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row_of_cls = weights[..., 0, 1:]
    return row_of_cls.unflatten(-1, (columns, rows)).transpose(-2, -1)

# %% [right] selected_and_narrowed | The row and its patches are taken with select and narrow, and laid out by a reshape that names all axes.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    from_cls = weights.select(-2, 0).narrow(-1, 1, rows * columns)
    return from_cls.reshape(*weights.shape[:-2], rows, columns)
