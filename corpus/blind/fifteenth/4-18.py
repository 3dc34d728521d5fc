# %% [wrong] rows_and_columns_exchanged | The grid of positions is resized to columns × rows in place of rows × columns. On a square picture nobody sees it; on any other one the positions stand at the wrong patches.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    maps = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=weight.shape[-2:])
    rows, columns = maps.shape[-2:]
    patches = maps.flatten(2).transpose(1, 2)  # (B, rows · columns, d_model)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=(columns, rows), mode="bicubic", align_corners=False)
    patches = patches + grid.flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(len(patches), 1, -1)
    return torch.cat([first, patches], dim=1).reshape(*lead, 1 + rows * columns, -1)


# %% [wrong] positions_reshaped_without_transposing | The positions (side², d_model) are reshaped to (d_model, side, side) at once, which mixes the numbers of different places. The width has to come before the places first: positions[1:].T.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    d_model, _, P, _ = weight.shape
    height, width = images.shape[-2] // P, images.shape[-1] // P
    flat = images.flatten(0, -4) if images.dim() > 4 else images
    tokens = F.conv2d(flat, weight, bias, stride=P).flatten(-2).transpose(-2, -1)
    tokens = tokens.reshape(*images.shape[:-3], height * width, d_model)

    side = int((positions.shape[0] - 1) ** 0.5 + 0.5)
    learned = positions[1:].reshape(1, d_model, side, side)
    learned = F.interpolate(learned, size=(height, width), mode="bicubic", align_corners=False)
    tokens = tokens + learned.squeeze(0).permute(1, 2, 0).flatten(0, 1)

    in_front = cls + positions[0]
    in_front = in_front.expand(*images.shape[:-3], 1, d_model)
    return torch.cat((in_front, tokens), dim=-2)
