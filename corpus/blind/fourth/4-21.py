# %% [wrong] who_looks_at_cls | Takes the first column, who looks at [CLS]; what [CLS] looks at is the first row.
def cls_map(weights, rows, columns):
    return weights[..., 1:, 0].unflatten(-1, (rows, columns))


# %% [wrong] made_to_sum_to_one | The map is divided by its sum; the numbers are to stay as they are.
def cls_map(weights, rows, columns):
    m = weights[..., 0, 1:]
    m = m / m.sum(-1, keepdim=True)
    return m.unflatten(-1, (rows, columns))


# %% [wrong] rows_and_columns_exchanged | Laid out as (columns, rows): right for square grids only.
def cls_map(weights, rows, columns):
    row = weights[..., 0, 1:]
    return row.reshape(*row.shape[:-1], columns, rows)


# %% [wrong] last_column_left_out | Leaves out the last number of the row and keeps the first, what [CLS] gives itself: every patch is moved on by one.
def cls_map(weights, rows, columns):
    return weights[..., 0, :-1].unflatten(-1, (rows, columns))


# %% [wrong] first_axis | `weights[0]` is the first head, or the first image: the row of [CLS] is counted from the end.
def cls_map(weights, rows, columns):
    return weights[0, ..., 1:].unflatten(-1, (rows, columns))


# %% [wrong] mean_of_all_queries | Takes the mean over all queries and not the row of [CLS].
def cls_map(weights, rows, columns):
    looked_at = weights.mean(dim=-2)[..., 1:]
    return looked_at.unflatten(-1, (rows, columns))


# %% [right] select_and_narrow | `select` and `narrow` in place of indexing, and the grid is stacked row by row with `split`.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    patches = weights.select(-2, 0).narrow(-1, 1, rows * columns)
    return torch.stack(patches.split(columns, dim=-1), dim=-2)
