# %% [wrong] swaps_in_place | works on the tensor that came in: the result is right, but the caller's scenes are changed too
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    kept = image_patches[scene, first].clone()
    image_patches[scene, first] = image_patches[scene, second]
    image_patches[scene, second] = kept
    return image_patches


# %% [wrong] all_pairs_in_all_scenes | [:, first] with a tensor of B numbers addresses B patches in EVERY scene: the pairs of the other scenes are swapped as well; right for integers only
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped


# %% [wrong] views_overwritten | a, b = b, a on rows of a tensor: the right side holds views, not copies, so after the first assignment the first patch is lost and both places show the second
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B = image_patches.shape[0]
    pairs = zip(torch.as_tensor(first).expand(B).tolist(), torch.as_tensor(second).expand(B).tolist())
    out = image_patches.clone()
    for scene, (i, j) in zip(out, pairs):
        scene[i], scene[j] = scene[j], scene[i]
    return out


# %% [wrong] tensors_only | calls tensor methods on first and second: for plain integers, which the task allows, it raises an AttributeError
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, d = image_patches.shape
    index_1 = first.reshape(B, 1, 1).expand(B, 1, d)
    index_2 = second.reshape(B, 1, 1).expand(B, 1, d)
    patch_1 = image_patches.gather(1, index_1)
    patch_2 = image_patches.gather(1, index_2)
    return image_patches.scatter(1, index_1, patch_2).scatter(1, index_2, patch_1)


# %% [wrong] copied_one_way | the table of places is changed at one place only: the second patch is copied over the first, and the first one is gone, no swap
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    order = torch.arange(n, device=image_patches.device).repeat(B, 1)
    order[scene, first] = order[scene, second]
    return image_patches[scene.unsqueeze(1), order]


# %% [right] where_each_place_looks | computes for every place which patch belongs there, by two torch.where, and gathers
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, _ = image_patches.shape
    a, b = (torch.as_tensor(one, device=image_patches.device).reshape(-1, 1).expand(B, 1) for one in (first, second))
    place = torch.arange(n, device=image_patches.device).expand(B, n)
    source = torch.where(place == a, b, torch.where(place == b, a, place))
    return torch.take_along_dim(image_patches, source.long().unsqueeze(-1), dim=1)
