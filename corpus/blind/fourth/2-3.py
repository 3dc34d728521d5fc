# %% [wrong] normalize_default_axis | `F.normalize` without `dim` divides along axis 1: right for (N, d), and wrong as soon as tokens have more dimensions.
def alignment_loss(aligned, words, labels, temperature=0.1):
    sims = F.normalize(aligned) @ F.normalize(words).T
    return F.cross_entropy(sims.reshape(-1, len(words)) / temperature, labels.reshape(-1))


# %% [wrong] times_temperature | Multiplies by the temperature in place of dividing by it.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    logits = temperature * (a @ w.T)
    return F.cross_entropy(logits.flatten(0, -2) if logits.ndim > 2 else logits, labels.flatten())


# %% [wrong] words_keep_their_length | Only the tokens are divided by their length; the words keep theirs, so it is no cosine.
def alignment_loss(aligned, words, labels, temperature=0.1):
    unit = aligned / aligned.norm(dim=-1, keepdim=True)
    scores = unit @ words.t() / temperature
    return F.cross_entropy(scores.reshape(-1, words.shape[0]), labels.reshape(-1))


# %% [wrong] softmax_twice | A softmax is taken before `F.cross_entropy`, which does one itself.
def alignment_loss(aligned, words, labels, temperature=0.1):
    cos = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1)
    shares = torch.softmax(cos / temperature, dim=-1)
    return F.cross_entropy(shares.reshape(-1, len(words)), labels.reshape(-1))


# %% [wrong] view_refuses | `view` needs numbers that lie in order in memory: for a transposed tensor it raises an error.
def alignment_loss(aligned, words, labels, temperature=0.1):
    flat = aligned.view(-1, aligned.size(-1))
    sims = F.normalize(flat, dim=-1) @ F.normalize(words, dim=-1).T
    return F.cross_entropy(sims / temperature, labels.view(-1))


# %% [wrong] default_temperature_only | The number 0.1 is written into the formula, and the argument is ignored.
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens = F.normalize(aligned.reshape(-1, aligned.shape[-1]), dim=-1)
    vocabulary = F.normalize(words, dim=-1)
    similarity = tokens @ vocabulary.T
    return F.cross_entropy(similarity / 0.1, labels.reshape(-1))


# %% [right] by_hand_logsumexp | No `cross_entropy`: the log-sum-exp of all scores less the score of the right word, and the mean.
def alignment_loss(aligned, words, labels, temperature=0.1):
    unit = lambda x: x / x.norm(dim=-1, keepdim=True).clamp_min(1e-12)
    scores = torch.einsum("...d,vd->...v", unit(aligned), unit(words)) / temperature
    right = scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return (scores.logsumexp(-1) - right).mean()
