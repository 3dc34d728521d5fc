# %% [wrong] turned_by_half | `8 − cell` turns the grid by 180 degrees: top and bottom change as well.
def mirror_left_right(cells, patches, turned):
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = torch.where(turned, 8 - cells, cells)
    return cells, patches


# %% [wrong] all_questions_mirrored | The places are mirrored in all scenes, also in those that are not turned.
def mirror_left_right(cells, patches, turned):
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    return 3 * row + 2 - column, patches


# %% [wrong] no_mirror_any_more | The scenes are no longer mirrored: question and picture belong together, but the task is another one.
def mirror_left_right(cells, patches, turned):
    return cells, patches


# %% [wrong] row_lost | Only the column is computed, and the row is lost: every mirrored question asks about the top row.
def mirror_left_right(cells, patches, turned):
    flipped = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    new_cells = 2 - cells % 3
    cells = torch.where(turned, new_cells, cells)
    patches = torch.where(turned.view(-1, 1, 1), flipped, patches)
    return cells, patches


# %% [wrong] upside_down | The rows of the image are flipped, and the columns of the question.
def mirror_left_right(cells, patches, turned):
    grid = patches.unflatten(1, (3, 3)).flip(1)
    patches = torch.where(turned[:, None, None], grid.flatten(1, 2), patches)
    cells = torch.where(turned, cells - cells % 3 + (2 - cells % 3), cells)
    return cells, patches


# %% [wrong] question_only | The places are mirrored and the patches are left as they are: the fault has only changed sides.
def mirror_left_right(cells, patches, turned):
    mirrored = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=cells.device)
    cells = torch.where(turned, mirrored[cells], cells)
    return cells, patches


# %% [right] one_table_for_both | One table of the mirrored places serves the questions by lookup and the patches by `gather`.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    place = torch.arange(9, device=patches.device)
    mirror = place.reshape(3, 3).fliplr().reshape(9)
    source = torch.where(turned.unsqueeze(1), mirror, place)  # (B, 9)
    asked = source.gather(1, cells.unsqueeze(1)).squeeze(1).to(cells.dtype)
    return asked, patches.gather(1, source.unsqueeze(-1).expand_as(patches))
