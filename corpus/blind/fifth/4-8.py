# %% [wrong] all_questions_mirrored | the cells of all scenes are mirrored, not only of those with turned True; unmirrored scenes are then asked about the wrong place
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    patches = torch.where(turned[:, None, None], grid.flip(2).flatten(1, 2), patches)
    cells = 3 * (cells // 3) + 2 - cells % 3
    return cells, patches

# %% [wrong] half_turn | 8 − cell mirrors row and column (a half turn); only the column should change, so top-left becomes bottom-right in place of top-right
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    new_patches = torch.where(turned[:, None, None], mirrored, patches)
    new_cells = torch.where(turned, 8 - cells, cells)
    return new_cells, new_patches

# %% [wrong] upside_down | the scenes are flipped along the rows (flip(1)) and not along the columns, so they are turned top to bottom while the questions go left to right
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    upside = grid.flip(1).flatten(1, 2)
    moved = cells + 2 - 2 * (cells % 3)
    return torch.where(turned, moved, cells), torch.where(turned[:, None, None], upside, patches)

# %% [wrong] pixels_mirrored | the numbers of each patch are reversed (flip of the last axis) as well; the digits should stay as they were written
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2, 3).flatten(1, 2)
    row, column = cells // 3, cells % 3
    there = 3 * row + (2 - column)
    return torch.where(turned, there, cells), torch.where(turned[:, None, None], mirrored, patches)

# %% [wrong] mirroring_stopped | both come back unchanged: question and image fit, but no scene is mirrored, which is not what was asked
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    # the mirrored questions were wrong, so leave them out
    return cells, patches

# %% [wrong] row_and_column_swapped | the place is read as 3 × column + row: the "column" is cells // 3 and that is mirrored, so 0 becomes 6 (the one below) in place of 2
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    patches = torch.where(turned.reshape(-1, 1, 1), grid.flip(2).flatten(1, 2), patches)
    column, row = cells // 3, cells % 3
    other = 3 * (2 - column) + row
    return torch.where(turned, other, cells), patches

# %% [right] lookup_table | one list of nine numbers says where each place lies in the mirror, for the questions as well as for the patches
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirror = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=cells.device)
    asked = torch.where(turned, mirror[cells].to(cells.dtype), cells)
    shown = torch.where(turned[:, None, None], patches[:, mirror.to(patches.device)], patches)
    return asked, shown
