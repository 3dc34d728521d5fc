# %% [wrong] cells_unchanged | Only the patches are mirrored; the place that is asked about stays where it was.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    return cells, patches
# %% [wrong] no_mirroring | Nothing is mirrored any more: both come back as they were.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    return cells, patches
# %% [wrong] all_cells_turned | The places of all scenes are mirrored, also of those that are not turned.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    cells = 3 * row + 2 - column
    return cells, patches
# %% [wrong] eight_minus | The place is mirrored as 8 − cell, which also turns top to bottom.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = torch.where(turned, 8 - cells, cells)
    return cells, patches
# %% [wrong] upside_down | The rows are flipped, not the columns: the scene is turned upside down, and the question with it.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(1).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    cells = torch.where(turned, 3 * (2 - row) + column, cells)
    return cells, patches
# %% [wrong] rows_and_columns_swapped | Row and column are mixed up: cell // 3 is the row, and it is treated as the column.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    column, row = cells // 3, cells % 3
    cells = torch.where(turned, 3 * row + (2 - column), cells)
    return cells, patches
# %% [wrong] where_swapped | The scenes that are not turned are mirrored, and those that are turned stay.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], patches, mirrored)
    cells = torch.where(turned, cells, cells // 3 * 3 + 2 - cells % 3)
    return cells, patches
# %% [wrong] three_minus_column | The column becomes 3 − column, which runs out of the row: columns are 0 to 2.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    cells = torch.where(turned, 3 * row + (3 - column), cells)
    return cells, patches
# %% [wrong] pixels_flipped | The numbers within each patch are flipped as well, so the digits are written backwards.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    mirrored = patches.unflatten(1, (3, 3)).flip(2, 3).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = torch.where(turned, cells - cells % 3 + 2 - cells % 3, cells)
    return cells, patches
# %% [wrong] cells_in_place | The places of the caller are overwritten in place.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells[turned] = 3 * (cells[turned] // 3) + 2 - cells[turned] % 3
    return cells, patches
# %% [right] lookup_table | One table of nine mirrored places serves both the cells and the patches.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    place = torch.arange(9, device=cells.device)
    table = place.view(3, 3).fliplr().flatten()
    order = torch.where(turned[:, None], table, place)
    return order.gather(1, cells[:, None])[:, 0], patches.gather(1, order[..., None].expand_as(patches))
# %% [right] arithmetic_on_turned | Adds twice the distance from the middle column, multiplied by turned; assigns the mirrored scenes to a copy.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    moved = cells + 2 * (1 - cells % 3) * turned
    shown = patches.clone()
    shown[turned] = patches[turned][:, [2, 1, 0, 5, 4, 3, 8, 7, 6]]
    return moved, shown
