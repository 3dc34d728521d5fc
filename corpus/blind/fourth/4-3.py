# %% [wrong] starts_after_the_first_step | The score with 0 patches taken away, or put in, is missing: n numbers in place of n + 1.
def deletion_curve(score, image_patches, order, blank):
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = image_patches.clone()
    scores = []
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches, order, blank):
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    scores = []
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve):
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)


# %% [wrong] scene_blanked_for_good | Deletion works on the scenes that are handed in: they are blank afterwards.
def deletion_curve(score, image_patches, order, blank):
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = image_patches
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches, order, blank):
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve):
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)


# %% [wrong] one_patch_at_a_time | Each step begins from the whole scene again, so one patch at a time is missing, not more and more.
def deletion_curve(score, image_patches, order, blank):
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    curve = [score(image_patches)]
    for k in range(order.shape[1]):
        without = image_patches.clone()
        without[scene, order[:, k]] = blank
        curve.append(score(without))
    return torch.stack(curve, 1)


def insertion_curve(score, image_patches, order, blank):
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    empty = blank.expand_as(image_patches)
    curve = [score(empty)]
    for k in range(order.shape[1]):
        only = empty.clone()
        only[scene, order[:, k]] = image_patches[scene, order[:, k]]
        curve.append(score(only))
    return torch.stack(curve, 1)


def area_under(curve):
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)


# %% [wrong] width_of_n_plus_one | The area is divided by the number of points, n + 1; there are n steps.
def deletion_curve(score, image_patches, order, blank):
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches, order, blank):
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve):
    trapezoids = (curve[..., 1:] + curve[..., :-1]) / 2
    return trapezoids.sum(-1) / curve.shape[-1]


# %% [wrong] every_scene_loses_all | `shown[:, order[:, step]]` blanks the patches of all orders in all scenes: right for a batch of one only.
def deletion_curve(score, image_patches, order, blank):
    shown = image_patches.clone()
    out = [score(shown)]
    for step in range(order.size(1)):
        shown[:, order[:, step]] = blank
        out.append(score(shown))
    return torch.stack(out, dim=-1)


def insertion_curve(score, image_patches, order, blank):
    shown = blank.expand_as(image_patches).clone()
    out = [score(shown)]
    for step in range(order.size(1)):
        shown[:, order[:, step]] = image_patches[:, order[:, step]]
        out.append(score(shown))
    return torch.stack(out, dim=-1)


def area_under(curve):
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)


# %% [wrong] black_in_place_of_blank | The scene that insertion begins with is made of zeros; an empty patch is `blank`, which is not zero.
def deletion_curve(score, image_patches, order, blank):
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches, order, blank):
    scene = torch.arange(len(image_patches), device=image_patches.device)
    shown = torch.zeros_like(image_patches)
    scores = [score(shown)]
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        scores.append(score(shown))
    return torch.stack(scores, dim=1)


def area_under(curve):
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), dim=-1)


# %% [right] ranks_and_where | No writing in place: the rank of each patch in the order says at every step, with `where`, whether it is shown.
def _ranks(order):
    return order.argsort(dim=1).unsqueeze(-1)  # (B, n, 1): at which step a patch has its turn


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = _ranks(order)
    curve = [score(torch.where(rank >= gone, image_patches, blank)) for gone in range(order.shape[1] + 1)]
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    rank = _ranks(order)
    curve = [score(torch.where(rank < put, image_patches, blank)) for put in range(order.shape[1] + 1)]
    return torch.stack(curve, dim=1)


def area_under(curve: Tensor) -> Tensor:
    ends = (curve[..., 0] + curve[..., -1]) / 2
    return (curve.sum(dim=-1) - ends) / (curve.shape[-1] - 1)
