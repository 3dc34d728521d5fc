# %% [wrong] every_question_mirrored | The cells of all questions are mirrored, also where turned is False: there question and scene part company.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    row, column = cells // 3, cells % 3
    return 3 * row + 2 - column, patches


# %% [wrong] upside_down | Flips the axis of the rows and mirrors the row of the cell: both belong together, but top and bottom are exchanged, not left and right.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    order = torch.tensor([6, 7, 8, 3, 4, 5, 0, 1, 2], device=patches.device)
    new_cells, new_patches = cells.clone(), patches.clone()
    new_patches[turned] = patches[turned][:, order]
    new_cells[turned] = order[cells[turned]]
    return new_cells, new_patches


# %% [wrong] eight_minus_cell | The mirrored place is computed as 8 − cell, a half turn: it exchanges top and bottom as well. Only in the middle row is it right.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    out_cells, out_patches = [], []
    for cell, scene, turn in zip(cells, patches, turned):
        if turn:
            scene = scene.reshape(3, 3, -1).flip(1).reshape(9, -1)
            cell = 8 - cell
        out_cells.append(cell)
        out_patches.append(scene)
    return torch.stack(out_cells), torch.stack(out_patches)


# %% [wrong] table_without_middle_row | The table of mirrored places forgets the middle row: 3 and 5 stay where they are, in image and text alike. The middle row of a scene is not mirrored.
MIRROR_TABLE = (2, 1, 0, 3, 4, 5, 8, 7, 6)


def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    table = torch.tensor(MIRROR_TABLE, device=cells.device)
    source = torch.where(turned[:, None], table, torch.arange(9, device=cells.device))  # (B, 9)
    moved = patches.gather(1, source[..., None].expand_as(patches))
    return source.gather(1, cells[:, None])[:, 0], moved


# %% [wrong] digits_mirrored_too | Flips the last axis too, so that the numbers of a patch are turned round as well. The patches change places, but the digits on them should stay as they were written.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    def mirror(scenes):
        return scenes.unflatten(1, (3, 3)).flip(dims=(2, 3)).flatten(1, 2)

    cells = torch.where(turned, cells + 2 - 2 * (cells % 3), cells)
    return cells, torch.where(turned.reshape(-1, 1, 1), mirror(patches), patches)


# %% [right] index_arithmetic_gather | One index per scene and place: places + turned · 2 · (1 − column); the same formula serves the question and, through gather, the patches.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    def reflect(place, turn):
        return place + turn.long() * 2 * (1 - place % 3)

    source = reflect(torch.arange(9, device=patches.device).unsqueeze(0), turned.unsqueeze(1))  # (B, 9)
    return reflect(cells, turned), torch.take_along_dim(patches, source.unsqueeze(-1), dim=1)
