# %% [wrong] turned_by_180_degrees | uses 8 - cell for the mirrored place: that also turns the rows over (a half turn), right only for places in the middle row
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = torch.where(turned, 8 - cells, cells)
    return cells, patches


# %% [wrong] upside_down | flips the axis of the rows and moves the cells to match: question and scene belong together again, but it is a mirror top to bottom, not left to right
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    order = torch.arange(9, device=patches.device).view(3, 3).flipud().flatten()  # 6 7 8 3 4 5 0 1 2
    index = torch.where(turned[:, None], order, torch.arange(9, device=patches.device))
    patches = patches.gather(1, index.unsqueeze(-1).expand_as(patches))
    cells = index.gather(1, cells.unsqueeze(1)).squeeze(1)
    return cells, patches


# %% [wrong] digits_mirrored_too | flips the last axis as well, so that the numbers within each patch are reversed: the digits must stay as they were written, only patches change places
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    row, column = cells // 3, cells % 3
    cells = torch.where(turned, 3 * row + (2 - column), cells)
    image = patches.reshape(-1, 3, 3, patches.shape[-1])
    image = torch.where(turned.reshape(-1, 1, 1, 1), image.flip(dims=(2, 3)), image)
    return cells, image.reshape(patches.shape)


# %% [wrong] all_questions_moved | the places are mirrored in every question, also where the scene is not turned: those pairs, right before, are wrong now
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    swap = [2, 1, 0, 5, 4, 3, 8, 7, 6]
    cells = torch.tensor(swap, device=cells.device)[cells]
    new_patches = patches.clone()
    new_patches[turned] = patches[turned][:, swap]
    return cells, new_patches


# %% [wrong] row_and_column_mixed_up | takes cells % 3 for the row and cells // 3 for the column: the place is 3 x row + column, so the questions are moved by rows while the scene is mirrored by columns
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    def mirror_cell(cell: int) -> int:
        column, row = divmod(cell, 3)
        return 3 * (2 - column) + row

    cells = torch.tensor(
        [mirror_cell(c) if t else c for c, t in zip(cells.tolist(), turned.tolist())], device=cells.device
    )
    scenes = []
    for scene, t in zip(patches, turned):
        grid = scene.view(3, 3, -1)
        scenes.append((grid.flip(1) if t else grid).reshape(9, -1))
    return cells, torch.stack(scenes)


# %% [right] sign_arithmetic | the columns as -1, 0, 1 and a sign for each scene; the same map moves questions and patches
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    sign = 1 - 2 * turned.long()
    moved = lambda place, by: place + (by - 1) * (place % 3 - 1)  # by −1: column 0 ↔ 2
    places = torch.arange(9, device=patches.device).expand(len(patches), 9)
    source = moved(places, sign.to(patches.device).unsqueeze(1))
    return moved(cells, sign), patches.take_along_dim(source.unsqueeze(-1), dim=1)
