# %% [wrong] scenes_overwritten | deletion blanks the patches in the tensor that was handed in, without a clone: the curve is right, but the caller's scenes are empty afterwards, which the text forbids
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=order.device)
    curve = [score(image_patches)]
    for step in range(n):
        image_patches[scene, order[:, step]] = blank
        curve.append(score(image_patches))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=order.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for step in range(n):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)


# %% [wrong] order_read_as_ranks | reads order[b, p] as the rank of patch p, instead of order[b, r] as the patch at rank r: patches go in the inverse order, which is only the same where the permutation is its own inverse
def _curve(score, start, end, order):
    n = order.shape[1]
    scores = []
    for taken in range(n + 1):
        changed = (order < taken).unsqueeze(-1)  # (B, n, 1)
        scores.append(score(torch.where(changed, end, start)))
    return torch.stack(scores, 1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _curve(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _curve(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1.0 / (curve.shape[-1] - 1), dim=-1)


# %% [wrong] one_tensor_n_times | collects the intermediate scenes in a list and scores them at the end; the list holds the same tensor n + 1 times, so every point of the curves is the score of the last state
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    rows = torch.arange(len(shown), device=shown.device)
    stages = [shown]
    for index in order.unbind(1):
        shown[rows, index] = blank
        stages.append(shown)
    return torch.stack([score(stage) for stage in stages], dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    rows = torch.arange(len(shown), device=shown.device)
    stages = [shown]
    for index in order.unbind(1):
        shown[rows, index] = image_patches[rows, index]
        stages.append(shown)
    return torch.stack([score(stage) for stage in stages], dim=1)


def area_under(curve: Tensor) -> Tensor:
    heights = (curve[..., :-1] + curve[..., 1:]) / 2
    return heights.sum(-1) / heights.shape[-1]


# %% [wrong] mean_as_area | area_under is the plain mean of the n + 1 points: the two ends count whole instead of half, and the width is divided by n + 1 steps instead of n
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    left = torch.empty_like(image_patches).copy_(image_patches)
    curve = [score(left)]
    for step in range(order.shape[1]):
        where = order[:, step, None, None].expand(-1, 1, left.shape[-1])
        left = left.scatter(1, where, blank.expand(len(left), 1, -1))
        curve.append(score(left))
    return torch.stack(curve, 1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches)
    curve = [score(shown)]
    for step in range(order.shape[1]):
        where = order[:, step, None, None].expand(-1, 1, shown.shape[-1])
        shown = shown.scatter(1, where, image_patches.gather(1, where))
        curve.append(score(shown))
    return torch.stack(curve, 1)


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(dim=-1)


# %% [wrong] insertion_keeps_reversed_order | insertion is built from deletion in the reverse order, and the result is turned round, but the flip of the order itself is forgotten: it is the curve of inserting the least important patch first
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    n = order.shape[1]
    rank = order.argsort(1)
    keep = rank.unsqueeze(0) >= torch.arange(n + 1, device=order.device)[:, None, None]  # (n + 1, B, n)
    return torch.stack([score(torch.where(k.unsqueeze(-1), image_patches, blank)) for k in keep], dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return deletion_curve(score, image_patches, order, blank).flip(1)


def area_under(curve: Tensor) -> Tensor:
    n = curve.shape[-1] - 1
    return (curve.sum(-1) - (curve[..., 0] + curve[..., -1]) / 2) / n


# %% [right] insertion_from_deletion | ranks and torch.where, no assignment; inserting from the top is deleting from the bottom, read backwards; the area as a product with trapezoid weights
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = order.argsort(dim=1)
    return torch.stack(
        [score(torch.where((rank < gone).unsqueeze(-1), blank, image_patches)) for gone in range(order.shape[1] + 1)],
        dim=1,
    )


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return deletion_curve(score, image_patches, order.flip(1), blank).flip(1)


def area_under(curve: Tensor) -> Tensor:
    width = torch.full_like(curve[..., 0], 1 / (curve.shape[-1] - 1)).unsqueeze(-1).repeat_interleave(curve.shape[-1], -1)
    width[..., 0] /= 2
    width[..., -1] /= 2
    return (curve * width).sum(-1)
