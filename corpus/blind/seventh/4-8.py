# %% [wrong] turned_by_half_a_circle | All nine patches are reversed and the place becomes 8 − cell: they belong together, but the scene is turned by 180° and not mirrored; the rows must stay.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    new_cells = torch.where(turned, 8 - cells, cells)
    new_patches = torch.where(turned[:, None, None], patches.flip(1), patches)
    return new_cells, new_patches

# %% [wrong] digits_mirrored_too | The pixels within the patches are mirrored as well, so the digits are written backwards; the patches change places, the digits stay as they were written.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    side = int(patches.shape[-1] ** 0.5)
    grid = patches.unflatten(1, (3, 3)).unflatten(-1, (side, side))  # (B, row, column, y, x)
    mirrored = grid.flip(2, -1).flatten(-2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = torch.where(turned, cells // 3 * 3 + (2 - cells % 3), cells)
    return cells, patches

# %% [wrong] rows_and_columns_exchanged | Rows and columns of the grid change places, in the patches and in the cells; that mirrors at the diagonal, top-right goes to bottom-left, and not left to right.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    row, column = cells // 3, cells % 3
    moved = patches.unflatten(1, (3, 3)).transpose(1, 2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], moved, patches)
    cells = torch.where(turned, 3 * column + row, cells)
    return cells, patches

# %% [wrong] cells_of_the_others | In the where for the cells the two cases are exchanged: the places change in the scenes that are not mirrored, and stay in those that are.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    patches = torch.where(turned.reshape(-1, 1, 1), mirrored, patches)
    other_side = 3 * (cells // 3) + 2 - cells % 3
    cells = torch.where(turned, cells, other_side)
    return cells, patches

# %% [wrong] brackets_in_the_wrong_place | The brackets make row · (3 + 2 − column) of row · 3 + (2 − column), so for the first row it always gives 0, and for others places that are wrong or above 8.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    patches = torch.where(turned[:, None, None], grid.flip(2).flatten(1, 2), patches)
    row, column = cells // 3, cells % 3
    cells = torch.where(turned, row * (3 + 2 - column), cells)
    return cells, patches

# %% [wrong] every_question_is_mirrored | The places are mirrored in every scene, whether `turned` says so or not, and the patches only where it does; half of the pairs do not belong together, now the other half.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = cells - cells % 3 + (2 - cells % 3)
    return cells, patches

# %% [right] a_table_of_places | one table says where each place goes in a mirror, for the cells and for the patches alike
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    opposite = torch.arange(9, device=patches.device).reshape(3, 3).flip(1).flatten()
    return (
        torch.where(turned, opposite.to(cells.dtype)[cells], cells),
        torch.where(turned[:, None, None], patches.index_select(1, opposite), patches),
    )
