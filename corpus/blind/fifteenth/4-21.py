# %% [wrong] who_looks_at_cls | This is the column of [CLS]: how much each patch looks at [CLS]. Rows ask, so what [CLS] looks at is its row, weights[..., 0, 1:].
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    return weights[..., 1:, 0].unflatten(-1, (rows, columns))


# %% [wrong] patches_laid_out_column_by_column | The patches are laid out down the columns. They lie as a page is read, row by row: unflatten to (rows, columns), without a transpose.
def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    of_cls = weights[..., 0, :]
    of_patches = of_cls[..., 1:]
    grid = of_patches.reshape(*of_patches.shape[:-1], columns, rows)
    return grid.transpose(-2, -1)
