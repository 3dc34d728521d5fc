# %% [wrong] the_scenes_themselves_are_changed | The patches are exchanged in the tensor that was handed in, and only one of the two is copied. The result has to be a new tensor; the one that goes in stays as it is.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    kept = image_patches[scene, first].clone()
    image_patches[scene, first] = image_patches[scene, second]
    image_patches[scene, second] = kept
    return image_patches


# %% [wrong] every_scene_gets_all_swaps | [:, first] addresses the patches in all scenes. With one pair for each scene, every scene undergoes the swaps of all the others; pair the positions with their scenes by indexing [scene, first].
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped
