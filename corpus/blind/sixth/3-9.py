# %% [wrong] input_changed | Nothing is cloned (reading the two patches copies only these), so the tensor that goes in is changed and handed back
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    a, b = image_patches[scene, first], image_patches[scene, second]
    image_patches[scene, first] = b
    image_patches[scene, second] = a
    return image_patches

# %% [wrong] overwritten_before_read | The second line reads from the copy, where the first patch has been overwritten already: both places hold the second patch and the first is lost
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    scene = torch.arange(len(swapped), device=swapped.device)
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = swapped[scene, first]
    return swapped

# %% [wrong] every_pair_in_every_scene | [:, first] with tensors (B,) addresses the patches of all pairs in every scene, instead of one pair for each scene: all scenes are changed by all pairs
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped

# %% [wrong] tensors_only | first.unsqueeze needs tensors: plain integers, which the task allows, raise an AttributeError
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    place = torch.arange(image_patches.shape[1], device=image_patches.device).expand(len(image_patches), -1)
    order = torch.where(place == first.unsqueeze(1), second.unsqueeze(1), place)
    order = torch.where(place == second.unsqueeze(1), first.unsqueeze(1), order)
    return image_patches.gather(1, order.unsqueeze(-1).expand_as(image_patches))

# %% [wrong] copied_not_swapped | Only one direction is written: the second patch comes to the first place, and stays in the second one, too
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    out = image_patches.clone()
    rows = torch.arange(out.shape[0], device=out.device)
    out[rows, first] = image_patches[rows, second]
    return out

# %% [wrong] scenes_swapped | The indices stand on the first axis, so whole scenes of the batch are exchanged (or the index is out of range) instead of patches within a scene
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    result = image_patches.clone()
    result[first], result[second] = image_patches[second], image_patches[first]
    return result

# %% [right] gather_order | builds the new order of the patches for each scene, then one gather
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    count, n, _ = image_patches.shape
    first, second = (
        torch.as_tensor(one, dtype=torch.long, device=image_patches.device).expand(count).unsqueeze(1)
        for one in (first, second)
    )
    order = torch.arange(n, device=image_patches.device).repeat(count, 1)
    order = order.scatter(1, first, second).scatter(1, second, first)
    return image_patches.gather(1, order.unsqueeze(-1).expand_as(image_patches))
