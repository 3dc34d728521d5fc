# %% [wrong] column_of_cls | Takes the column of [CLS]: who looks at [CLS], in place of what [CLS] looks at.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 1:, 0].unflatten(-1, (rows, columns))

# %% [wrong] made_to_sum_to_one | Divides the map by its sum; the numbers are to stay as they are.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row = weights[..., 0, 1:]
    row = row / row.sum(-1, keepdim=True)
    return row.reshape(*row.shape[:-1], rows, columns)

# %% [wrong] rows_and_columns_exchanged | Lays the patches out as (columns, rows) and transposes: the shape is right, the patches lie elsewhere.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    patches = weights[..., 0, 1:]
    return patches.unflatten(-1, (columns, rows)).transpose(-1, -2)

# %% [wrong] leading_axes_lost | Views the row as (rows, columns): works for one map, fails as soon as heads or a batch stand in front.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 0, 1:].reshape(rows, columns)

# %% [wrong] last_token | Takes the last token for [CLS]; it is the first.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    asks = weights[..., -1, :-1]
    return asks.unflatten(dim=-1, sizes=(rows, columns))

# %% [wrong] heads_axis_indexed | Indexes [:, 0, 1:], which fits weights with exactly one axis in front; a plain (T, T) map or a batch of heads fails or gives another thing.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[:, 0, 1:].view(-1, rows, columns)

# %% [right] narrow_and_split | Uses select and narrow, and builds the map row by row from slices.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row = weights.select(-2, 0).narrow(-1, 1, rows * columns)
    return torch.stack(row.split(columns, dim=-1), dim=-2)
