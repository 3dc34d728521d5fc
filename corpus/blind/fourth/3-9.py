# %% [wrong] changes_the_original | There is no copy: the images that go in are changed.
def swap_patches(image_patches, first, second):
    scene = torch.arange(len(image_patches), device=image_patches.device)
    a = image_patches[scene, first].clone()
    image_patches[scene, first] = image_patches[scene, second]
    image_patches[scene, second] = a
    return image_patches


# %% [wrong] one_patch_lost | Reads from the copy that has just been written: the first patch is lost, and the second one stands twice.
def swap_patches(image_patches, first, second):
    swapped = image_patches.clone()
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = swapped[scene, first]
    return swapped


# %% [wrong] views_in_a_tuple | With integers `out[:, first]` is a view; in the tuple swap the second assignment reads what the first one has written.
def swap_patches(image_patches, first, second):
    out = image_patches.clone()
    if isinstance(first, int):
        out[:, first], out[:, second] = out[:, second], out[:, first]
    else:
        b = torch.arange(len(out), device=out.device)
        out[b, first] = image_patches[b, second]
        out[b, second] = image_patches[b, first]
    return out


# %% [wrong] all_pairs_for_all_scenes | `[:, first]` with tensors writes every scene's pairs into every scene; right for integers only.
def swap_patches(image_patches, first, second):
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped


# %% [wrong] tensors_only | Indexes `first[b]`, which integers do not have.
def swap_patches(image_patches, first, second):
    result = image_patches.clone()
    for b in range(image_patches.shape[0]):
        i, j = first[b], second[b]
        result[b, i] = image_patches[b, j]
        result[b, j] = image_patches[b, i]
    return result


# %% [wrong] swaps_scenes | The first axis is indexed: whole scenes change places and not patches.
def swap_patches(image_patches, first, second):
    new = image_patches.clone()
    new[first] = image_patches[second]
    new[second] = image_patches[first]
    return new


# %% [right] gather_by_permutation | Builds for each scene the order of its patches with `where`, and gathers; integers become tensors first.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, d = image_patches.shape
    place = torch.arange(n, device=image_patches.device).expand(B, n)
    a, b = (torch.as_tensor(x, device=image_patches.device).expand(B).unsqueeze(1) for x in (first, second))
    order = torch.where(place == a, b, torch.where(place == b, a, place))
    return torch.take_along_dim(image_patches, order.unsqueeze(-1), dim=1)
