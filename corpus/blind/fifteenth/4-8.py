# %% [wrong] questions_of_all_scenes_mirrored | The place in question is mirrored in every scene, although only the scenes in turned are. The cells must change where turned is True, and stay elsewhere.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    cells = 3 * row + 2 - column
    return cells, patches


# %% [wrong] question_turned_upside_down_as_well | 8 - cell turns the place by half a turn: it mirrors the row along with the column. A mirror leaves the row as it is: 3 · row + 2 - column.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    order = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=patches.device)
    new_patches = patches.clone()
    new_patches[turned] = patches[turned][:, order]
    new_cells = torch.where(turned, 8 - cells, cells)
    return new_cells, new_patches
