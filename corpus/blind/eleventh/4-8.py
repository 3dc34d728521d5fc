# %% [wrong] every_question_mirrored | The column is mirrored in all questions, also in those whose scenes are not turned. So now the other half of the pairs does not belong together.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    grid = patches.unflatten(1, (3, 3))
    mirrored = grid.flip(2).flatten(1, 2)
    patches = torch.where(turned[:, None, None], mirrored, patches)
    cells = 3 * (cells // 3) + 2 - cells % 3
    return cells, patches

# %% [wrong] eight_minus_the_place | The place becomes 8 − place, which turns the grid by half a turn: the row changes as well. A mirror keeps the row; only in the middle row are the two the same.
def mirror_left_right(cells, patches, turned):
    mirrored = patches.reshape(-1, 3, 3, patches.shape[-1]).flip(2).reshape(patches.shape)
    patches = torch.where(turned.view(-1, 1, 1), mirrored, patches)
    cells = torch.where(turned, 8 - cells, cells)
    return cells, patches

# %% [wrong] upside_down | Scenes and questions are turned upside down, row 0 with row 2. They belong together, so the training succeeds, but left for right was asked for.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Some scenes mirrored, and their questions along with them."""
    B, n, d = patches.shape
    grid = patches.view(B, 3, 3, d)
    mirrored = torch.flip(grid, dims=[1]).reshape(B, n, d)
    row, column = cells // 3, cells % 3
    cells = torch.where(turned, 3 * (2 - row) + column, cells)
    return cells, torch.where(turned[:, None, None], mirrored, patches)

# %% [wrong] row_left_out | The new column 2 − column is taken for the new place, and the row is left out. Each question about a mirrored scene now is about the top row.
def mirror_left_right(cells, patches, turned):
    new_cells, new_patches = cells.clone(), patches.clone()
    for b in range(len(cells)):
        if turned[b]:
            new_cells[b] = 2 - cells[b] % 3
            new_patches[b] = patches[b].unflatten(0, (3, 3)).flip(1).flatten(0, 1)
    return new_cells, new_patches

# %% [wrong] digits_mirrored_as_well | The whole image is mirrored, pixels and all, as one augments photos. Places and questions fit, but the digits on the patches should stay as they were written.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    side = int(patches.shape[-1] ** 0.5)
    image = patches.reshape(-1, 3, 3, side, side)           # row, column, pixel row, pixel column
    image = image.flip(2, 4).reshape(patches.shape)
    patches = torch.where(turned[:, None, None], image, patches)
    cells = torch.where(turned, cells // 3 * 3 + (2 - cells % 3), cells)
    return cells, patches

# %% [right] one_table_for_both | A table says where each of the nine places goes; each scene has its row of the table, and both cells and patches are gathered with it.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    plain = torch.arange(9, device=cells.device)
    goes_to = torch.stack([plain, plain.view(3, 3).fliplr().flatten()])[turned.long()]  # (B, 9), its own inverse
    asked = goes_to.gather(1, cells.unsqueeze(1)).squeeze(1).to(cells.dtype)
    shown = patches.gather(1, goes_to.unsqueeze(-1).expand_as(patches))
    return asked, shown
