# %% [wrong] swap_of_two_views | The Python swap of tensor slices works on views: after the first assignment the second view shows the new numbers already, so one patch stands there twice and the other is lost.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    scene = torch.arange(len(swapped), device=swapped.device)
    if isinstance(first, int) and isinstance(second, int):
        swapped[:, first], swapped[:, second] = swapped[:, second], swapped[:, first]
    else:
        swapped[scene, first], swapped[scene, second] = image_patches[scene, second], image_patches[scene, first]
    return swapped

# %% [wrong] integers_only | The order is a Python list whose elements are exchanged, which only works for one pair of integers; tensors (B,), a pair for each scene, raise an error.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    order = list(range(image_patches.shape[1]))
    order[first], order[second] = order[second], order[first]
    return image_patches[:, order]

# %% [wrong] every_pair_in_every_scene | swapped[:, first] with a tensor (B,) writes the patches of all pairs into every scene, instead of one patch in each; the scene's own index is missing.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped

# %% [wrong] pixels_instead_of_patches | The last axis is indexed, so two pixels change places in every patch of a scene; the patches are axis 1.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    result = image_patches.clone()
    b = torch.arange(image_patches.shape[0], device=image_patches.device)
    result[b, :, first] = image_patches[b, :, second]
    result[b, :, second] = image_patches[b, :, first]
    return result

# %% [wrong] the_others_are_gone | The new tensor begins as zeros and only the two patches are written into it, so all other patches are empty; it should begin as a copy.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    swapped = torch.zeros_like(image_patches)
    swapped[scene, first] = image_patches[scene, second]
    swapped[scene, second] = image_patches[scene, first]
    return swapped

# %% [wrong] original_overwritten | The two patches are kept in copies, but they are written into image_patches itself, and that is returned; the tensor that goes in must stay as it is.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    one = image_patches[scene, first].clone()
    other = image_patches[scene, second].clone()
    image_patches[scene, first] = other
    image_patches[scene, second] = one
    return image_patches

# %% [right] a_new_order | makes the order of the patches for each scene with two torch.where, and takes the patches along it
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    device = image_patches.device
    one, other = (torch.as_tensor(place, device=device).reshape(-1, 1) for place in (first, second))
    place = torch.arange(image_patches.shape[1], device=device).expand(image_patches.shape[:2])
    order = torch.where(place == one, other, torch.where(place == other, one, place)).long()
    return torch.take_along_dim(image_patches, order.unsqueeze(-1), dim=1)
