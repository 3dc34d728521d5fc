# %% [wrong] deletes_from_the_original | deletion_curve blanks patches in the tensor that was handed in, without a copy. The curve is right, but the caller's scenes are empty afterwards, and the text wants them to stay as they are.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    scores = [score(image_patches)]
    shown = image_patches
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] order_read_as_ranks | `order < step` takes the numbers in `order` for the rank of each patch. They are indices: order[0] is the patch that goes first. With two patches both readings agree, so the example is right; with more, other patches are taken away.
def _curve(score, before, after, order):
    steps = range(order.shape[-1] + 1)
    return torch.stack([score(torch.where((order < step).unsqueeze(-1), after, before)) for step in steps], dim=1)


def deletion_curve(score, image_patches, order, blank):
    return _curve(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches, order, blank):
    return _curve(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve):
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), dim=-1)

# %% [wrong] area_as_the_mean | The area is the mean of all n + 1 points. For 1, 0.5, 0 that is 0.5 as well, but the ends count in full where trapezoids count them half: for 1, 0, 0 it gives 0.33 in place of 0.25.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n = order.shape
    shown = image_patches.clone()
    curve = [score(shown)]
    for step in range(n):
        shown[torch.arange(B), order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, 1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n = order.shape
    shown = blank.repeat(B, n, 1)
    curve = [score(shown)]
    for step in range(n):
        patch = order[:, step]
        shown[torch.arange(B), patch] = image_patches[torch.arange(B), patch]
        curve.append(score(shown))
    return torch.stack(curve, 1)


def area_under(curve: Tensor) -> Tensor:
    """The area under curves over a width of 1."""
    return curve.mean(dim=-1)

# %% [wrong] blanks_in_all_scenes | In deletion_curve `shown[:, order[:, step]] = blank` blanks the patches of all scenes in every scene. With one scene it is right; with more, each step takes away several patches of each.
def deletion_curve(score, image_patches, order, blank):
    shown = image_patches.clone()
    points = [score(shown)]
    for step in range(order.size(1)):
        shown[:, order[:, step]] = blank
        points.append(score(shown))
    return torch.stack(points, dim=1)


def insertion_curve(score, image_patches, order, blank):
    shown = torch.zeros_like(image_patches) + blank
    points = [score(shown)]
    scenes = torch.arange(order.size(0))
    for step in range(order.size(1)):
        at = (scenes, order[:, step])
        shown[at] = image_patches[at]
        points.append(score(shown))
    return torch.stack(points, dim=1)


def area_under(curve):
    left, right = curve[..., :-1], curve[..., 1:]
    return ((left + right) / 2).sum(-1) / left.shape[-1]

# %% [wrong] writes_into_an_expanded_blank | insertion_curve writes into blank.expand_as(…) without a clone. All patches of that tensor are one piece of memory, the caller's blank: each patch that is put in appears at all places, and `blank` is overwritten.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown, rows = image_patches.clone(), range(len(order))
    scores = [score(shown)]
    for k in range(order.shape[1]):
        for b in rows:
            shown[b, order[b, k]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=-1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown, rows = blank.expand_as(image_patches), range(len(order))
    scores = [score(shown)]
    for k in range(order.shape[1]):
        for b in rows:
            shown[b, order[b, k]] = image_patches[b, order[b, k]]
        scores.append(score(shown))
    return torch.stack(scores, dim=-1)


def area_under(curve: Tensor) -> Tensor:
    n = curve.shape[-1] - 1
    return (curve.sum(-1) - (curve[..., 0] + curve[..., -1]) / 2) / n

# %% [right] one_curve_from_ranks | Both curves are one helper: argsort turns the order into ranks, and at each step torch.where chooses by rank between two scenes, so that nothing is ever written into; the area is torch.trapezoid.
def _from_one_to_the_other(score, before: Tensor, after: Tensor, order: Tensor) -> Tensor:
    rank = order.argsort(dim=-1).unsqueeze(-1)  # (B, n, 1): when the turn of each patch comes
    n = order.shape[-1]
    return torch.stack([score(torch.where(rank < gone, after, before)) for gone in range(n + 1)], dim=-1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _from_one_to_the_other(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _from_one_to_the_other(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dim=-1) / (curve.shape[-1] - 1)
