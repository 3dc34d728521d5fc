# %% [wrong] first_is_lost | Reads from the copy that has already been changed: the first patch is overwritten and appears nowhere any more.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    swapped = image_patches.clone()
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = swapped[scene, first]
    return swapped

# %% [wrong] no_copy | Swaps in the tensor that goes in; a new one is asked for.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    b = torch.arange(image_patches.shape[0], device=image_patches.device)
    kept = image_patches[b, first].clone()
    image_patches[b, first] = image_patches[b, second]
    image_patches[b, second] = kept
    return image_patches

# %% [wrong] every_scene_every_pair | Indexes with [:, first]: with tensors that takes the places of all scenes in every scene.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    result = image_patches.clone()
    result[:, first] = image_patches[:, second]
    result[:, second] = image_patches[:, first]
    return result

# %% [wrong] integers_only | Builds an order of the patches with list assignment: right for integers, an error for tensors (B,).
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    order = list(range(image_patches.shape[1]))
    order[first], order[second] = order[second], order[first]
    return image_patches[:, order]

# %% [wrong] tensors_only | Loops over first and second as if they were tensors: integers cannot be iterated over.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scenes = []
    for scene, a, b in zip(image_patches, first, second):
        changed = scene.clone()
        changed[a], changed[b] = scene[b], scene[a]
        scenes.append(changed)
    return torch.stack(scenes)

# %% [wrong] scenes_swapped | Indexes the first axis: it exchanges two scenes of the batch in place of two patches of each scene.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    out = image_patches.clone()
    out[first], out[second] = image_patches[second], image_patches[first]
    return out

# %% [right] where_with_marks | Marks the two places in every scene by comparison and chooses with torch.where, without writing into anything.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, _ = image_patches.shape
    place = torch.arange(n, device=image_patches.device).expand(B, n)
    first, second = (torch.as_tensor(one, device=image_patches.device).reshape(-1, 1).expand(B, 1) for one in (first, second))
    source = torch.where(place == first, second, torch.where(place == second, first, place))
    return torch.take_along_dim(image_patches, source.unsqueeze(-1), dim=1)
