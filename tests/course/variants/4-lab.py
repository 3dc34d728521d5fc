# Right answers in other styles than the reference and the solution: each must earn full points.
# ruff: noqa

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
