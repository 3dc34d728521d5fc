# %% [wrong] no_clone | The swap is made in the given tensor itself: nothing is cloned, so the original changes.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    scene = torch.arange(len(image_patches), device=image_patches.device)
    one, two = image_patches[scene, first], image_patches[scene, second]
    image_patches[scene, first] = two
    image_patches[scene, second] = one
    return image_patches
# %% [wrong] reads_overwritten | The second line reads from the copy, whose first patch has been overwritten already: one of the patches is lost and the other stands there twice.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    swapped = image_patches.clone()
    scene = torch.arange(swapped.shape[0], device=swapped.device)
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = swapped[scene, first]
    return swapped
# %% [wrong] colon_for_scenes | `[:, first]` with tensors (B,) takes all those patches of every scene, not one patch per scene; it works for integers only.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped
# %% [wrong] tensors_only | first and second are taken to be tensors (gather with .view): integers raise an AttributeError.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    B, n, d = image_patches.shape
    a = first.view(B, 1, 1).expand(B, 1, d)
    b = second.view(B, 1, 1).expand(B, 1, d)
    patch_a, patch_b = image_patches.gather(1, a), image_patches.gather(1, b)
    return image_patches.scatter(1, a, patch_b).scatter(1, b, patch_a)
# %% [wrong] copied_one_way | Only one direction is done: the second patch is copied over the first, and stays where it was.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    result = image_patches.clone()
    scene = torch.arange(image_patches.shape[0])
    result[scene, first] = image_patches[scene, second]
    return result
# %% [wrong] swaps_scenes | The first axis is indexed, so whole scenes are swapped and not patches within a scene.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    swapped = image_patches.clone()
    swapped[first] = image_patches[second]
    swapped[second] = image_patches[first]
    return swapped
# %% [wrong] swaps_features | The last axis is indexed: two features of all patches are swapped, not two patches.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    swapped = image_patches.clone()
    swapped[..., first] = image_patches[..., second]
    swapped[..., second] = image_patches[..., first]
    return swapped
# %% [wrong] tuple_swap_of_views | For integers the tuple swap `a, b = b, a` is made on views of the same tensor: the first assignment already changes what the second one reads, so one patch is lost.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    out = image_patches.clone()
    if isinstance(first, int):
        out[:, first], out[:, second] = out[:, second], out[:, first]
    else:
        for b, (i, j) in enumerate(zip(first.tolist(), second.tolist())):
            out[b, i] = image_patches[b, j]
            out[b, j] = image_patches[b, i]
    return out
# %% [wrong] nothing_returned | The swapped copy is made, but not returned.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    swapped = image_patches.clone()
    scene = torch.arange(len(swapped))
    swapped[scene, first] = image_patches[scene, second]
    swapped[scene, second] = image_patches[scene, first]
# %% [wrong] first_pair_for_all | The first scene's pair is used for all scenes: of the tensors only element 0 is read.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    i = int(first[0]) if torch.is_tensor(first) else first
    j = int(second[0]) if torch.is_tensor(second) else second
    order = list(range(image_patches.shape[1]))
    order[i], order[j] = order[j], order[i]
    return image_patches[:, order]
# %% [wrong] item_on_tensors | .item() is called on the tensors, which raises for more than one scene.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    if isinstance(first, Tensor):
        first, second = first.item(), second.item()
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped
# %% [wrong] numpy_result | The work is done in numpy and a numpy array comes back, not a tensor.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    old = image_patches.detach().cpu().numpy()
    new = old.copy()
    rows = np.arange(len(old))
    first, second = np.asarray(first), np.asarray(second)
    new[rows, first], new[rows, second] = old[rows, second], old[rows, first]
    return new
# %% [wrong] shallow_copy | A slice `[:]` of a tensor is a view and no copy: the original is changed.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    swapped = image_patches[:]  # a copy, like with lists
    scene = torch.arange(swapped.shape[0], device=swapped.device)
    keep = swapped[scene, first]
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = keep
    return swapped
# %% [wrong] dtype_lost | The result is made with torch.zeros in the default dtype, so float64 or half patches come back as float32.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    B, n, d = image_patches.shape
    out = torch.zeros(B, n, d)
    out[:] = image_patches
    b = torch.arange(B)
    out[b, first] = image_patches[b, second].to(out.dtype)
    out[b, second] = image_patches[b, first].to(out.dtype)
    return out
# %% [wrong] patches_for_scenes | The arange runs over the number of patches (shape[1]) and not over the scenes.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    scene = torch.arange(image_patches.shape[1])
    swapped = image_patches.clone()
    swapped[scene, first] = image_patches[scene, second]
    swapped[scene, second] = image_patches[scene, first]
    return swapped
# %% [wrong] counted_from_one | The patches are counted from 1: one is subtracted from first and second.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    first, second = first - 1, second - 1
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    swapped = image_patches.clone()
    swapped[scene, first] = image_patches[scene, second]
    swapped[scene, second] = image_patches[scene, first]
    return swapped
# %% [wrong] integers_only | first and second are taken to be integers: list positions are swapped, and tensors (B,) raise.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    order = list(range(image_patches.shape[1]))
    order[first], order[second] = order[second], order[first]
    return image_patches[:, order]
# %% [right] gather_a_permutation | Builds for every scene a permutation of its patches, and gathers with it; nothing is written to.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    B, n, d = image_patches.shape
    device = image_patches.device
    a = torch.as_tensor(first, device=device).expand(B).unsqueeze(1)
    b = torch.as_tensor(second, device=device).expand(B).unsqueeze(1)
    place = torch.arange(n, device=device).expand(B, n)
    order = torch.where(place == a, b, torch.where(place == b, a, place))
    return image_patches.gather(1, order.unsqueeze(-1).expand(B, n, d))
# %% [right] loop_over_scenes | A loop over the scenes that swaps two rows of each copy.
def swap_patches(image_patches, first, second):
    scenes = []
    for number, patches in enumerate(image_patches):
        i = int(first[number]) if isinstance(first, Tensor) else first
        j = int(second[number]) if isinstance(second, Tensor) else second
        scene = patches.clone()
        scene[i], scene[j] = patches[j], patches[i]
        scenes.append(scene)
    return torch.stack(scenes)
# %% [right] saves_both_first | Reads both patches into variables before it writes, with a tuple index.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places.

    Args:
        image_patches: (B, n, d)
        first, second: integers, or integer tensors (B,)
    """
    rows = torch.arange(image_patches.size(0), device=image_patches.device)
    one, other = image_patches[rows, first], image_patches[rows, second]
    copy = torch.empty_like(image_patches).copy_(image_patches)
    copy.index_put_((rows, torch.as_tensor(first, device=rows.device)), other)
    copy.index_put_((rows, torch.as_tensor(second, device=rows.device)), one)
    return copy
