# %% [wrong] raw_dot_products | neither side is divided by its length: the scores are dot products over the temperature, where cosines are asked, so long vectors count more
def alignment_loss(aligned, words, labels, temperature=0.1):
    V = words.shape[0]
    scores = aligned @ words.T / temperature
    return F.cross_entropy(scores.reshape(-1, V), labels.reshape(-1))

# %% [wrong] default_axis | F.normalize without dim=-1 divides along axis 1; for words that is right by luck, for aligned (B, n, d) it runs over the tokens
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned) @ F.normalize(words).T
    return F.cross_entropy((similarity / temperature).flatten(0, -2), labels.flatten())

# %% [wrong] times_temperature | the similarities are multiplied by the temperature in place of divided, so −1…1 becomes −0.1…0.1 and the choice gets flat; the example gives 0.474 and not 0.127
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned.reshape(-1, aligned.shape[-1]), dim=-1)
    w = F.normalize(words, dim=-1)
    return F.cross_entropy(a @ w.T * temperature, labels.reshape(-1))

# %% [wrong] view_refuses | view(-1, d) raises an error for a transposed tensor; the task asks for any layout in memory, so reshape is needed
def alignment_loss(aligned, words, labels, temperature=0.1):
    flat = aligned.view(-1, aligned.shape[-1])
    cos = F.normalize(flat, dim=1) @ F.normalize(words, dim=1).t()
    return F.cross_entropy(cos / temperature, labels.view(-1))

# %% [wrong] both_halves | it adds CLIP's other half, the softmax down the columns, and averages; here the first half alone is asked, and the labels do not even fit when a word has several tokens or N ≠ V
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens = F.normalize(aligned.reshape(-1, aligned.shape[-1]), dim=-1)
    labels = labels.reshape(-1)
    own = F.normalize(words, dim=-1)[labels]
    scores = tokens @ own.T / temperature
    pairs = torch.arange(len(labels), device=labels.device)
    return (F.cross_entropy(scores, pairs) + F.cross_entropy(scores.T, pairs)) / 2

# %% [wrong] pull_without_push | the loss is 1 − cosine to the own word, averaged; nothing pushes away from the other words, and temperature is not used: no cross-entropy
def alignment_loss(aligned, words, labels, temperature=0.1):
    flat = aligned.reshape(-1, aligned.shape[-1])
    own = words[labels.reshape(-1)]
    return (1 - F.cosine_similarity(flat, own, dim=-1)).mean()

# %% [right] logsumexp_by_hand | the cross-entropy is spelt out as logsumexp minus the own score, with leading axes left as they are
def alignment_loss(aligned, words, labels, temperature=0.1):
    cosines = torch.einsum("...d,vd->...v", F.normalize(aligned, dim=-1), F.normalize(words, dim=-1))
    scores = cosines / temperature
    own = torch.take_along_dim(scores, labels.unsqueeze(-1), dim=-1).squeeze(-1)
    return (scores.logsumexp(dim=-1) - own).mean()
