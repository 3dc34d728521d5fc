# %% [right] gather_an_order | right
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, d = image_patches.shape
    first = torch.as_tensor(first, device=image_patches.device).expand(B).unsqueeze(1)
    second = torch.as_tensor(second, device=image_patches.device).expand(B).unsqueeze(1)
    place = torch.arange(n, device=image_patches.device).expand(B, n)
    order = torch.where(place == first, second, torch.where(place == second, first, place))
    return image_patches.gather(1, order.unsqueeze(-1).expand(B, n, d))

# %% [wrong] in_place | There is no copy: the patches are swapped in the tensor that was passed in.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    kept = image_patches[scene, first].clone()
    image_patches[scene, first] = image_patches[scene, second]
    image_patches[scene, second] = kept
    return image_patches

# %% [wrong] second_read_from_copy | The second assignment reads from the copy that was already changed, so one patch is lost and the other stands there twice.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    scene = torch.arange(len(swapped), device=swapped.device)
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = swapped[scene, first]
    return swapped

# %% [wrong] colon_for_scene | swapped[:, first] with a (B,) tensor addresses all these patches in every scene, not one pair for each scene.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped

# %% [wrong] pixels_swapped | The index stands on the last axis, so two pixels change places in every patch instead of two patches.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    swapped[..., first] = image_patches[..., second]
    swapped[..., second] = image_patches[..., first]
    return swapped

# %% [wrong] scenes_swapped | The index stands on the batch axis, so whole scenes change places instead of patches.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    swapped[first] = image_patches[second]
    swapped[second] = image_patches[first]
    return swapped

# %% [wrong] tensors_only | It calls .unsqueeze/.view on first and second, so plain integers do not work.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, d = image_patches.shape
    i = first.view(B, 1, 1).expand(B, 1, d)
    j = second.view(B, 1, 1).expand(B, 1, d)
    swapped = image_patches.clone()
    swapped.scatter_(1, i, image_patches.gather(1, j))
    swapped.scatter_(1, j, image_patches.gather(1, i))
    return swapped

# %% [wrong] only_one_way | Only the first place gets the other patch; the second place keeps its own.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    scene = torch.arange(len(image_patches), device=image_patches.device)
    swapped[scene, first] = image_patches[scene, second]
    return swapped
