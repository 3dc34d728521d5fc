# %% [wrong] column_of_cls | Takes the column weights[..., 1:, 0]: how much each patch looks at [CLS], instead of [CLS]'s own row.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 1:, 0].unflatten(-1, (rows, columns))


# %% [wrong] renormalised | Divides the map by its sum, so that it sums to 1. The text says that the numbers stay as they are.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row = weights[..., 0, 1:]
    row = row / row.sum(dim=-1, keepdim=True)
    return row.reshape(*row.shape[:-1], rows, columns)


# %% [wrong] columns_and_rows_swapped | Lays the patches out as (columns, rows) and transposes, so that it has the right shape, but the patches are read column by column.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    patches = weights.select(-2, 0).narrow(-1, 1, rows * columns)
    return patches.unflatten(-1, (columns, rows)).transpose(-1, -2)


# %% [wrong] last_token_for_cls | Takes the last token for [CLS]: row −1 and all columns but the last. [CLS] stands in front.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    asked = weights[..., -1, :-1]
    return torch.stack([asked[..., r * columns : (r + 1) * columns] for r in range(rows)], dim=-2)


# %% [wrong] cls_not_skipped | Keeps the weight that [CLS] gives itself and cuts the row off at the end, [..., 0, :rows · columns]. Every number stands one place too far, and the last patch is lost.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    n = rows * columns
    flat = weights[..., 0, :n]
    out = torch.zeros(*flat.shape[:-1], rows, columns, dtype=weights.dtype, device=weights.device)
    for i in range(n):
        out[..., i // columns, i % columns] = flat[..., i]
    return out


# %% [right] strided_gather | Builds a table of indices 1 + row · columns + column and indexes the row of [CLS] with it in one step.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row, column = torch.arange(rows, device=weights.device), torch.arange(columns, device=weights.device)
    table = 1 + row[:, None] * columns + column
    return weights.select(-2, 0)[..., table]
