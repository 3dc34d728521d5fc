# %% [wrong] one_order_for_all_scenes | One order of the n places is made and used for every scene; with tensors (B,) each scene has its own pair. Right for integers; with tensors the exchanges of all scenes are mixed up in one order.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    order = torch.arange(image_patches.shape[1], device=image_patches.device)
    places = order.clone()
    places[first], places[second] = order[second], order[first]
    return image_patches[:, places]

# %% [wrong] only_pairs_in_lists | The scenes are gone through with zip(first, second), which wants something to iterate over; plain integers should work, too. swap_patches(patches, 0, 1) raises a TypeError.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    for scene, (a, b) in enumerate(zip(first, second)):
        swapped[scene, a] = image_patches[scene, b]
        swapped[scene, b] = image_patches[scene, a]
    return swapped

# %% [wrong] as_many_scenes_as_patches | scene counts to image_patches.shape[1], the number of patches; it should be shape[0], the number of scenes. With integers the scenes after the n-th stay as they are, or an index is out of range; with tensors the lengths do not fit.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(image_patches.shape[1], device=image_patches.device)
    swapped = image_patches.clone()
    swapped[scene, first] = image_patches[scene, second]
    swapped[scene, second] = image_patches[scene, first]
    return swapped

# %% [wrong] read_from_the_copy | The second line reads from the copy, whose first patch has been overwritten already; it should read from the original. Both places show the second patch, and the first one is lost.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    scene = torch.arange(len(swapped), device=swapped.device)
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = swapped[scene, first]
    return swapped

# %% [wrong] pixels_exchanged | The last axis is indexed, so two pixels of every patch change places; it should be the axis of the patches, the last but one.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    changed = image_patches.clone()
    scene = torch.arange(len(changed), device=changed.device)
    changed[scene, :, first] = image_patches[scene, :, second]
    changed[scene, :, second] = image_patches[scene, :, first]
    return changed

# %% [wrong] the_original_is_changed_too | detach() is taken for a copy, and the patches are exchanged in the tensor that came in; it should be clone(). What is returned is right, and the caller's scenes are swapped as well.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.detach()
    scene = torch.arange(len(swapped), device=swapped.device)
    kept = swapped[scene, first].clone()
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = kept
    return swapped

# %% [right] gathered_by_where | For each scene a row of indices is made with two torch.where, and gather fetches the patches: nothing is written in place.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    device = image_patches.device
    first, second = (torch.as_tensor(one, device=device).reshape(-1, 1) for one in (first, second))
    place = torch.arange(image_patches.shape[1], device=device)
    source = torch.where(place == first, second, torch.where(place == second, first, place))
    source = source.expand(len(image_patches), -1)
    return image_patches.gather(1, source.unsqueeze(-1).expand_as(image_patches))
