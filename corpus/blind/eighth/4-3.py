# %% [wrong] insertion_is_deletion_backwards | The insertion curve is the deletion curve read backwards; it should put the most important patches in first. Backwards, the least important ones come first.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown, scene = image_patches.clone(), torch.arange(len(image_patches), device=image_patches.device)
    curve = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return deletion_curve(score, image_patches, order, blank).flip(1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] one_patch_at_a_time | Deletion begins with a fresh copy in each step, so only the patch of that step is missing; the patches should stay away. The curve does not fall to the empty scene.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)

    def without(step):
        changed = image_patches.clone()
        changed[scene, order[:, step]] = blank
        return score(changed)

    return torch.stack([score(image_patches), *(without(step) for step in range(order.shape[1]))], dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for place in order.unbind(1):
        shown[scene, place] = image_patches[scene, place]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return (curve[..., :-1] + curve[..., 1:]).mean(-1) / 2

# %% [wrong] all_scenes_lose_all_patches | shown[:, order[:, step]] blanks the patches of all scenes in every scene; it should be shown[scene, order[:, step]]. Right for a single scene.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    curve = [score(shown)]
    for step in range(order.shape[1]):
        shown[:, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    scene = torch.arange(len(shown), device=shown.device)
    curve = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dim=-1) / (curve.shape[-1] - 1)

# %% [wrong] divided_by_the_points | The area is divided by the number of points, n + 1; the steps are 1/n wide, so it should be n. A curve that is 1 everywhere has less than 1 below it, and 1, 0.5, 0 gives 0.333.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown, scene = image_patches.clone(), torch.arange(len(image_patches), device=image_patches.device)
    curve = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown, scene = blank.expand_as(image_patches).clone(), torch.arange(len(image_patches), device=image_patches.device)
    curve = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dim=-1) / curve.shape[-1]

# %% [wrong] zeros_for_an_empty_patch | Patches are set to zero, and insertion begins with zeros; they should be `blank`, which is handed in and need not be zero. The model sees patches that are grey and not empty.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scores, rest = [score(image_patches)], image_patches
    for place in order.unbind(1):
        rest = rest.scatter(1, place[:, None, None].expand(-1, 1, rest.shape[-1]), 0.0)
        scores.append(score(rest))
    return torch.stack(scores, 1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = torch.zeros_like(image_patches)
    scene = torch.arange(len(shown), device=shown.device)
    scores = [score(shown)]
    for place in order.unbind(1):
        shown[scene, place] = image_patches[scene, place]
        scores.append(score(shown))
    return torch.stack(scores, 1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., 1:] + curve[..., :-1]) / 2).mean(dim=-1)

# %% [wrong] deleted_in_the_scenes_themselves | Deletion works on image_patches itself, without a copy; the scenes that are handed in should stay as they are. The curve is right, and afterwards all scenes are empty, for the caller and for every curve that follows.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    curve = [score(image_patches)]
    for step in range(order.shape[1]):
        image_patches[scene, order[:, step]] = blank
        curve.append(score(image_patches))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    curve = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        curve.append(score(shown))
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), dim=-1)

# %% [right] by_rank | Nothing is written in place: each patch knows its rank in the order, and after k steps all patches of a rank below k are taken from the other side with torch.where.
def _step_by_step(score, before: Tensor, after: Tensor, order: Tensor) -> Tensor:
    rank = order.argsort(dim=1)  # when it is each patch's turn
    steps = range(order.shape[1] + 1)
    return torch.stack([score(torch.where((rank < step).unsqueeze(-1), after, before)) for step in steps], dim=1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _step_by_step(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _step_by_step(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), dim=-1)
