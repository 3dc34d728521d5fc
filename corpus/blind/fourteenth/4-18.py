# %% [wrong] places_for_the_image_on_its_side | The positions are interpolated to (columns, rows) and not (rows, columns): where the image is not square, patches get the wrong places.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    grid = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=tuple(weight.shape[-2:]))
    rows, columns = grid.shape[-2:]
    patches = grid.flatten(2).transpose(1, 2)
    side = round((len(positions) - 1) ** 0.5)
    learned = positions[1:].T.reshape(1, -1, side, side)
    placed = F.interpolate(learned, size=(columns, rows), mode="bicubic", align_corners=False)
    patches = patches + placed.flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(len(patches), 1, -1)
    return torch.cat([first, patches], dim=1).unflatten(0, lead) if lead else torch.cat([first, patches], dim=1)[0]
