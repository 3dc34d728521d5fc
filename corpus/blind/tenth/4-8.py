# %% [wrong] all_questions_mirrored | The places are mirrored in every scene, also in those that are not turned. Only the questions of mirrored scenes change.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = 3 * (cells // 3) + 2 - cells % 3
    return cells, patches

# %% [wrong] nothing_is_mirrored | Scenes and questions are both left as they are. They belong together, but the task is to mirror the scenes of turned.
def mirror_left_right(cells, patches, turned):
    return cells.clone(), patches.clone()

# %% [wrong] place_counted_from_the_end | The mirrored place is taken as 8 − cell, which turns rows and columns both. A mirror changes the column alone; only in the middle row it is the same.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.reshape(len(patches), 3, 3, -1).flip(2).reshape(patches.shape)
    new_patches = torch.where(turned.view(-1, 1, 1), mirrored, patches)
    new_cells = torch.where(turned, 8 - cells, cells)
    return new_cells, new_patches

# %% [wrong] digits_mirrored_as_well | The pixels of each patch are turned too (flip over the last axis). The patches change places, and the digits on them stay as they were written.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    order = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=cells.device)
    out_cells = torch.where(turned, order[cells], cells)
    flipped = patches[:, order].flip(-1)
    return out_cells, torch.where(turned[:, None, None], flipped, patches)

# %% [wrong] real_division_for_the_row | The row is computed with / in place of //, so the places become fractions (floating point numbers). They must stay integers; as word numbers they crash the embedding.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    row, column = cells / 3, cells % 3
    cells = torch.where(turned, 3 * row + (2 - column), cells)
    grid = patches.unflatten(1, (3, 3)).clone()
    grid[turned] = grid[turned].flip(2)
    return cells, grid.flatten(1, 2)

# %% [right] one_order_for_each_scene | A table of the mirrored places serves for both: the patches are gathered by it, and the question looks its place up in the same row.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    place = torch.arange(9, device=cells.device)
    across = place + 2 - 2 * place.remainder(3)
    table = torch.stack([place, across])[turned.long()]  # (B, 9)
    asked = table.gather(1, cells[:, None])[:, 0]
    return asked, patches.take_along_dim(table[:, :, None], dim=1)
