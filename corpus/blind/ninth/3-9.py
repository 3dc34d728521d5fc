# %% [wrong] no_copy | The patches are exchanged in the tensor that was handed in. A new tensor should come back, and the old one stay as it is. After the call the original scene is swapped, too.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    a, b = image_patches[scene, first], image_patches[scene, second]
    image_patches[scene, first] = b
    image_patches[scene, second] = a
    return image_patches

# %% [wrong] kept_patch_is_a_view | For integers the first patch is 'kept' by a slice, which is a view of the copy. It should be read from the original, or cloned. When the second patch has been written there, the first one is lost, and both places show the second.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    if isinstance(first, int) and isinstance(second, int):
        kept = swapped[:, first]
        swapped[:, first] = swapped[:, second]
        swapped[:, second] = kept
        return swapped
    for b, (i, j) in enumerate(zip(first.tolist(), second.tolist())):
        swapped[b, i], swapped[b, j] = image_patches[b, j], image_patches[b, i]
    return swapped

# %% [wrong] all_pairs_in_all_scenes | The scenes are addressed by a colon. With tensors (B,) each scene has its own pair, so an arange is needed there. Every scene gets the swaps of all scenes.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    out = torch.clone(image_patches)
    out[:, first] = image_patches[:, second]
    out[:, second] = image_patches[:, first]
    return out

# %% [wrong] one_way_only | The second patch is copied to the first place, and that is all. The first one should go to the second place as well. One digit stands there twice, and the other is gone.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B = len(image_patches)
    rows = torch.arange(B, device=image_patches.device)
    moved = image_patches.clone()
    moved[rows, first] = image_patches[rows, second]
    return moved

# %% [wrong] scatter_moves_one_pixel | The index for scatter has length 1 on the last axis. scatter does not broadcast: it should be expanded to the width d. Only the first number of each patch changes places.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, d = image_patches.shape

    def column(which):
        which = torch.as_tensor(which, device=image_patches.device)
        return which.expand(B).reshape(B, 1, 1)

    i, j = column(first), column(second)
    a = image_patches.gather(1, i.expand(B, 1, d))
    b = image_patches.gather(1, j.expand(B, 1, d))
    return image_patches.scatter(1, i, b).scatter(1, j, a)

# %% [wrong] swap_by_plus_and_minus | The swap is done by adding and subtracting, to save a copy. With floats this rounds, and where first and second are the same patch it wipes it out. The patches should be copied.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    x = image_patches.clone()
    s = torch.arange(x.size(0), device=x.device)
    x[s, first] = x[s, first] + x[s, second]
    x[s, second] = x[s, first] - x[s, second]
    x[s, first] = x[s, first] - x[s, second]
    return x

# %% [right] order_table_and_gather | Makes a table of which patch goes where, swaps two of its entries with torch.where, and gathers.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, _ = image_patches.shape
    place = torch.arange(n, device=image_patches.device).expand(B, n)
    i, j = (torch.as_tensor(one, device=place.device).expand(B)[:, None] for one in (first, second))
    order = torch.where(place == i, j, torch.where(place == j, i, place))
    return torch.take_along_dim(image_patches, order.unsqueeze(-1), dim=1)
