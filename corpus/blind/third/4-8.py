# %% [wrong] all_questions_mirrored | Mirrors the question of every scene, of those too that are not turned.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    return 3 * row + 2 - column, patches

# %% [wrong] turned_upside_down_too | Replaces the cell by 8 − cell, which mirrors rows and columns; only the column changes.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.reshape(len(patches), 3, 3, -1)
    flipped = grid.flip(2).reshape(patches.shape)
    return torch.where(turned, 8 - cells, cells), torch.where(turned.view(-1, 1, 1), flipped, patches)

# %% [wrong] never_mirrored | Stops mirroring: questions and scenes belong together again, but no scene is mirrored.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    return cells.clone(), patches.clone()

# %% [wrong] mirrored_top_to_bottom | Flips the axis of the rows in the image, and the columns in the question.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    swap = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=cells.device)
    mirrored = patches.unflatten(1, (3, 3)).flip(1).flatten(1, 2)
    new_patches = torch.where(turned[:, None, None], mirrored, patches)
    return torch.where(turned, swap[cells], cells), new_patches

# %% [wrong] column_off_by_one | Computes the new column as 3 − column: places slip by one, and column 0 falls into the next row.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    order = torch.arange(9, device=patches.device).reshape(3, 3).flip(1).flatten()
    mirrored_cells = cells // 3 * 3 + (3 - cells % 3)
    shown = torch.where(turned[:, None, None], patches[:, order], patches)
    return torch.where(turned, mirrored_cells, cells), shown

# %% [wrong] pixels_mirrored_too | Mirrors the numbers within each patch as well; the digits stay as they were written.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2, 3).flatten(1, 2)
    asked = cells + (2 - 2 * (cells % 3)) * turned
    return asked, torch.where(turned[:, None, None], mirrored, patches)

# %% [right] one_index_for_both | A table of mirrored places, which is its own inverse, serves the question and, by gather, the patches.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    straight = torch.arange(9, device=patches.device)
    mirrored = straight + 2 - 2 * straight.remainder(3)
    table = torch.where(turned.unsqueeze(1), mirrored, straight)  # (B, 9)
    new_cells = table.gather(1, cells.unsqueeze(1)).squeeze(1)
    return new_cells, patches.gather(1, table.unsqueeze(-1).expand_as(patches))
