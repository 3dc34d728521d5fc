# %% [wrong] plain_mean_of_the_points | The area is the plain mean of the n + 1 points, in which both ends count in full; by trapezoids they count half.
def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(order), device=order.device)
    shown = image_patches.clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown[scene, order[:, step]] = blank
        scores.append(score(shown.clone()))
    return torch.stack(scores, dim=1)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    scene = torch.arange(len(order), device=order.device)
    shown = blank.expand_as(image_patches).clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        place = order[:, step]
        shown[scene, place] = image_patches[scene, place]
        scores.append(score(shown.clone()))
    return torch.stack(scores, dim=1)


def area_under(curve: Tensor) -> Tensor:
    return curve.mean(dim=-1)
