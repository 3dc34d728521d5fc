# %% [right] table_lookup | right
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirror = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=cells.device)
    plain = torch.arange(9, device=cells.device)
    order = torch.where(turned.unsqueeze(1), mirror, plain)
    cells = order.gather(1, cells.unsqueeze(1)).squeeze(1)
    patches = patches.gather(1, order.unsqueeze(-1).expand_as(patches))
    return cells, patches

# %% [wrong] not_mirrored_any_more | It stops mirroring: both are returned as they came.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    return cells, patches

# %% [wrong] all_cells_turned | The cells are mirrored in all scenes, also in those that are not turned.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    return 3 * row + (2 - column), patches

# %% [wrong] eight_minus_cell | 8 - cell is used for the mirrored place, which turns the rows round as well (a half turn).
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = torch.where(turned, 8 - cells, cells)
    return cells, patches

# %% [wrong] rows_flipped_for_cells | Row and column are mixed up: the row of the cell is mirrored instead of its column.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    cells = torch.where(turned, 3 * (2 - row) + column, cells)
    return cells, patches

# %% [wrong] upside_down_consistently | Both are mirrored, but top for bottom instead of left for right.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(1).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    cells = torch.where(turned, 3 * (2 - row) + column, cells)
    return cells, patches

# %% [wrong] digits_mirrored_too | The pixels of each patch are mirrored as well, although the digits should stay as they were written.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flip(-1).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    cells = torch.where(turned, 3 * row + 2 - column, cells)
    return cells, patches

# %% [wrong] patches_left_alone | Cells are mirrored but the patches are no longer: the fault is only on the other side now.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    row, column = cells // 3, cells % 3
    cells = torch.where(turned, 3 * row + 2 - column, cells)
    return cells, patches

# %% [wrong] in_place | The mirrored scenes are written into the tensors that were handed in.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    patches[turned] = patches[turned].unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    cells[turned] = 3 * (cells[turned] // 3) + 2 - cells[turned] % 3
    return cells, patches

# %% [wrong] only_turned_returned | Only the mirrored scenes are returned, so the shapes change.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    chosen = patches[turned].unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    where = cells[turned]
    return where // 3 * 3 + 2 - where % 3, chosen
