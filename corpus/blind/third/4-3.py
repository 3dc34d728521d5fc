# %% [wrong] scenes_overwritten | The deletion blanks patches in the scenes that were handed in; they must stay as they are.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches
    scene = torch.arange(len(shown), device=shown.device)
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    scene = torch.arange(len(shown), device=shown.device)
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] plain_mean_for_area | The area is the plain mean of all n + 1 points: the two ends count in full and not half.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = order.argsort(dim=1).unsqueeze(-1)
    return torch.stack([score(torch.where(rank < k, blank, image_patches)) for k in range(order.shape[1] + 1)], dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = order.argsort(dim=1).unsqueeze(-1)
    return torch.stack([score(torch.where(rank < k, image_patches, blank)) for k in range(order.shape[1] + 1)], dim=1)


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(dim=-1)

# %% [wrong] one_at_a_time | Each step starts from the full scene again, so one patch alone is taken away (or put in) at a time and they do not add up.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    curve = [score(image_patches)]
    for place in order.unbind(1):
        shown = image_patches.clone()
        shown[scene, place] = blank
        curve.append(score(shown))
    return torch.stack(curve, 1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    empty = blank.expand_as(image_patches)
    curve = [score(empty)]
    for place in order.unbind(1):
        shown = empty.clone()
        shown[scene, place] = image_patches[scene, place]
        curve.append(score(shown))
    return torch.stack(curve, 1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dim=-1) / (curve.shape[-1] - 1)

# %% [wrong] first_point_missing | The score with 0 patches taken away or put in is missing: n points in place of n + 1.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown, scores = image_patches.clone(), []
    scene = torch.arange(len(shown), device=shown.device)
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown, scores = blank.repeat(*image_patches.shape[:2], 1), []
    scene = torch.arange(len(shown), device=shown.device)
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    n = curve.shape[-1] - 1
    return (curve[..., 1:] + curve[..., :-1]).sum(-1) / (2 * n)

# %% [wrong] zeros_for_blank | The insertion begins with zeros in place of the blank patch, which need not be zero.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        for b, place in enumerate(order[:, step].tolist()):
            shown[b, place] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=-1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = torch.zeros_like(image_patches)
    scores = [score(shown)]
    for step in range(order.shape[1]):
        for b, place in enumerate(order[:, step].tolist()):
            shown[b, place] = image_patches[b, place]
        scores.append(score(shown))
    return torch.stack(scores, dim=-1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, torch.linspace(0, 1, curve.shape[-1], dtype=curve.dtype, device=curve.device), dim=-1)

# %% [wrong] order_taken_for_ranks | Reads order[b, i] as the rank of patch i, but it is the index of the patch in place i.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    gone = lambda k: (order < k).unsqueeze(-1)
    return torch.stack([score(torch.where(gone(k), blank, image_patches)) for k in range(order.shape[1] + 1)], dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    there = lambda k: (order < k).unsqueeze(-1)
    return torch.stack([score(torch.where(there(k), image_patches, blank)) for k in range(order.shape[1] + 1)], dim=1)


def area_under(curve: Tensor) -> Tensor:
    heights = (curve[..., :-1] + curve[..., 1:]) / 2
    return heights.sum(-1) / heights.shape[-1]

# %% [right] ranks_and_where | Turns the order into ranks and chooses patches with torch.where; the area gives the two ends half a weight.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    n = order.shape[1]
    rank = order.argsort(dim=1)[..., None]
    return torch.stack([score(torch.where(rank >= gone, image_patches, blank)) for gone in range(n + 1)], dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    n = order.shape[1]
    rank = order.argsort(dim=1)[..., None]
    return torch.stack([score(torch.where(rank < there, image_patches, blank)) for there in range(n + 1)], dim=1)


def area_under(curve: Tensor) -> Tensor:
    n = curve.shape[-1] - 1
    return (curve.sum(-1) - curve[..., 0] / 2 - curve[..., -1] / 2) / n
