# %% [wrong] not_cloned | The patches of the caller are overwritten: the deletion works on the tensor itself, without a copy.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    scores = [score(image_patches)]
    for step in range(order.shape[1]):
        image_patches[scene, order[:, step]] = blank
        scores.append(score(image_patches))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(dim=-1)
# %% [wrong] n_scores_only | The score of the whole scene (and of the empty one) is missing: the curves have n points, not n + 1.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B)
    shown = image_patches.clone()
    scores = []
    for step in range(n):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B)
    shown = blank.expand_as(image_patches).clone()
    scores = []
    for step in range(n):
        patch = order[:, step]
        shown[scene, patch] = image_patches[scene, patch]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).sum(-1) / (curve.shape[-1] - 1)
# %% [wrong] area_not_divided | The area is the sum of the trapezoids, each counted as 1 wide where it is 1/n wide.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches))
    shown = image_patches.clone()
    out = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        out.append(score(shown))
    return torch.stack(out, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches))
    shown = blank.expand_as(image_patches).clone()
    out = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        out.append(score(shown))
    return torch.stack(out, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).sum(dim=-1)
# %% [wrong] area_is_mean | The area is the plain mean of all points, which gives the two ends a whole step each.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    rows = torch.arange(shown.shape[0])
    curve = [score(shown)]
    for k in range(order.shape[1]):
        shown[rows, order[:, k]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    rows = torch.arange(shown.shape[0])
    curve = [score(shown)]
    for k in range(order.shape[1]):
        shown[rows, order[:, k]] = image_patches[rows, order[:, k]]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(dim=-1)
# %% [wrong] same_patches_for_all_scenes | shown[:, order[:, step]] blanks the patches of all scenes in every scene.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    points = [score(shown)]
    for step in range(order.shape[1]):
        shown[:, order[:, step]] = blank
        points.append(score(shown))
    return torch.stack(points, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    points = [score(shown)]
    for step in range(order.shape[1]):
        shown[:, order[:, step]] = image_patches[:, order[:, step]]
        points.append(score(shown))
    return torch.stack(points, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)
# %% [wrong] zeros_for_blank | Patches are set to 0 and the blank patch is never used.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0])
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = 0
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0])
    shown = torch.zeros_like(image_patches)
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)
# %% [wrong] stacked_on_axis_0 | The scores are stacked along the first axis, (n + 1, B) in place of (B, n + 1).
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0])
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0])
    shown = blank.expand_as(image_patches).clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        scores.append(score(shown))
    return torch.stack(scores)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)
# %% [wrong] each_patch_alone | Every step starts again from the whole (or the empty) scene, so only one patch at a time is away or there.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0])
    scores = [score(image_patches)]
    for step in range(order.shape[1]):
        shown = image_patches.clone()
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0])
    empty = blank.expand_as(image_patches)
    scores = [score(empty)]
    for step in range(order.shape[1]):
        shown = empty.clone()
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)
# %% [wrong] insertion_is_deletion_reversed | Insertion is returned as the deletion curve read backwards, which puts the least important patch in first.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0])
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return deletion_curve(score, image_patches, order, blank).flip(1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)
# %% [wrong] expanded_not_cloned | The empty scene is an expanded view without a clone: all its patches are one memory, that of the blank patch, which is written over.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0])
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0])
    shown = blank.expand_as(image_patches)
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1))
# %% [right] by_rank | Computes the rank of every patch with argsort, and shows or hides by comparing ranks with the step.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = order.argsort(dim=1).unsqueeze(-1)
    steps = range(order.shape[1] + 1)
    return torch.stack([score(torch.where(rank < k, blank, image_patches)) for k in steps], dim=-1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = order.argsort(dim=1).unsqueeze(-1)
    steps = range(order.shape[1] + 1)
    return torch.stack([score(torch.where(rank < k, image_patches, blank)) for k in steps], dim=-1)


def area_under(curve: Tensor) -> Tensor:
    n = curve.shape[-1] - 1
    return (curve.sum(-1) - (curve[..., 0] + curve[..., -1]) / 2) / n
# %% [right] shared_helper | One helper walks from a start to an end scene with scatter; both curves call it.
def _walk(score, start, end, order):
    shown, result = start.clone(), [score(start)]
    for column in order.T:
        index = column.view(-1, 1, 1).expand(-1, 1, start.shape[-1])
        shown = shown.scatter(1, index, end.gather(1, index))
        result += [score(shown)]
    return torch.stack(result, 1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _walk(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _walk(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), dim=-1)
