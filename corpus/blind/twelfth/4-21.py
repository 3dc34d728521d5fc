# %% [wrong] column_of_cls | takes the column of [CLS], that is how much each patch looks at [CLS], instead of its row, what [CLS] looks at
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 1:, 0].reshape(*weights.shape[:-2], rows, columns)


# %% [wrong] renormalised | divides by the sum so that the map sums to 1; the text wants the numbers as they are, so that what rests on [CLS] is missing
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    to_patches = weights[..., 0, 1:]
    to_patches = to_patches / to_patches.sum(-1, keepdim=True)
    return to_patches.unflatten(-1, (rows, columns))


# %% [wrong] laid_out_by_columns | lays the patches out column by column: view as (columns, rows) and transposed has the right shape, but each number stands at the place of another patch unless there is only one row or column
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    row = weights.select(-2, 0).narrow(-1, 1, rows * columns)
    return row.unflatten(-1, (columns, rows)).transpose(-1, -2)


# %% [wrong] cls_at_the_end | drops the last column instead of the first, as if [CLS] came last: the map begins with what [CLS] gives itself, and everything is shifted by one patch
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    answer = weights.new_zeros(*weights.shape[:-2], rows, columns)
    for r in range(rows):
        for c in range(columns):
            answer[..., r, c] = weights[..., 0, r * columns + c]
    return answer


# %% [wrong] heads_averaged | averages over the axis in front as if it always were the heads and one map were wanted: the result lacks an axis that the text keeps, (..., rows, columns)
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    if weights.dim() > 2:
        weights = weights.mean(dim=-3)
    return torch.stack([part for part in weights[..., 0, 1:].split(columns, dim=-1)], dim=-2)


# %% [right] gather_by_index | a grid of token numbers, made once, picks from the row of [CLS]
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    number = torch.arange(1, rows * columns + 1, device=weights.device).view(rows, columns)
    (asking,) = weights[..., :1, :].unbind(-2)
    return asking[..., number]
