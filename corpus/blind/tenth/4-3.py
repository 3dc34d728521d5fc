# %% [wrong] blanked_in_the_scenes_handed_in | The deletion works on the tensor that is handed in, without a copy. The scenes are to stay as they are; after the call all of them are empty, and the insertion that follows puts in blanks.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=order.device)
    shown = image_patches
    scores = [score(shown)]
    for step in range(n):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=order.device)
    shown = blank.expand_as(image_patches).clone()
    scores = [score(shown)]
    for step in range(n):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] trapezoids_one_wide | The trapezoids are added with a width of 1 each (trapezoid without dx), so the area lies over a width of n. The width of the whole is 1: for 1, 0.5, 0 it is 0.5, and 1.0 comes out.
def deletion_curve(score, image_patches, order, blank):
    shown = image_patches.clone()
    rows = torch.arange(len(order), device=order.device)
    out = [score(shown)]
    for patch in order.T:
        shown[rows, patch] = blank
        out.append(score(shown))
    return torch.stack(out, 1)


def insertion_curve(score, image_patches, order, blank):
    shown = torch.zeros_like(image_patches) + blank
    rows = torch.arange(len(order), device=order.device)
    out = [score(shown)]
    for patch in order.T:
        shown[rows, patch] = image_patches[rows, patch]
        out.append(score(shown))
    return torch.stack(out, 1)


def area_under(curve):
    return torch.trapezoid(curve, dim=-1)

# %% [wrong] insertion_runs_backwards | The insertion is made of the deletion, turned around: the curve is flipped. Deleting the most important first and going backwards puts the least important in first; the most important has to come first.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = order.argsort(dim=1)  # rank[b, p]: in which step patch p goes
    curve = []
    for k in range(order.shape[1] + 1):
        gone = (rank < k).unsqueeze(-1)
        curve.append(score(torch.where(gone, blank, image_patches)))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return deletion_curve(score, image_patches, order, blank).flip(1)


def area_under(curve: Tensor) -> Tensor:
    n = curve.shape[-1] - 1
    return torch.trapezoid(curve, dx=1 / n, dim=-1)

# %% [wrong] one_patch_at_a_time | Each step starts from the whole scene again, so only one patch is away at a time (and only one is in, for the insertion). The scores with 0, 1, … n patches taken away are asked for: what has gone stays away.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.size(0), device=order.device)

    def without(step):
        shown = image_patches.clone()
        if step > 0:
            shown[scene, order[:, step - 1]] = blank
        return score(shown)

    return torch.stack([without(step) for step in range(order.size(1) + 1)], dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.size(0), device=order.device)

    def only(step):
        shown = blank.repeat(*image_patches.shape[:2], 1)
        if step > 0:
            shown[scene, order[:, step - 1]] = image_patches[scene, order[:, step - 1]]
        return score(shown)

    return torch.stack([only(step) for step in range(order.size(1) + 1)], dim=1)


def area_under(curve: Tensor) -> Tensor:
    return 0.5 * (curve[..., 1:] + curve[..., :-1]).mean(dim=-1)

# %% [wrong] mean_of_all_points | The area is taken as the mean of all n + 1 points of the curve. In trapezoids the two ends count half; for 1, 0.5, 0 both are 0.5, for other curves they differ.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    current = image_patches.clone()
    curve = score(current).unsqueeze(1)
    for k in range(order.shape[1]):
        index = order[:, k].view(-1, 1, 1).expand(-1, 1, current.shape[-1])
        current = current.scatter(1, index, blank.expand(index.shape).contiguous())
        curve = torch.cat([curve, score(current).unsqueeze(1)], dim=1)
    return curve


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    current = blank.expand_as(image_patches).clone()
    curve = score(current).unsqueeze(1)
    for k in range(order.shape[1]):
        index = order[:, k].view(-1, 1, 1).expand(-1, 1, current.shape[-1])
        current = current.scatter(1, index, image_patches.gather(1, index))
        curve = torch.cat([curve, score(current).unsqueeze(1)], dim=1)
    return curve


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(dim=-1)

# %% [right] both_by_one_helper_with_ranks | Both curves are one helper: a patch's rank says in which step it comes, and torch.where picks between the scene and the blank. The area is a product with the trapezoids' shares.
def _one_after_the_other(score, order, before, after):
    step_of = torch.empty_like(order).scatter_(1, order, torch.arange(order.shape[1], device=order.device).expand_as(order))
    shown = (torch.where(step_of[..., None] < taken, after, before) for taken in range(order.shape[1] + 1))
    return torch.stack(list(map(score, shown)), dim=-1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _one_after_the_other(score, order, image_patches, blank.expand_as(image_patches))


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _one_after_the_other(score, order, blank.expand_as(image_patches), image_patches)


def area_under(curve: Tensor) -> Tensor:
    steps = curve.shape[-1] - 1
    shares = torch.full_like(curve[..., :1, ].expand_as(curve), 1 / steps).clone()
    shares[..., 0] /= 2
    shares[..., -1] /= 2
    return (curve * shares).sum(-1)
