# %% [wrong] every_pair_in_every_scene | With tensors of positions, [:, first] addresses all of them in every scene, and not one for each scene.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped

# %% [wrong] two_views_exchanged | a, b = b, a on two views of one tensor: the first assignment overwrites what the second one reads, and one patch is lost.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    count = len(image_patches)
    firsts = torch.as_tensor(first).expand(count).tolist()
    seconds = torch.as_tensor(second).expand(count).tolist()
    swapped = image_patches.clone()
    for scene, a, b in zip(swapped, firsts, seconds):
        scene[a], scene[b] = scene[b], scene[a]
    return swapped

# %% [wrong] copied_after_the_swap | The patches are swapped in the tensor that came in, and the copy is made afterwards, so the original is changed.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    kept = image_patches[scene, first].clone()
    image_patches[scene, first] = image_patches[scene, second]
    image_patches[scene, second] = kept
    return image_patches.clone()
