# %% [wrong] overwrites_then_reads_again | The second assignment reads from the copy that the first one has already changed. So patch `second` gets back what it was, and the patch that stood at `first` is lost; it should read both patches from the original.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B = image_patches.shape[0]
    scene = torch.arange(B, device=image_patches.device)
    swapped = image_patches.clone()
    swapped[scene, first] = swapped[scene, second]
    swapped[scene, second] = swapped[scene, first]
    return swapped

# %% [wrong] swaps_in_the_input_itself | The two patches are exchanged in the tensor that was handed in, and that same tensor is returned. The text asks for a new tensor, and the one that goes in must stay as it is.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    """A copy in which two patches have changed places."""
    rows = torch.arange(len(image_patches))
    keep = image_patches[rows, first].clone()   # numpy habit: keep a copy of the one that is overwritten
    image_patches[rows, first] = image_patches[rows, second]
    image_patches[rows, second] = keep
    return image_patches

# %% [wrong] colon_for_the_scenes | `swapped[:, first]` works for integers. With a tensor of B positions it addresses all B patches in every scene, so each scene gets also the swaps of the others; it should address one patch in each scene.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    swapped = image_patches.clone()
    swapped[:, first] = image_patches[:, second]
    swapped[:, second] = image_patches[:, first]
    return swapped

# %% [wrong] loop_needs_tensors | The loop takes first[b] and second[b] for each scene. That is right for tensors (B,), but an integer cannot be indexed, so a call with two integers stops with a TypeError.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    out = image_patches.clone()
    for b in range(image_patches.size(0)):
        i, j = int(first[b]), int(second[b])
        out[b, i], out[b, j] = image_patches[b, j], image_patches[b, i]
    return out

# %% [wrong] flips_the_pixels | Both patches are read together, (B, 2, d), and turned round along the last axis, which is that of the pixels. The patches stay where they are and each is mirrored; the axis of the two patches should be flipped.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    B = len(image_patches)
    first = torch.as_tensor(first, device=image_patches.device).expand(B)
    second = torch.as_tensor(second, device=image_patches.device).expand(B)
    pair = torch.stack([first, second], dim=1)                       # (B, 2)
    scene = torch.arange(B, device=image_patches.device)[:, None]    # (B, 1)
    swapped = image_patches.clone()
    swapped[scene, pair] = image_patches[scene, pair].flip(-1)
    return swapped

# %% [right] gathers_by_an_order | No assignment at all: two torch.where make an order of patches for each scene, and take_along_dim reads the patches in that order.
def swap_patches(image_patches: Tensor, first, second) -> Tensor:
    where = torch.arange(image_patches.shape[1], device=image_patches.device).repeat(image_patches.shape[0], 1)
    a, b = (torch.as_tensor(p, device=where.device).reshape(-1, 1) for p in (first, second))
    order = torch.where(where == a, b, torch.where(where == b, a, where))
    return torch.take_along_dim(image_patches, order.unsqueeze(-1), dim=1)
