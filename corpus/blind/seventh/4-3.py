# %% [wrong] insertion_is_deletion_backwards | insertion_curve is the deletion curve read backwards, which puts in the least important patch first; the most important one should come first.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    scene = torch.arange(len(shown), device=shown.device)
    curve = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return deletion_curve(score, image_patches, order, blank).flip(1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] area_as_plain_mean | area_under is the mean of all n + 1 points, which counts both ends in full; by trapezoids the two ends count half. For 1, 0, 0 it gives 0.333 instead of 0.25.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    scene = torch.arange(len(shown), device=shown.device)
    curve = [score(shown)]
    for place in order.unbind(1):
        shown[scene, place] = blank
        curve.append(score(shown))
    return torch.stack(curve, 1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    scene = torch.arange(len(shown), device=shown.device)
    curve = [score(shown)]
    for place in order.unbind(1):
        shown[scene, place] = image_patches[scene, place]
        curve.append(score(shown))
    return torch.stack(curve, 1)


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(dim=-1)

# %% [wrong] order_read_as_ranks | order is read as the rank of each patch (order < k) and not as the list of patches; for three patches or more it is the inverse permutation, and other patches are changed.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    n = order.shape[1]
    return torch.stack(
        [score(torch.where((order < k).unsqueeze(-1), blank, image_patches)) for k in range(n + 1)], dim=1
    )


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    n = order.shape[1]
    return torch.stack(
        [score(torch.where((order < k).unsqueeze(-1), image_patches, blank)) for k in range(n + 1)], dim=1
    )


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dim=-1) / (curve.shape[-1] - 1)

# %% [wrong] one_patch_at_a_time | deletion_curve begins with a fresh copy in each step, so only one patch is missing at a time; they should be taken away one after the other and stay away.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    curve = [score(image_patches)]
    for k in range(order.shape[1]):
        shown = image_patches.clone()
        shown[scene, order[:, k]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for k in range(order.shape[1]):
        shown[scene, order[:, k]] = image_patches[scene, order[:, k]]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    n = curve.shape[-1] - 1
    return (curve[..., :-1] + curve[..., 1:]).sum(-1) / (2 * n)

# %% [wrong] patches_put_into_wrong_places | insertion_curve writes patch number step into the place order[:, step], so the scene is put together in another order; it should take the patch that belongs there.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rows = torch.arange(image_patches.shape[0], device=image_patches.device)
    left = image_patches.clone()
    scores = [score(left)]
    for step in range(image_patches.shape[1]):
        left[rows, order[:, step]] = blank
        scores.append(score(left))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rows = torch.arange(image_patches.shape[0], device=image_patches.device)
    put = blank.expand_as(image_patches).clone()
    scores = [score(put)]
    for step in range(image_patches.shape[1]):
        put[rows, order[:, step]] = image_patches[rows, step]
        scores.append(score(put))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), dim=-1)

# %% [wrong] zeros_for_blank | deletion_curve writes 0 in place of the blank patch that is handed in; an empty patch of the scenes is not 0 but a light grey, so something strange is shown.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    scene = torch.arange(len(shown), device=shown.device)
    curve = [score(shown)]
    for step in range(shown.shape[1]):
        shown[scene, order[:, step]] = 0.0
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    scene = torch.arange(len(shown), device=shown.device)
    curve = [score(shown)]
    for step in range(shown.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(dim=-1)

# %% [right] ranks_and_where | the rank of each patch, by argsort of the order, says with one torch.where what is shown after k steps; nothing is written in place
def _scores_by_step(score, order: Tensor, changed: Tensor, rest: Tensor) -> Tensor:
    """The scores where the first 0, 1, … n patches of the order come from `changed`, all others from `rest`."""
    rank = order.argsort(dim=1).unsqueeze(-1)
    return torch.stack([score(torch.where(rank < k, changed, rest)) for k in range(order.shape[1] + 1)], dim=1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _scores_by_step(score, order, blank, image_patches)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _scores_by_step(score, order, image_patches, blank)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), dim=-1)
