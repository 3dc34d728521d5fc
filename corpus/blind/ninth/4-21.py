# %% [wrong] who_looks_at_cls | The column of [CLS] is taken: how much each patch looks at it. Its row was asked for: how much it looks at each patch. In the weights, rows ask and columns answer.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 1:, 0].unflatten(-1, (rows, columns))

# %% [wrong] made_to_sum_to_one | The map is divided by its sum. The numbers should stay as they are, so that the map sums to less than 1. What rests on [CLS] can no longer be seen.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row = weights[..., 0, 1:]
    row = row / row.sum(dim=-1, keepdim=True)
    return row.reshape(*row.shape[:-1], rows, columns)

# %% [wrong] columns_by_rows | The numbers are laid out as (columns, rows), and turned over. Patches are read row by row, so it is (rows, columns) at once. The shape is right, and the patches lie in other places.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    patches = weights.select(-2, 0).narrow(-1, 1, rows * columns)
    return patches.unflatten(-1, (columns, rows)).transpose(-1, -2)

# %% [wrong] all_who_ask_averaged | The rows of all tokens are averaged. Only the row of [CLS] was asked for. The map says what the picture looks at as a whole, not what [CLS] looks at.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    per_patch = weights.mean(dim=-2)[..., 1:]
    return per_patch.view(*per_patch.shape[:-1], rows, columns)

# %% [wrong] last_patch_dropped | The last number of the row is left out, as if [CLS] stood at the end. It stands in front, so the first should be left out. The map begins with what [CLS] gives itself, and all patches are moved on by one.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    first_row = weights[..., 0, :]
    kept = first_row[..., : rows * columns]
    return torch.stack([kept[..., r * columns : (r + 1) * columns] for r in range(rows)], dim=-2)

# %% [wrong] self_weight_erased_in_place | The weight of [CLS] on itself is set to zero in the given weights before the row is cut. The weights should stay as they are. The map is right, but the caller's weights are changed, and their first row no longer sums to 1.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    with torch.no_grad():
        weights[..., 0, 0] = 0
    cls_row = weights[..., 0, :]
    return cls_row[..., 1:].unflatten(-1, (rows, columns))

# %% [right] flat_and_strided | Flattens the last two axes, in which [CLS] has the first row, and folds the stretch after its own number.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    _, stretch, _ = weights.flatten(-2).tensor_split([1, 1 + rows * columns], dim=-1)
    return torch.stack(stretch.split(columns, dim=-1), dim=-2)
