# %% [wrong] inserted_from_the_wrong_place | In the insertion, step k puts the k-th patch of the scene at the place of the k-th most important one. The patch has to come from the same place that it is put into: image_patches[scene, order[:, step]].
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
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
        shown[scene, order[:, step]] = image_patches[scene, step]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)


# %% [wrong] area_as_the_mean_of_the_points | The area is the plain mean of the n + 1 points, in which the two ends count as much as the others. By trapezoids it is the mean of the n steps, each as high as the mean of its two ends.
def _curve(score, start: Tensor, goal: Tensor, order: Tensor) -> Tensor:
    """Scores on the way from one set of scenes to another, patch by patch."""
    n = order.shape[1]
    rank = order.argsort(1)  # which step a patch goes in
    scores = []
    for done in range(n + 1):
        changed = (rank < done).unsqueeze(-1)
        scores.append(score(torch.where(changed, goal, start)))
    return torch.stack(scores, 1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _curve(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _curve(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(dim=-1)
