# %% [wrong] default_normalize_axis | F.normalize without dim divides along axis 1, which is not the width once tokens have more than two axes.
def alignment_loss(aligned, words, labels, temperature=0.1):
    cosines = F.normalize(aligned) @ F.normalize(words).T
    scores = cosines / temperature
    return F.cross_entropy(scores.flatten(0, -2), labels.flatten())

# %% [wrong] words_keep_their_length | Only the tokens are normalised; words that are not of length 1 make this no cosine.
def alignment_loss(aligned, words, labels, temperature=0.1):
    unit = aligned / aligned.norm(dim=-1, keepdim=True)
    scores = torch.einsum("...d,vd->...v", unit, words) / temperature
    return F.cross_entropy(scores.reshape(-1, len(words)), labels.reshape(-1))

# %% [wrong] times_temperature | Multiplies by the temperature in place of dividing by it.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a, w = F.normalize(aligned, dim=-1), F.normalize(words, dim=-1)
    log_share = torch.log_softmax(a @ w.T * temperature, dim=-1)
    return -log_share.gather(-1, labels.unsqueeze(-1)).mean()

# %% [wrong] view_refuses | Flattens with view, which raises an error for a transposed tensor.
def alignment_loss(aligned, words, labels, temperature=0.1):
    flat = aligned.view(-1, aligned.shape[-1])
    right = labels.view(-1)
    cosine = F.cosine_similarity(flat[:, None], words[None], dim=-1)
    return F.cross_entropy(cosine / temperature, right)

# %% [wrong] softmax_before_cross_entropy | Hands the softmax to F.cross_entropy, which does a second softmax.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1).reshape(-1, aligned.shape[-1])
    shares = torch.softmax(a @ F.normalize(words, dim=-1).mT / temperature, dim=-1)
    return F.cross_entropy(shares, labels.reshape(-1))

# %% [wrong] both_halves | Adds CLIP's other half: the mean with a softmax down the columns. Only the first half is asked for.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned.reshape(-1, aligned.shape[-1]), dim=-1)
    own = F.normalize(words, dim=-1)[labels.reshape(-1)]
    pairs = a @ own.T / temperature
    diagonal = torch.arange(len(a), device=a.device)
    return (F.cross_entropy(pairs, diagonal) + F.cross_entropy(pairs.T, diagonal)) / 2

# %% [right] logsumexp_minus_own | Cosine by broadcasting; then logsumexp minus the own score, without flattening.
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1) / temperature
    own = torch.take_along_dim(scores, labels.unsqueeze(-1), dim=-1).squeeze(-1)
    return (scores.logsumexp(-1) - own).mean()
