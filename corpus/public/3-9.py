# %% [right] clone_and_advanced_indexing | clone, scene index, two assignments from the original, after jacobgil style perturbation code
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    swapped[scene, first] = image_patches[scene, second]
    swapped[scene, second] = image_patches[scene, first]
    return swapped


# %% [right] permutation_and_gather | a permutation of places for each scene and torch.gather, after willh003/causal-earth (pixel_swap)
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    b, n, d = image_patches.shape
    device = image_patches.device
    first = torch.as_tensor(first, device=device).expand(b)
    second = torch.as_tensor(second, device=device).expand(b)
    idx = torch.arange(n, device=device).repeat(b, 1)
    idx.scatter_(1, first[:, None], second[:, None])
    idx.scatter_(1, second[:, None], first[:, None])
    return torch.gather(image_patches, 1, idx[..., None].expand(-1, -1, d))


# %% [right] two_torch_where | torch.where with the place compared to first and second, after mask based mixing (cutmix code)
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    b, n, _ = image_patches.shape
    place = torch.arange(n, device=image_patches.device)
    first = torch.as_tensor(first, device=image_patches.device).reshape(-1, 1).expand(b, 1)
    second = torch.as_tensor(second, device=image_patches.device).reshape(-1, 1).expand(b, 1)
    rows = torch.arange(b, device=image_patches.device)[:, None]
    patch_first, patch_second = image_patches[rows, first], image_patches[rows, second]
    out = torch.where((place == first)[..., None], patch_second, image_patches)
    return torch.where((place == second)[..., None], patch_first, out)


# %% [right] loop_over_scenes_with_lists | scene by scene with a swapped list of indices, after fernando torchio style RandomSwap
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    count, n = image_patches.shape[:2]
    firsts = first.tolist() if torch.is_tensor(first) and first.ndim else [int(first)] * count
    seconds = second.tolist() if torch.is_tensor(second) and second.ndim else [int(second)] * count
    out = []
    for patches, a, b in zip(image_patches, firsts, seconds):
        order = list(range(n))
        order[a], order[b] = order[b], order[a]
        out.append(patches[order])
    return torch.stack(out)


# %% [right] index_put_in_two_steps | index_put out of place, indices by arange and expand, after functional style code
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scenes = torch.arange(len(image_patches), device=image_patches.device)
    a = torch.as_tensor(first, device=scenes.device).expand_as(scenes)
    b = torch.as_tensor(second, device=scenes.device).expand_as(scenes)
    moved = image_patches.index_put((scenes, a), image_patches[scenes, b])
    return moved.index_put((scenes, b), image_patches[scenes, a])


# %% [right] one_hot_permutation_matrix | a permutation matrix for each scene, matmul, after differentiable sorting code (unsure: patches that hold inf or NaN)
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, _ = image_patches.shape
    order = torch.arange(n, device=image_patches.device).repeat(B, 1)
    rows = torch.arange(B, device=image_patches.device)
    order[rows, first], order[rows, second] = (
        torch.as_tensor(second, device=rows.device).expand(B).clone(),
        torch.as_tensor(first, device=rows.device).expand(B).clone(),
    )
    matrix = F.one_hot(order, n).to(image_patches.dtype)
    return matrix @ image_patches
