# %% [wrong] snapshots_of_one_board | The pictures to be scored are collected in a list first, and each entry is the same tensor, changed again and again. Each should be a copy, or be scored at once. At every step the score is that of the empty scene.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n = order.shape
    scene = torch.arange(B, device=order.device)
    shown = image_patches.clone()
    pictures = [shown]
    for step in range(n):
        shown[scene, order[:, step]] = blank
        pictures.append(shown)
    return torch.stack([score(picture) for picture in pictures], dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(order), device=order.device)
    shown = blank.expand_as(image_patches).clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        patch = order[:, step]
        shown[scene, patch] = image_patches[scene, patch]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] insertion_is_deletion_backwards | Insertion is taken for deletion read from its end. But the last patch that deletion leaves is the least important one, and insertion should begin with the most important one. The curve belongs to the opposite order.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(order), device=order.device)
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return deletion_curve(score, image_patches, order, blank).flip(-1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1))

# %% [wrong] blanks_in_every_scene | The scenes are addressed by a colon, so the patches of all scenes are blanked in each scene. Each scene has an order of its own. With more than one scene the curves fall too early.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    left = image_patches.detach().clone()
    scores = [score(left)]
    for which in order.T:
        left[:, which] = blank
        scores.append(score(left))
    return torch.stack(scores, -1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(order), device=order.device)
    shown = blank.expand_as(image_patches).clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        patch = order[:, step]
        shown[scene, patch] = image_patches[scene, patch]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] writes_into_an_expanded_blank | The empty scene is blank.expand_as(image_patches), a view of one patch, and patches are written into it. It should be cloned first. All places of all scenes share one memory, so each patch that goes in shows everywhere at once, and the caller's blank is overwritten.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(order), device=order.device)
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    batch = torch.arange(image_patches.size(0), device=image_patches.device)
    canvas = blank.expand_as(image_patches)
    values = [score(canvas)]
    for k in range(order.size(1)):
        canvas[batch, order[:, k]] = image_patches[batch, order[:, k]]
        values.append(score(canvas))
    return torch.stack(values, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1))

# %% [wrong] area_as_the_mean_height | The area is the mean of all n + 1 heights. By trapezoids the two ends count half, and each of the n steps is 1/n wide. For 1, 0.5, 0 it happens to be 0.5; in general the ends count too much.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = order.argsort(1)
    return torch.stack(
        [
            score(torch.where((rank < gone).unsqueeze(-1), blank, image_patches))
            for gone in range(order.shape[1] + 1)
        ],
        dim=1,
    )


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = order.argsort(1)
    return torch.stack(
        [
            score(torch.where((rank < there).unsqueeze(-1), image_patches, blank))
            for there in range(order.shape[1] + 1)
        ],
        dim=1,
    )


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(dim=-1)

# %% [wrong] order_taken_for_ranks | order is read as the rank of each patch. It lists the patches, the most important one first; its argsort would be the ranks. Patches go in and out in the inverse order, which is the same only for some orders.
def _curve(score, before, after, order):
    steps = range(order.shape[1] + 1)
    return torch.stack([score(torch.where((order < k)[..., None], after, before)) for k in steps], dim=1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _curve(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _curve(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1))

# %% [right] one_big_batch | Makes all n + 1 pictures with one scatter of ranks, scores them one after the other, and takes the area with a weight vector.
def _pictures(order, inside, outside):
    n = order.shape[1]
    rank = torch.empty_like(order).scatter_(1, order, torch.arange(n, device=order.device).expand_as(order))
    chosen = rank.unsqueeze(0) < torch.arange(n + 1, device=order.device)[:, None, None]
    return torch.where(chosen.unsqueeze(-1), inside, outside)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return torch.stack([*map(score, _pictures(order, blank, image_patches))], dim=-1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return torch.stack([*map(score, _pictures(order, image_patches, blank))], dim=-1)


def area_under(curve: Tensor) -> Tensor:
    heights = torch.ones_like(curve[..., :])
    heights[..., 0] = heights[..., -1] = 0.5
    return torch.einsum("...n,...n->...", curve, heights) / (curve.shape[-1] - 1)
