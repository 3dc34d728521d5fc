# %% [wrong] scenes_blanked | deletion_curve works on the tensor that was handed in, without clone(), so all scenes are blank afterwards
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    scores = [score(image_patches)]
    for place in order.unbind(1):
        image_patches[scene, place] = blank
        scores.append(score(image_patches))
    return torch.stack(scores, 1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    scene = torch.arange(len(shown), device=shown.device)
    points = [score(shown)]
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        points.append(score(shown))
    return torch.stack(points, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(dim=-1)

# %% [wrong] whole_scene_not_scored | deletion_curve scores only after a patch has been taken away, so the first point (0 patches away) is missing and it returns (B, n) instead of (B, n + 1)
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    x = image_patches.clone()
    b = torch.arange(len(x), device=x.device)
    curve = []
    for i in range(order.shape[1]):
        x[b, order[:, i]] = blank
        curve.append(score(x))
    return torch.stack(curve, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    scene = torch.arange(len(shown), device=shown.device)
    points = [score(shown)]
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        points.append(score(shown))
    return torch.stack(points, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(dim=-1)

# %% [wrong] zeros_for_blank | insertion_curve begins with a scene of zeros instead of blank patches (−0.79 here), so its first points belong to a scene that is not empty
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    scene = torch.arange(len(shown), device=shown.device)
    points = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        points.append(score(shown))
    return torch.stack(points, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    canvas = torch.zeros_like(image_patches)
    scene = torch.arange(len(canvas), device=canvas.device)
    points = [score(canvas)]
    for place in order.T:
        canvas[scene, place] = image_patches[scene, place]
        points.append(score(canvas))
    return torch.stack(points, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(dim=-1)

# %% [wrong] mean_of_points | area_under is the mean of all n + 1 points, where the ends count as much as the others; trapezoids give them half: for 1, 0.5, 0.3 it is 0.6 instead of 0.575
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    scene = torch.arange(len(shown), device=shown.device)
    points = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        points.append(score(shown))
    return torch.stack(points, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    scene = torch.arange(len(shown), device=shown.device)
    points = [score(shown)]
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        points.append(score(shown))
    return torch.stack(points, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(dim=-1)

# %% [wrong] all_orders_in_all_scenes | shown[:, order[:, step]] blanks in every scene the patches of all scenes' orders at once; it should be shown[scene, order[:, step]]
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    points = [score(shown)]
    for step in range(order.shape[1]):
        shown[:, order[:, step]] = blank
        points.append(score(shown))
    return torch.stack(points, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    scene = torch.arange(len(shown), device=shown.device)
    points = [score(shown)]
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        points.append(score(shown))
    return torch.stack(points, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(dim=-1)

# %% [wrong] width_of_n | area_under takes torch.trapezoid with steps of width 1, so the area is n times too large; over a width of 1 each step is 1/n wide
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = image_patches.clone()
    scene = torch.arange(len(shown), device=shown.device)
    points = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        points.append(score(shown))
    return torch.stack(points, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    shown = blank.expand_as(image_patches).clone()
    scene = torch.arange(len(shown), device=shown.device)
    points = [score(shown)]
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        points.append(score(shown))
    return torch.stack(points, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dim=-1)

# %% [right] by_rank | the rank of each patch says at which step it is shown or hidden; nothing is written into a copy
def _rank_of(order: Tensor) -> Tensor:
    return order.argsort(dim=1).unsqueeze(-1)  # (B, n, 1): when each patch has its turn


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    turn = _rank_of(order)
    return torch.stack([score(torch.where(turn < k, blank, image_patches)) for k in range(order.shape[1] + 1)], dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    turn = _rank_of(order)
    return torch.stack([score(torch.where(turn < k, image_patches, blank)) for k in range(order.shape[1] + 1)], dim=1)


def area_under(curve: Tensor) -> Tensor:
    return torch.trapezoid(curve, dim=-1) / (curve.shape[-1] - 1)
