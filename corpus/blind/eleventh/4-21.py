# %% [wrong] who_looks_at_cls | The first column is taken and not the first row: how much each patch looks at [CLS], where what [CLS] looks at was asked for. Rows ask, columns answer.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 1:, 0].unflatten(-1, (rows, columns))

# %% [wrong] made_to_sum_to_one | The map is divided by its sum. The text wants the numbers as they are, so that what is missing from 1 is what rests on [CLS]; by hand [[0.4, 0.6]] comes out and not [[0.2, 0.3]].
def cls_map(weights, rows, columns):
    row = weights[..., 0, 1:]
    row = row / row.sum(dim=-1, keepdim=True)
    return row.reshape(*row.shape[:-1], rows, columns)

# %% [wrong] laid_out_by_columns | The row is laid out as (columns, rows) and then transposed, so the grid is filled column by column. Patches are numbered row by row; the shape is right and the patches stand at wrong places.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    """What [CLS] looks at, on the grid of patches."""
    looks = weights[..., 0, 1:]
    return looks.unflatten(-1, (columns, rows)).transpose(-2, -1)

# %% [wrong] keeps_cls_and_drops_the_last_patch | The slice leaves out the last number in place of the first. So the map begins with what [CLS] gives itself, every patch is moved by one place, and the last patch is lost.
def cls_map(weights, rows, columns):
    n = rows * columns
    return weights[..., 0, :n].reshape(weights.shape[:-2] + (rows, columns))

# %% [wrong] one_leading_axis_only | weights[:, 0, 1:] is right for the maps (H, T, T) of one picture. With a batch it takes the first head in place of the first token, and without heads (T, T) it stops with an error.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    m = weights[:, 0, 1:]
    return m.reshape(*m.shape[:-1], rows, columns)

# %% [right] narrow_and_view | select and narrow instead of indices, and a reshape that counts the columns by itself.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    asked_by_cls = torch.select(weights, -2, 0)
    on_patches = asked_by_cls.narrow(-1, 1, rows * columns)
    return torch.stack(on_patches.split(columns, dim=-1), dim=-2)
