# %% [wrong] column_of_cls | The first column is taken: what every patch gives to [CLS]. The row of [CLS] is asked for: what [CLS] gives to every patch.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 1:, 0].unflatten(-1, (rows, columns))

# %% [wrong] made_to_sum_to_one | The map is divided by its sum. The numbers are to stay as they are, so that a map sums to less than 1.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    m = weights[..., 0, 1:]
    m = m / m.sum(-1, keepdim=True)
    return m.reshape(*weights.shape[:-2], rows, columns)

# %% [wrong] sides_exchanged | The row is laid out as columns × rows and turned, so the patches are read column by column. They lie row by row.
def cls_map(weights, rows, columns):
    grid = weights[..., 0, 1:].unflatten(-1, (columns, rows))
    return grid.transpose(-1, -2)

# %% [wrong] the_last_token_for_cls | [CLS] is taken to be the last token: the last row, without the last number. It stands in front here.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    n = rows * columns
    row = weights[..., -1, :n]
    return row.view(row.shape[:-1] + (rows, columns))

# %% [wrong] loop_over_the_first_axis_only | The map is filled in a loop over one leading axis, the heads. A single map (T, T), or layers and heads (L, H, T, T), crash or come out in another shape; the text writes (..., T, T).
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    out = torch.zeros(weights.shape[0], rows, columns)
    for h in range(weights.shape[0]):
        for r in range(rows):
            for c in range(columns):
                out[h, r, c] = weights[h, 0, 1 + r * columns + c]
    return out

# %% [right] one_slice_for_each_row | Each row of the grid is cut out of [CLS]'s row by narrow, and the rows are stacked.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    of_cls = weights.select(-2, 0)
    lines = [of_cls.narrow(-1, 1 + r * columns, columns) for r in range(rows)]
    return torch.stack(lines, dim=-2)
