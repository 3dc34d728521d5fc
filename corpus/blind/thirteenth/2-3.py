# %% [wrong] default_axis | F.normalize without dim normalises along axis 1, which is the features for (N, d) alone; tokens (B, n, d) are divided by lengths taken over the places
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = F.normalize(aligned) @ F.normalize(words).T / temperature
    return F.cross_entropy(scores.reshape(-1, len(words)), labels.reshape(-1))


# %% [wrong] view_of_a_transpose | flattens tokens and labels with view, which raises for a layout that is not contiguous, such as a transposed tensor
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens = aligned.view(-1, aligned.shape[-1])
    right = labels.view(-1)
    unit = lambda v: v / v.norm(dim=-1, keepdim=True)
    cosine = unit(tokens) @ unit(words).t()
    return F.cross_entropy(cosine / temperature, right)


# %% [wrong] softmax_twice | turns the scores into shares first and gives these to F.cross_entropy, which does a softmax of its own: the loss is far too flat and never comes near 0
def alignment_loss(aligned, words, labels, temperature=0.1):
    d, V = aligned.shape[-1], words.shape[0]
    cosine = torch.einsum("nd,vd->nv", F.normalize(aligned.reshape(-1, d), dim=-1), F.normalize(words, dim=-1))
    shares = torch.softmax(cosine / temperature, dim=-1)
    assert shares.shape[-1] == V
    return F.cross_entropy(shares, labels.reshape(-1))


# %% [wrong] words_keep_their_length | divides the tokens by their length and leaves the words as long as they are: a dot product that favours long words, no cosine
def alignment_loss(aligned, words, labels, temperature=0.1):
    direction = F.normalize(aligned, dim=-1)
    scores = (direction.unsqueeze(-2) * words).sum(dim=-1) / temperature  # (..., V)
    log_share = scores - torch.logsumexp(scores, dim=-1, keepdim=True)
    own = log_share.gather(-1, labels.unsqueeze(-1))
    return -own.mean()


# %% [wrong] times_temperature | multiplies the cosines by the temperature instead of dividing: with 0.1 the scores shrink to ±0.1, and all words get almost the same share
def alignment_loss(aligned, words, labels, temperature=0.1):
    losses = []
    flat = aligned.reshape(-1, aligned.shape[-1])
    for token, label in zip(flat, labels.reshape(-1)):
        similarities = F.cosine_similarity(words, token.unsqueeze(0), dim=-1)
        losses.append(-F.log_softmax(similarities * temperature, dim=0)[label])
    return torch.stack(losses).mean()


# %% [right] logsumexp_minus_own | cosine_similarity by broadcasting, the cross-entropy written out as log-sum-exp minus the score of the own word
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1) / temperature
    own = torch.take_along_dim(scores, labels.unsqueeze(-1), dim=-1).squeeze(-1)
    return (scores.logsumexp(dim=-1) - own).mean()
