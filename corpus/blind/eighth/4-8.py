# %% [wrong] half_a_turn | The place becomes 8 − cell, which is a half turn of the grid; a mirror keeps the row and turns the column round, 3 · row + 2 − column. Right in the middle row alone.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    return torch.where(turned, 8 - cells, cells), patches

# %% [wrong] every_question_mirrored | The places are mirrored for all scenes; they should be for those that are turned alone. In the scenes that stay as they are left and right are now exchanged in the question.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    patches = torch.where(turned[:, None, None], grid.flip(2).flatten(1, 2), patches)
    row, column = cells // 3, cells % 3
    return 3 * row + 2 - column, patches

# %% [wrong] digits_in_mirror_writing | The last axis is flipped as well (flip(2, 3)), so the pixels of every patch are reversed; only the patches should change places, the digits stay as they were written.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2, 3).flatten(1, 2)
    patches = torch.where(turned.reshape(-1, 1, 1), mirrored, patches)
    cells = torch.where(turned, cells + 2 - 2 * (cells % 3), cells)
    return cells, patches

# %% [wrong] the_row_is_lost | The mirrored place is 2 − column without 3 · row; it should be 3 · row + 2 − column. All turned questions ask about the first row.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = torch.where(turned, 2 - cells % 3, cells)
    return cells, patches

# %% [wrong] the_others_are_mirrored | In torch.where of the patches the two sides are exchanged, so the scenes that are not turned are mirrored; the mirrored ones should stand first. Question and scene never belong together, but for the middle column.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    table = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=cells.device)
    patches = torch.where(turned[:, None, None], patches, patches[:, table])
    cells = torch.where(turned, table[cells], cells)
    return cells, patches

# %% [wrong] upside_down_in_the_question | In the question the row is turned round, 3 · (2 − row) + column; it should be the column, as in the image.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    across, down = cells // 3, cells % 3
    return torch.where(turned, 3 * (2 - across) + down, cells), patches

# %% [right] one_table_for_both | One table says where each place goes in a mirror, and serves the question and, as an index, the patches.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirror = torch.arange(9, device=patches.device).reshape(3, 3).flip(1).flatten()  # 2 1 0, 5 4 3, 8 7 6
    cells = torch.where(turned, mirror.to(cells)[cells], cells)
    patches = torch.where(turned[:, None, None], patches[:, mirror], patches)
    return cells, patches
