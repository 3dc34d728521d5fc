# %% [right] divmod_column_mirrored | row and column by // and %, 2 - column, torch.where, after flip augmentation code that mirrors boxes (torchvision references)
def mirror_left_right(cells, patches, turned):
    b, n, d = patches.shape
    flipped = patches.view(b, 3, 3, d).flip(dims=(2,)).reshape(b, n, d)
    row, col = torch.div(cells, 3, rounding_mode="floor"), cells % 3
    mirrored_cells = 3 * row + (2 - col)
    return torch.where(turned, mirrored_cells, cells), torch.where(turned.view(-1, 1, 1), flipped, patches)


# %% [right] lookup_table_for_both | one table of mirrored places for cells and patches, after keypoint flip pairs (COCO flip_pairs in pose estimation code)
def mirror_left_right(cells, patches, turned):
    flip_pairs = torch.tensor([2, 1, 0, 5, 4, 3, 8, 7, 6], device=cells.device)
    new_cells = cells.clone()
    new_patches = patches.clone()
    new_cells[turned] = flip_pairs[cells[turned]].to(cells.dtype)
    new_patches[turned] = patches[turned][:, flip_pairs]
    return new_cells, new_patches


# %% [right] gather_with_index_per_scene | an index (B, 9), turned or not, gather for the patches, after batch-wise augmentation code (kornia like)
def mirror_left_right(cells, patches, turned):
    place = torch.arange(9, device=patches.device)
    mirrored_place = place + 2 - 2 * (place % 3)
    index = torch.where(turned.unsqueeze(1), mirrored_place, place)  # (B, 9)
    out = torch.gather(patches, 1, index.unsqueeze(-1).expand_as(patches))
    asked = index.gather(1, cells.long().unsqueeze(1)).squeeze(1).to(cells.dtype)
    return asked, out
