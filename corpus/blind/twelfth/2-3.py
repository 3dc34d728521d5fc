# %% [wrong] normalised_over_tokens | F.normalize without dim works along axis 1: the last one of (N, d), but the tokens of (B, n, d), so with a batch in front the similarities are no cosines
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned) @ F.normalize(words).T
    scores = similarity / temperature
    return F.cross_entropy(scores.reshape(-1, len(words)), labels.reshape(-1))


# %% [wrong] view_refuses | flattens with view, which raises a RuntimeError for tensors that are not contiguous, such as a transposed one
def alignment_loss(aligned, words, labels, temperature=0.1):
    aligned = aligned.view(-1, aligned.size(-1))
    labels = labels.view(-1)
    aligned = aligned / aligned.norm(dim=-1, keepdim=True)
    words = words / words.norm(dim=-1, keepdim=True)
    return F.cross_entropy(aligned @ words.t() / temperature, labels)


# %% [wrong] long_words_win | only the tokens are divided by their length, not the words: the product is no cosine, and long words get larger scores
def alignment_loss(aligned, words, labels, temperature=0.1):
    unit = F.normalize(aligned, dim=-1)
    logits = torch.einsum("...d,vd->...v", unit, words) / temperature
    log_p = logits.log_softmax(dim=-1)
    return -log_p.gather(-1, labels.unsqueeze(-1)).mean()


# %% [wrong] softmax_twice | the shares of a softmax are handed to F.cross_entropy, which does a softmax of its own: the loss is far too flat
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens = F.normalize(aligned.reshape(-1, aligned.shape[-1]), dim=-1)
    vocabulary = F.normalize(words, dim=-1)
    shares = torch.softmax(tokens @ vocabulary.T / temperature, dim=-1)
    return F.cross_entropy(shares, labels.reshape(-1))


# %% [wrong] times_the_temperature | the cosines are multiplied by the temperature instead of divided by it, so a small temperature makes the choice flat and not sharp
def alignment_loss(aligned, words, labels, temperature=0.1):
    cosine = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1)
    scores = temperature * cosine
    right = scores.gather(-1, labels[..., None])[..., 0]
    return (torch.logsumexp(scores, dim=-1) - right).mean()


# %% [right] logsumexp_minus_own | no F.cross_entropy and no flattening: the loss of a token is the logsumexp of its scores minus the score of its own word, whose cosine is taken directly
def alignment_loss(aligned, words, labels, temperature=0.1):
    every = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1)
    own = F.cosine_similarity(aligned, words[labels], dim=-1)
    return ((every / temperature).logsumexp(dim=-1) - own / temperature).mean()
