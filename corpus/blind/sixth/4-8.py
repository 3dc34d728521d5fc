# %% [wrong] all_questions_turned | The cells are mirrored for every scene, not only where turned is True, so in the scenes that stay as they are question and image part
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    return 3 * row + (2 - column), patches

# %% [wrong] half_turn | The cells become 8 − cell, which turns the scene by 180°: rows are mirrored as well, while the patches are only mirrored left for right
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    patches = torch.where(turned[:, None, None], grid.flip(2).flatten(1, 2), patches)
    cells = torch.where(turned, 8 - cells, cells)
    return cells, patches

# %% [wrong] upside_down | flip(1) and 2 − row mirror the rows: the scenes are turned upside down, together with their questions, instead of left for right
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    flipped = patches.unflatten(1, (3, 3)).flip(1).flatten(1, 2)
    new_cells = 3 * (2 - cells // 3) + cells % 3
    return torch.where(turned, new_cells, cells), torch.where(turned[:, None, None], flipped, patches)

# %% [wrong] the_other_scenes | The arguments of torch.where are exchanged in both lines, so the scenes that are not turned are mirrored, and those that are stay
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    order = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=cells.device)
    patches = torch.where(turned[:, None, None], patches, patches[:, order])
    cells = torch.where(turned, cells, order[cells])
    return cells, patches

# %% [wrong] no_mirror | Nothing is mirrored any more: questions and images belong together, but the task was to mend the mirroring, not to stop it
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    # left and right do not matter for a digit, so leave the scenes alone
    return cells.clone(), patches.clone()

# %% [wrong] pixels_mirrored | The numbers of each patch are reversed too (flip of the last axis), so the digits themselves are turned; only the patches are to change places
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip((2, 3)).flatten(1, 2)
    column = cells % 3
    cells = torch.where(turned, cells - column + (2 - column), cells)
    return cells, torch.where(turned[:, None, None], mirrored, patches)

# %% [right] lookup | a table of the mirrored places serves both the cells and, through gather, the patches
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    straight = torch.arange(9, device=patches.device)
    mirrored = straight + 2 - 2 * (straight % 3)
    place = torch.where(turned.unsqueeze(1), mirrored, straight)  # (B, 9): an own inverse
    moved = patches.gather(1, place.unsqueeze(-1).expand_as(patches))
    return place.gather(1, cells.unsqueeze(1)).squeeze(1), moved
