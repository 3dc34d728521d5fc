# %% [wrong] start_left_out | the curves begin after the first step: the score with 0 patches changed is missing, so there are n numbers and not n + 1
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    scene = torch.arange(len(shown), device=shown.device)
    points = []
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        points.append(score(shown))
    return torch.stack(points, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    scene = torch.arange(len(shown), device=shown.device)
    points = []
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        points.append(score(shown))
    return torch.stack(points, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

# %% [wrong] mean_as_area | area_under is the plain mean of the n + 1 points, where both ends should count half and the width is n steps: for 1, 0.6, 0 it gives 0.533 and not 0.55
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown, scene = image_patches.clone(), torch.arange(len(order), device=order.device)
    curve = [score(shown)]
    for patch in order.T:
        shown[scene, patch] = blank
        curve.append(score(shown))
    return torch.stack(curve, 1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown, scene = blank.expand_as(image_patches).clone(), torch.arange(len(order), device=order.device)
    curve = [score(shown)]
    for patch in order.T:
        shown[scene, patch] = image_patches[scene, patch]
        curve.append(score(shown))
    return torch.stack(curve, 1)


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(dim=-1)

# %% [wrong] each_alone | in deletion every step starts from the full scene again, so only one patch is missing at a time; they should be taken away one after the other
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    scores = [score(image_patches)]
    for k in range(order.shape[1]):
        without = image_patches.clone()
        without[scene, order[:, k]] = blank
        scores.append(score(without))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(image_patches), device=image_patches.device)
    empty = blank.expand_as(image_patches).clone()
    scores = [score(empty)]
    for k in range(order.shape[1]):
        empty[scene, order[:, k]] = image_patches[scene, order[:, k]]
        scores.append(score(empty))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), dim=-1)

# %% [wrong] width_of_n | the trapezoids are summed with steps of width 1 and not 1/n, so the area is n times too large (1 for the example and not 0.5)
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    current = image_patches.clone()
    rows = torch.arange(len(current), device=current.device)
    result = [score(current)]
    for i in range(order.size(1)):
        current[rows, order[:, i]] = blank
        result.append(score(current))
    return torch.stack(result, -1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    current = blank.expand_as(image_patches).clone()
    rows = torch.arange(len(current), device=current.device)
    result = [score(current)]
    for i in range(order.size(1)):
        current[rows, order[:, i]] = image_patches[rows, order[:, i]]
        result.append(score(current))
    return torch.stack(result, -1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dim=-1)

# %% [wrong] scenes_destroyed | deletion_curve blanks the patches in the tensor that was handed in (no clone): the scenes should stay as they are, and the insertion that follows sees blanks only
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    b = torch.arange(image_patches.shape[0], device=image_patches.device)
    values = [score(image_patches)]
    for column in order.unbind(1):
        image_patches[b, column] = blank
        values.append(score(image_patches))
    return torch.stack(values, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    b = torch.arange(image_patches.shape[0], device=image_patches.device)
    canvas = blank.expand_as(image_patches).clone()
    values = [score(canvas)]
    for column in order.unbind(1):
        canvas[b, column] = image_patches[b, column]
        values.append(score(canvas))
    return torch.stack(values, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., 1:] + curve[..., :-1]) / 2).mean(dim=-1)

# %% [wrong] zeros_for_blank | the empty scene of the insertion is made of zeros and not of the blank patch that is handed in; a blank patch need not be 0 (here it is −0.79)
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    scene = torch.arange(len(shown), device=shown.device)
    seen = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        seen.append(score(shown))
    return torch.stack(seen, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = torch.zeros_like(image_patches)
    scene = torch.arange(len(shown), device=shown.device)
    seen = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = image_patches[scene, order[:, step]]
        seen.append(score(shown))
    return torch.stack(seen, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).sum(-1) / (curve.shape[-1] - 1)

# %% [right] ranks_and_where | argsort turns the order into ranks; a patch is gone when its rank is below the step, and torch.where makes each picture anew, nothing is overwritten
def _curve(score, before, after, order):
    rank = order.argsort(dim=1).unsqueeze(-1)
    steps = range(order.shape[1] + 1)
    return torch.stack([score(torch.where(rank < step, after, before)) for step in steps], dim=1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _curve(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _curve(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve: Tensor) -> Tensor:
    ends = (curve[..., 0] + curve[..., -1]) / 2
    return (curve.sum(dim=-1) - ends) / (curve.shape[-1] - 1)
