# %% [wrong] remainder_of_the_double | The new place is cells + 2 − 2 * cells % 3, where Python takes the remainder of the double. It should be 2 * (cells % 3). Columns 1 and 2 come out wrong.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    new_cells = torch.where(turned, cells + 2 - 2 * cells % 3, cells)
    return new_cells, torch.where(turned[:, None, None], mirrored, patches)

# %% [wrong] all_questions_are_turned | The places of all questions are mirrored. Only those of the mirrored scenes should be. In the scenes that stay as they are, question and image no longer belong together.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    row, column = cells // 3, cells % 3
    cells = 3 * row + (2 - column)
    grid = patches.reshape(-1, 3, 3, patches.shape[-1])
    grid = torch.where(turned.view(-1, 1, 1, 1), grid.flip(dims=(2,)), grid)
    return cells, grid.reshape(patches.shape)

# %% [wrong] half_turn_of_the_question | The new place is 8 − cell, which is a half turn. A mirror changes the column alone and keeps the row. Questions about the top row are answered by the bottom row.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    order = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=patches.device)
    cells = torch.where(turned, 8 - cells, cells)
    patches = torch.where(turned[:, None, None], patches[:, order], patches)
    return cells, patches

# %% [wrong] mirrors_the_given_scenes | The mirrored scenes are written into the tensors that were handed in. New ones should come back. The result is right, but the training data itself is mirrored, and the next epoch mirrors it back.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    some = turned.nonzero().squeeze(1)
    patches[some] = patches[some].view(len(some), 3, 3, -1).flip(2).reshape(len(some), 9, -1)
    cells[some] = cells[some] // 3 * 3 + 2 - cells[some] % 3
    return cells, patches

# %% [wrong] switch_of_one_axis | turned (B,) is handed to torch.where beside patches (B, 9, d) as it is. It needs two axes more. It is laid on the last axis: an error, or, where B is d, some pixels are mirrored in all scenes.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    flipped = torch.flip(patches.unflatten(1, (3, 3)), [2]).flatten(1, 2)
    there = cells - cells % 3 + (2 - cells % 3)
    return torch.where(turned, there, cells), torch.where(turned, flipped, patches)

# %% [wrong] mirrored_ones_come_on_top | The mirrored scenes are put behind the others, as more data. Both results should have the shapes that went in, with each mirrored scene in its place. The batch grows.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    column = cells % 3
    extra_cells = (cells - column + 2 - column)[turned]
    extra_patches = patches[turned].unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    return torch.cat([cells, extra_cells]), torch.cat([patches, extra_patches])

# %% [right] one_table_for_both | A table of where each place goes serves both: the questions look it up, and the patches are gathered by it.
def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.arange(9, device=cells.device)
    goes_to = torch.stack([places, places.reshape(3, 3).fliplr().flatten()])[turned.long()]
    asked = goes_to.gather(1, cells.unsqueeze(1).long()).squeeze(1).to(cells.dtype)
    return asked, patches.gather(1, goes_to.unsqueeze(-1).expand_as(patches))
