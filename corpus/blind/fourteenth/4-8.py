# %% [wrong] question_turned_by_half_a_turn | The place becomes 8 − cell, which turns the grid by half a turn: rows are reversed as well, though a mirror changes the column alone.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = torch.where(turned, 8 - cells, cells)
    return cells, patches
