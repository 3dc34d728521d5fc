# %% [wrong] scenes_changed_in_place | Deletion blanks the patches in image_patches itself, without a copy. The scores are right, but the caller's scenes are empty afterwards.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(order), device=order.device)
    curve = [score(image_patches)]
    for step in range(order.shape[1]):
        image_patches[scene, order[:, step]] = blank
        curve.append(score(image_patches))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(order), device=order.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)


# %% [wrong] order_taken_for_ranks | Compares `order` with the step, as if order[b, p] were the rank of patch p. order lists patches, so its inverse is needed; only for orders that are their own inverse does the curve come out right.
def _mixed(image_patches, order, blank, k, inside):
    first = (order < k).unsqueeze(-1)
    return torch.where(first == inside, image_patches, blank)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    n = image_patches.shape[1]
    return torch.stack([score(_mixed(image_patches, order, blank, k, False)) for k in range(n + 1)], 1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    n = image_patches.shape[1]
    return torch.stack([score(_mixed(image_patches, order, blank, k, True)) for k in range(n + 1)], 1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dim=-1) / (curve.shape[-1] - 1)


# %% [wrong] all_scenes_blank_all_orders | shown[:, order[:, step]] = blank indexes all scenes with the patches of all scenes: in each scene every patch is blanked that is at this step in any scene of the batch. With one scene it does not show.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(image_patches.shape[1]):
        shown[:, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=-1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = torch.zeros_like(image_patches) + blank
    scores = [score(shown)]
    for step in range(image_patches.shape[1]):
        which = order[:, step]
        shown[:, which] = image_patches[:, which]
        scores.append(score(shown))
    return torch.stack(scores, dim=-1)


def area_under(curve: Tensor) -> Tensor:
    left, right = curve[..., :-1], curve[..., 1:]
    return (0.5 * (left + right)).sum(-1) / left.shape[-1]


# %% [wrong] area_with_steps_of_one | The trapezoids have width 1 and not 1/n: torch.trapezoid with its default spacing. The area is n times too large; for curves of the same length only the ranking stays.
class Eraser:
    def __init__(self, score, order):
        self.score, self.order = score, order

    def walk(self, start, end):
        shown, out = start.clone(), [self.score(start)]
        for column in self.order.T:
            index = column.reshape(-1, 1, 1).expand(-1, 1, start.shape[-1])
            shown = shown.scatter(1, index, end.gather(1, index))
            out.append(self.score(shown))
        return torch.stack(out, 1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return Eraser(score, order).walk(image_patches, blank.expand_as(image_patches))


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return Eraser(score, order).walk(blank.expand_as(image_patches), image_patches)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dim=-1)


# %% [wrong] insertion_as_reversed_deletion | Insertion is written as the deletion curve read backwards. That puts the least important patch in first and the most important one last; the order has to be followed from the front.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    rows = torch.arange(B, device=image_patches.device).unsqueeze(1)
    points = []
    for taken in range(n + 1):
        copy = image_patches.clone()
        copy[rows, order[:, :taken]] = blank
        points.append(score(copy))
    return torch.stack(points, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return deletion_curve(score, image_patches, order, blank).flip(1)


def area_under(curve: Tensor) -> Tensor:
    inner = curve[..., 1:-1].sum(-1)
    ends = (curve[..., 0] + curve[..., -1]) / 2
    return (inner + ends) / (curve.shape[-1] - 1)


# %% [right] ranks_by_argsort | Turns the order into ranks (argsort of the order) and decides each scene by one torch.where; insertion is the same walk with the two pictures exchanged.
def _walk(score, start: Tensor, end: Tensor, order: Tensor) -> Tensor:
    rank = order.argsort(dim=1).unsqueeze(-1)  # (B, n, 1): when each patch has its turn
    steps = range(order.shape[1] + 1)
    return torch.stack([score(torch.where(rank < step, end, start)) for step in steps], dim=1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _walk(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _walk(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve: Tensor) -> Tensor:
    heights = curve.unfold(-1, 2, 1).mean(-1)
    return heights.sum(-1) / heights.shape[-1]
