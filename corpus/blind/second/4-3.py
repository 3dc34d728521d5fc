# %% [right] ranks_and_where | right
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = order.argsort(dim=1)
    n = order.shape[1]
    return torch.stack(
        [score(torch.where((rank < gone).unsqueeze(-1), blank, image_patches)) for gone in range(n + 1)], dim=-1
    )


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = order.argsort(dim=1)
    n = order.shape[1]
    return torch.stack(
        [score(torch.where((rank < there).unsqueeze(-1), image_patches, blank)) for there in range(n + 1)], dim=-1
    )


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), dim=-1)

# %% [wrong] scene_not_copied | deletion_curve blanks patches in the scenes that were handed in, because there is no clone.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = image_patches
    curve = [score(shown)]
    for step in range(n):
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for step in range(n):
        now = order[:, step]
        shown[scene, now] = image_patches[scene, now]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] starts_after_first_step | The score of the untouched (or empty) scene is not collected, so the curves have n instead of n + 1 points.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = image_patches.clone()
    curve = []
    for step in range(n):
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    curve = []
    for step in range(n):
        now = order[:, step]
        shown[scene, now] = image_patches[scene, now]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] same_order_for_all_scenes | The order of the first scene is used for all scenes.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = image_patches.clone()
    curve = [score(shown)]
    for step in range(n):
        shown[:, order[0, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for step in range(n):
        now = order[0, step]
        shown[:, now] = image_patches[:, now]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] order_as_ranks | The order is read as ranks: patch p is taken away at step order[p], instead of patch order[step] at each step.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    n = order.shape[1]
    curve = []
    for gone in range(n + 1):
        hidden = (order < gone).unsqueeze(-1)
        curve.append(score(torch.where(hidden, blank, image_patches)))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    n = order.shape[1]
    curve = []
    for there in range(n + 1):
        visible = (order < there).unsqueeze(-1)
        curve.append(score(torch.where(visible, image_patches, blank)))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] one_patch_at_a_time | A fresh copy is made in each step, so only one patch is gone (or there) at a time.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    curve = [score(image_patches)]
    for step in range(n):
        shown = image_patches.clone()
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    empty = blank.expand_as(image_patches)
    curve = [score(empty)]
    for step in range(n):
        shown = empty.clone()
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] area_of_width_n | The steps of the area are 1 wide instead of 1/n (sum instead of mean of the trapezoids).
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = image_patches.clone()
    curve = [score(shown)]
    for step in range(n):
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for step in range(n):
        now = order[:, step]
        shown[scene, now] = image_patches[scene, now]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).sum(-1)

# %% [wrong] area_is_mean_of_points | The area is the plain mean of the n + 1 points, not that of the trapezoids.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = image_patches.clone()
    curve = [score(shown)]
    for step in range(n):
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for step in range(n):
        now = order[:, step]
        shown[scene, now] = image_patches[scene, now]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(-1)

# %% [wrong] insertion_backwards | insertion_curve puts in the least important patch first.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = image_patches.clone()
    curve = [score(shown)]
    for step in range(n):
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for step in range(n):
        now = order[:, n - 1 - step]
        shown[scene, now] = image_patches[scene, now]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] insertion_is_reversed_deletion | insertion_curve returns the deletion curve read backwards instead of filling an empty scene from the most important patch on.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = image_patches.clone()
    curve = [score(shown)]
    for step in range(n):
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return deletion_curve(score, image_patches, order, blank).flip(1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] blank_is_zero | The argument blank is ignored: patches are replaced with zeros.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = image_patches.clone()
    curve = [score(shown)]
    for step in range(n):
        shown[scene, order[:, step]] = 0.0
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = torch.zeros_like(image_patches)
    curve = [score(shown)]
    for step in range(n):
        now = order[:, step]
        shown[scene, now] = image_patches[scene, now]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] stacked_wrong_way | The scores are stacked along dim 0, which gives (n + 1, B) instead of (B, n + 1).
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = image_patches.clone()
    curve = [score(shown)]
    for step in range(n):
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    B, n, _ = image_patches.shape
    scene = torch.arange(B, device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for step in range(n):
        now = order[:, step]
        shown[scene, now] = image_patches[scene, now]
        curve.append(score(shown))
    return torch.stack(curve)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)
