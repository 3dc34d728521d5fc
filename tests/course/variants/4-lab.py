# Right answers in other styles than the reference and the solution: each must earn full points.
# ruff: noqa

# ---------------------------------------------------------------- 4.1 to 4.4: do maps explain?


# %% exercise="4.1" variant="from the last layer"
def attention_rollout(self_maps, cross_map):
    seen = cross_map.mean(-3)
    steps = [0.5 * (weights.mean(-3) + torch.eye(weights.shape[-1]).to(weights)) for weights in self_maps]
    chain = steps.pop()
    while steps:
        chain = chain @ steps.pop()
    return chain @ seen


# %% exercise="4.1" variant="residual by hand"
def attention_rollout(self_maps, cross_map):
    seen = cross_map.sum(-3) / cross_map.shape[-3]
    for weights in self_maps:
        seen = seen / 2 + (weights.mean(-3) @ seen) / 2
    return seen


# %% exercise="4.1" variant="einsum"
def attention_rollout(self_maps, cross_map):
    seen = torch.einsum("...hts->...ts", cross_map) / cross_map.size(-3)
    for weights in self_maps:
        average = torch.einsum("...hts->...ts", weights) / weights.size(-3)
        seen = 0.5 * seen + 0.5 * torch.einsum("...ij,...js->...is", average, seen)
    return seen


# %% exercise="4.1" variant="diagonal"
def attention_rollout(self_maps, cross_map):
    result = cross_map.mean(dim=-3)
    for one in self_maps:
        half = one.mean(dim=-3) * 0.5
        half.diagonal(dim1=-2, dim2=-1).add_(0.5)
        result = half.matmul(result)
    return result


# %% exercise="4.2" variant="relu of the gradient"
def gradient_attention(weights, score):
    gradient = torch.autograd.grad(score, weights, torch.ones_like(score), retain_graph=True)[0]
    return (weights * F.relu(gradient)).mean(-3).detach()


# %% exercise="4.2" variant="where"
def gradient_attention(weights, score):
    product = weights * torch.autograd.grad(score.sum(), [weights])[0]
    return torch.where(product > 0, product, torch.zeros_like(product)).mean(dim=-3)


# %% exercise="4.2" variant="head by head"
def gradient_attention(weights, score):
    (slope,) = torch.autograd.grad(outputs=score.sum(), inputs=weights)
    total = 0
    for head in range(weights.shape[-3]):
        total = total + (weights[..., head, :, :] * slope[..., head, :, :]).clamp(min=0)
    return total / weights.shape[-3]


# %% exercise="4.2" variant="backward to one tensor"
def gradient_attention(weights, score):
    score.sum().backward(inputs=[weights], retain_graph=True)
    gains = weights.detach() * weights.grad
    weights.grad = None
    return gains.maximum(torch.zeros(()).to(gains)).mean(-3)


# %% exercise="4.3" variant="turns"
def deletion_curve(score, image_patches, order, blank):
    turn = order.argsort(1).unsqueeze(-1)
    return torch.stack([score(torch.where(turn < k, blank, image_patches)) for k in range(order.shape[1] + 1)], 1)


def insertion_curve(score, image_patches, order, blank):
    turn = order.argsort(1).unsqueeze(-1)
    return torch.stack([score(torch.where(turn < k, image_patches, blank)) for k in range(order.shape[1] + 1)], 1)


def area_under(curve):
    return ((curve[..., 1:] + curve[..., :-1]) / 2).mean(-1)


# %% exercise="4.3" variant="one for both"
def _curve(score, before, after, order):
    scenes, shown = torch.arange(len(before))[:, None], before.clone()
    points = [score(shown)]
    for k in range(1, order.shape[1] + 1):
        shown = before.clone()
        shown[scenes, order[:, :k]] = after[scenes, order[:, :k]]
        points.append(score(shown))
    return torch.stack(points).T


def deletion_curve(score, image_patches, order, blank):
    return _curve(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches, order, blank):
    return _curve(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve):
    inner = curve[..., 1:-1].sum(-1)
    return (inner + (curve[..., 0] + curve[..., -1]) / 2) / (curve.shape[-1] - 1)


# %% exercise="4.3" variant="insertion is deletion in reverse order, from the end"
def deletion_curve(score, image_patches, order, blank):
    index = order.unsqueeze(-1).expand(-1, -1, image_patches.shape[-1])
    gone = torch.broadcast_to(blank, image_patches.shape)
    curve = []
    for k in range(order.shape[1] + 1):
        curve.append(score(image_patches.scatter(1, index[:, :k], gone)))
    return torch.stack(curve, -1)


def insertion_curve(score, image_patches, order, blank):
    return deletion_curve(score, image_patches, order.flip(1), blank).flip(1)


def area_under(curve):
    n = curve.shape[-1] - 1
    return torch.trapz(curve, dx=1 / n)


# %% exercise="4.3" variant="scene by scene"
def deletion_curve(score, image_patches, order, blank):
    B, n, d = image_patches.shape
    shown, points = image_patches.clone(), [score(image_patches)]
    for k in range(n):
        for b in range(B):
            shown[b, order[b, k]] = blank
        points.append(score(shown.clone()))
    return torch.stack(points, dim=1)


def insertion_curve(score, image_patches, order, blank):
    B, n, d = image_patches.shape
    shown = torch.zeros_like(image_patches) + blank
    points = [score(shown.clone())]
    for k in range(n):
        for b in range(B):
            shown[b, order[b, k]] = image_patches[b, order[b, k]]
        points.append(score(shown.clone()))
    return torch.stack(points, dim=1)


def area_under(curve):
    return sum((curve[..., k] + curve[..., k + 1]) / 2 for k in range(curve.shape[-1] - 1)) / (curve.shape[-1] - 1)


# %% exercise="4.4" variant="clone and assign"
def patch_head(model, head, token_ids, clean, twin):
    brought = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = brought[:, head]
        return heads

    return model.inside(token_ids, twin, edit=edit).logits


# %% exercise="4.4" variant="cat"
def patch_head(model, head, token_ids, clean, twin):
    good = model.inside(token_ids, clean)[3]
    mix = lambda heads: torch.cat([heads[:, :head], good[:, head : head + 1], heads[:, head + 1 :]], dim=1)
    return model.inside(token_ids, twin, mix)[0]


# %% exercise="4.4" variant="difference"
def patch_head(model, head, token_ids, clean, twin):
    one_hot = F.one_hot(torch.tensor(head), model.blocks[-1].cross_attn.num_heads)
    good = model.inside(token_ids, clean).heads
    return model.inside(
        token_ids, twin, lambda heads: heads + (good - heads) * one_hot.to(heads).reshape(1, -1, 1, 1)
    ).logits


# %% exercise="4.4" variant="in place, without gradients"
def patch_head(model, head, token_ids, clean, twin):
    with torch.no_grad():
        taken = []
        model.inside(token_ids, clean, lambda heads: taken.append(heads) or heads)

        def edit(heads):
            heads[:, head] = taken[0][:, head]
            return heads

        return model.inside(token_ids, twin, edit).logits


# %% exercise="4.5" variant="the tilde"
def look_past_padding(cross_attn, words, patches, padding):
    mask = ~padding.unsqueeze(-2)
    return cross_attn(words, patches, mask)


# %% exercise="4.5" variant="a row for each word"
def look_past_padding(cross_attn, words, patches, padding):
    own = torch.ones_like(padding) ^ padding
    rows = own.unsqueeze(1).expand(-1, words.size(1), -1)
    return cross_attn(words, context=patches, mask=rows)


# %% exercise="4.5" variant="comparison"
def look_past_padding(cross_attn: nn.Module, words, patches, padding, verbose: bool = False):
    allowed = padding[:, None] == False
    seen, weights = cross_attn.forward(words, patches, allowed)
    if verbose:
        print(weights.shape)
    return (seen, weights)


# %% exercise="4.5" variant="scene by scene"
def look_past_padding(cross_attn, words, patches, padding):
    one_by_one = [
        cross_attn(words[b : b + 1], patches[b : b + 1], padding[b].logical_not()) for b in range(len(words))
    ]
    return torch.cat([seen for seen, _ in one_by_one]), torch.cat([weights for _, weights in one_by_one])


# %% exercise="4.6" variant="torch's softmax"
def look_once(query, key, value):
    d_k = query.shape[-1]
    weights = torch.softmax(query @ key.transpose(-2, -1) / d_k**0.5, dim=-1)
    return weights @ value, weights


# %% exercise="4.6" variant="key scaled"
def look_once(query, key, value):
    scores = torch.einsum("...td,...sd->...ts", query, key * key.size(-1) ** -0.5)
    weights = F.softmax(scores, -1)
    return torch.matmul(weights, value), weights


# %% exercise="4.6" variant="both sides by the fourth root"
def look_once(query, key, value):
    root = query.shape[-1] ** 0.25
    scores = (query / root).matmul((key / root).mT)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights


# %% exercise="4.6" variant="log sum exp"
def look_once(query: Tensor, key: Tensor, value: Tensor):
    scores = query @ key.transpose(-2, -1)
    scores = scores / torch.tensor(float(query.shape[-1]), dtype=query.dtype, device=query.device).sqrt()
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return weights @ value, weights


# %% exercise="4.7" variant="shorter block"
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        features = encoder(patches)
    return aligner(features)


# %% exercise="4.7" variant="decorated helper"
@torch.no_grad()
def encoded(encoder, patches):
    return encoder(patches)


def image_tokens(encoder, aligner, patches):
    return aligner(encoded(encoder, patches))


# %% exercise="4.7" variant="gradients on again inside"
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        features = encoder(patches)
        with torch.enable_grad():
            tokens = aligner(features)
    return tokens


# %% exercise="4.7" variant="copied out of inference mode"
def image_tokens(encoder, aligner, patches):
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features.clone())


# %% exercise="4.8" variant="flip and remainder"
def mirror_left_right(cells, patches, turned):
    row, column = cells // 3, cells % 3
    grid = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    cells = torch.where(turned, 3 * row + 2 - column, cells)
    return cells, torch.where(turned[:, None, None], grid, patches)


# %% exercise="4.8" variant="written into copies"
def mirror_left_right(cells, patches, turned):
    cells, patches = cells.clone(), patches.clone()
    cells[turned] += 2 - 2 * (cells[turned] % 3)
    patches[turned] = patches[turned][:, [2, 1, 0, 5, 4, 3, 8, 7, 6]]
    return cells, patches


# %% exercise="4.8" variant="gather"
def mirror_left_right(cells, patches, turned):
    place = torch.arange(9, device=cells.device)
    opposite = place - place % 3 + (2 - place % 3)
    order = torch.where(turned.unsqueeze(1), opposite, place)
    shown = patches.gather(1, order.unsqueeze(-1).expand_as(patches))
    return order.gather(1, cells.unsqueeze(1)).squeeze(1), shown


# %% exercise="4.8" variant="scene by scene"
def mirror_left_right(cells, patches, turned):
    places, scenes = [], []
    for cell, scene, turn in zip(cells.tolist(), patches, turned.tolist()):
        row, column = divmod(cell, 3)
        places.append(3 * row + (2 - column if turn else column))
        scenes.append(torch.cat([scene[[2, 1, 0]], scene[[5, 4, 3]], scene[[8, 7, 6]]]) if turn else scene)
    return torch.tensor(places, device=cells.device), torch.stack(scenes)


# %% exercise="4.9" variant="minus"
def looking_loss(logits, answers, weights, strength):
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy


# %% exercise="4.9" variant="a small number inside the log"
def looking_loss(logits, answers, weights, strength):
    answered = -logits.log_softmax(-1).gather(1, answers[:, None]).mean()
    looking = -(weights * (weights + 1e-10).log()).sum(1)
    return answered - strength * looking.sum() / len(looking)


# %% exercise="4.9" variant="where"
def looking_loss(logits, answers, weights, strength):
    safe = torch.where(weights > 0, weights, torch.ones_like(weights))
    entropy = -(weights * safe.log()).sum(dim=-1)
    loss = nn.CrossEntropyLoss()(logits, answers)
    return loss - (strength * entropy).mean()


# %% exercise="4.9" variant="negative entropy added"
def looking_loss(logits, answers, weights, strength):
    tiny = torch.finfo(weights.dtype).tiny
    negative = (weights * torch.log(torch.clamp(weights, min=tiny))).sum(-1).mean()
    return F.nll_loss(F.log_softmax(logits, dim=-1), answers) + strength * negative
