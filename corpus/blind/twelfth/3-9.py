# %% [wrong] one_patch_lost | a swap in two lines that both read from the changed copy: the second line reads the patch that was just overwritten, and both places show the same patch
def swap_patches(image_patches, first, second):
    swapped = image_patches.clone()
    scene = torch.arange(len(swapped))
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = swapped[scene, first]
    return swapped


# %% [wrong] input_changed | there is no copy: the tensor that goes in is changed itself
def swap_patches(image_patches, first, second):
    b = torch.arange(image_patches.shape[0], device=image_patches.device)
    one, two = image_patches[b, first], image_patches[b, second]
    image_patches[b, first] = two
    image_patches[b, second] = one
    return image_patches


# %% [wrong] every_scene_gets_every_pair | `[:, first]` does not pair scenes with their own index: right for integers, but with tensors (B,) every scene has the patches of all pairs exchanged
def swap_patches(image_patches, first, second):
    result = image_patches.clone()
    result[:, first] = image_patches[:, second]
    result[:, second] = image_patches[:, first]
    return result


# %% [wrong] integers_alone | the order of the patches is a Python list, the same for all scenes: with integer tensors (B,) as indices it raises a TypeError
def swap_patches(image_patches, first, second):
    order = list(range(image_patches.shape[1]))
    order[first], order[second] = order[second], order[first]
    return torch.stack([image_patches[:, place] for place in order], dim=1)


# %% [wrong] tensors_alone | first and second are treated as tensors (B,): with integers, which the text allows, `.view` does not exist
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places."""
    width = image_patches.shape[-1]
    i = first.view(-1, 1, 1).expand(-1, 1, width)
    j = second.view(-1, 1, 1).expand(-1, 1, width)
    copy = image_patches.scatter(1, i, image_patches.gather(1, j))
    return copy.scatter(1, j, image_patches.gather(1, i))


# %% [right] source_of_each_place | computes for each place of each scene where its patch comes from, and gathers once; nothing is assigned
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    count, n, width = image_patches.shape
    place = torch.arange(n, device=image_patches.device).expand(count, n)
    first, second = (
        torch.as_tensor(one, device=image_patches.device).remainder(n).reshape(-1, 1) for one in (first, second)
    )
    source = torch.where(place == first, second, torch.where(place == second, first, place))
    return image_patches.gather(1, source.unsqueeze(-1).expand(-1, -1, width))
