# %% [wrong] laid_out_column_by_column | The patches are laid out column by column and then turned to the right shape, though they are numbered row by row.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    looks = weights[..., 0, 1:]
    return looks.unflatten(-1, (columns, rows)).transpose(-2, -1)
