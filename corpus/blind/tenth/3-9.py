# %% [wrong] swap_in_place | The patches are exchanged in the tensor that went in, without a copy. The text asks for a new tensor and says that the one that goes in stays as it is; here the caller's images are changed.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(image_patches.shape[0])
    keep = image_patches[scene, first].clone()
    image_patches[scene, first] = image_patches[scene, second]
    image_patches[scene, second] = keep
    return image_patches

# %% [wrong] numpy_style_swap_loses_a_patch | Both lines read from the copy that is being changed. After the first line, the first patch is gone, so both places show the second patch.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    out = image_patches.clone()
    b = torch.arange(out.shape[0], device=out.device)
    out[b, first] = out[b, second]
    out[b, second] = out[b, first]
    return out

# %% [wrong] all_scenes_get_every_pair | The batch axis is indexed with a colon. With tensors first and second of length B, swapped[:, first] addresses B patches in every scene, so each scene gets the swaps of all the others as well; only integers work.
def swap_patches(image_patches, first, second):
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped

# %% [wrong] permutation_from_the_first_scene | One order of the patches is made from first and second of scene 0 (for tensors) and used for all scenes. Each scene has its own pair; all scenes but the first are swapped at the wrong places.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """Build the new order of the patches and index once."""
    if torch.is_tensor(first):
        first = int(first.reshape(-1)[0])
    if torch.is_tensor(second):
        second = int(second.reshape(-1)[0])
    order = list(range(image_patches.shape[1]))
    order[first], order[second] = order[second], order[first]
    return image_patches[:, order]

# %% [wrong] only_the_first_one_moved | The second patch is written to the place of the first, and the place of the second is left as it was. An exchange is asked for; here one patch appears twice and the other is lost.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B = len(image_patches)
    first = torch.as_tensor(first).expand(B)
    second = torch.as_tensor(second).expand(B)
    scenes = []
    for scene, a, b in zip(image_patches, first, second):
        new = scene.clone()
        new[a] = scene[b]
        scenes.append(new)
    return torch.stack(scenes)

# %% [right] gather_with_a_swapped_order | An order (B, n) is made with torch.where, and the patches are taken by gather; nothing is assigned.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B, n, d = image_patches.shape
    where_to = torch.arange(n, device=image_patches.device).expand(B, n)
    a = torch.as_tensor(first, device=image_patches.device).expand(B)[:, None]
    b = torch.as_tensor(second, device=image_patches.device).expand(B)[:, None]
    order = torch.where(where_to == a, b, torch.where(where_to == b, a, where_to))
    return image_patches.gather(1, order[..., None].expand(B, n, d))
