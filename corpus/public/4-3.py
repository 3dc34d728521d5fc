# %% [right] start_and_finish_as_in_rise | start turns into finish patch by patch, auc as sum less half the ends, after eclique/RISE (CausalMetric)
def _causal_curve(score, start, finish, order):
    start = start.clone()
    r = torch.arange(len(start), device=start.device)
    scores = []
    n_steps = order.shape[1]
    for i in range(n_steps + 1):
        scores.append(score(start))
        if i < n_steps:
            start = start.clone()
            coords = order[:, i]
            start[r, coords] = finish[r, coords]
    return torch.stack(scores, dim=1)


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _causal_curve(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    return _causal_curve(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve: Tensor) -> Tensor:
    return (curve.sum(-1) - curve[..., 0] / 2 - curve[..., -1] / 2) / (curve.shape[-1] - 1)


# %% [right] ranks_and_where | rank of each patch by a second argsort, torch.where for each step, torch.trapezoid, after understandable-machine-intelligence-lab/Quantus (pixel flipping)
def _ranks(order):
    return order.argsort(dim=1)


def deletion_curve(score, image_patches, order, blank):
    rank = _ranks(order).unsqueeze(-1)
    curve = [score(torch.where(rank < k, blank, image_patches)) for k in range(order.shape[1] + 1)]
    return torch.stack(curve, dim=-1)


def insertion_curve(score, image_patches, order, blank):
    rank = _ranks(order).unsqueeze(-1)
    curve = [score(torch.where(rank < k, image_patches, blank)) for k in range(order.shape[1] + 1)]
    return torch.stack(curve, dim=-1)


def area_under(curve):
    return torch.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), dim=-1)


# %% [right] scatter_of_a_keep_mask_without_gradients | a float mask changed by scatter, blended, under no_grad, after captum style perturbation metrics (unsure: whether gradients may stop)
@torch.no_grad()
def deletion_curve(score, image_patches, order, blank):
    keep = torch.ones(order.shape, dtype=image_patches.dtype, device=image_patches.device)
    values = [score(image_patches)]
    for step in range(order.size(1)):
        keep = keep.scatter(1, order[:, step : step + 1], 0.0)
        values.append(score(keep[..., None] * image_patches + (1 - keep[..., None]) * blank))
    return torch.stack(values, 1)


@torch.no_grad()
def insertion_curve(score, image_patches, order, blank):
    keep = torch.zeros(order.shape, dtype=image_patches.dtype, device=image_patches.device)
    values = [score(blank.expand_as(image_patches))]
    for step in range(order.size(1)):
        keep = keep.scatter(1, order[:, step : step + 1], 1.0)
        values.append(score(keep[..., None] * image_patches + (1 - keep[..., None]) * blank))
    return torch.stack(values, 1)


def area_under(curve):
    return ((curve[..., 1:] + curve[..., :-1]) * 0.5).mean(dim=-1)


# %% [right] preallocated_scores_first_k_patches | an array of scores made first, the first k indices written at once for each k, after meier-johannes94/ExplainableAIImageMeasures (unsure: whether gradients may stop)
def deletion_curve(score, image_patches, order, blank):
    b, n = order.shape
    rows = torch.arange(b, device=order.device).unsqueeze(1)
    scores = image_patches.new_zeros(b, n + 1)
    for k in range(n + 1):
        changed = image_patches.clone()
        changed[rows, order[:, :k]] = blank
        scores[:, k] = score(changed).detach()
    return scores


def insertion_curve(score, image_patches, order, blank):
    b, n = order.shape
    rows = torch.arange(b, device=order.device).unsqueeze(1)
    scores = image_patches.new_zeros(b, n + 1)
    for k in range(n + 1):
        shown = blank.repeat(b, n, 1)
        shown[rows, order[:, :k]] = image_patches[rows, order[:, :k]]
        scores[:, k] = score(shown).detach()
    return scores


def area_under(curve):
    n = curve.size(-1) - 1
    x = torch.linspace(0, 1, n + 1, dtype=curve.dtype, device=curve.device)
    return torch.trapz(curve, x, dim=-1)
