# %% [wrong] one_patch_lost | the second assignment reads from the copy, which has changed already, so both places hold the second patch; it should read from the original
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    scene = torch.arange(len(image_patches), device=image_patches.device)
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = swapped[scene, first]
    return swapped

# %% [wrong] written_into_the_input | without clone() the swap happens in the tensor that went in; that one should stay as it is
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    a, b = image_patches[scene, first].clone(), image_patches[scene, second].clone()
    image_patches[scene, first] = b
    image_patches[scene, second] = a
    return image_patches

# %% [wrong] slice_with_tensors | swapped[:, first] with a tensor (B,) takes these patches in every scene and not one for each; right only for integers
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped

# %% [wrong] first_scene_only | the index has no scene axis: image_patches[first] addresses whole scenes, so scenes change places and not patches
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    result = image_patches.clone()
    result[first], result[second] = image_patches[second], image_patches[first]
    return result

# %% [wrong] tensors_only | the loop calls first[b] and second[b], which fails for plain integers ("int is not subscriptable"); integers, the same for all scenes, must do too
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    out = image_patches.clone()
    for b in range(image_patches.shape[0]):
        i, j = int(first[b]), int(second[b])
        out[b, i] = image_patches[b, j]
        out[b, j] = image_patches[b, i]
    return out

# %% [wrong] one_way | only the first place is filled with the second patch, and the second place keeps its own: a copy, no exchange
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    moved = image_patches.clone()
    moved[scene, first] = image_patches[scene, second]
    return moved

# %% [right] through_an_order | an order of the patches is made for each scene, 0…n−1 with the two numbers exchanged, and gathered once
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    count, n, width = image_patches.shape
    first, second = (
        torch.as_tensor(place, device=image_patches.device).long().expand(count).unsqueeze(1) for place in (first, second)
    )
    order = torch.arange(n, device=image_patches.device).expand(count, n)
    order = torch.where(order == first, second, torch.where(order == second, first, order))
    return image_patches.gather(1, order.unsqueeze(-1).expand(-1, -1, width))
