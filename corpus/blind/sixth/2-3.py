# %% [wrong] default_dim | F.normalize(aligned) without dim=-1 normalises along dim 1: with more than two axes that runs over the tokens and not over the features, so the similarities are no cosines
def alignment_loss(aligned, words, labels, temperature=0.1):
    sim = F.normalize(aligned) @ F.normalize(words).T
    return F.cross_entropy((sim / temperature).reshape(-1, len(words)), labels.reshape(-1))

# %% [wrong] words_keep_length | Only the tokens are divided by their lengths; the words are not, so long words get larger scores and the similarity is no cosine
def alignment_loss(aligned, words, labels, temperature=0.1):
    tok = aligned / aligned.norm(dim=-1, keepdim=True)
    logits = tok @ words.T / temperature
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten())

# %% [wrong] times_temperature | The cosines are multiplied by the temperature instead of divided, so the softmax is nearly flat: with 0.1 the scores lie in −0.1…0.1
def alignment_loss(aligned, words, labels, temperature=0.1):
    cos = torch.einsum("...d,vd->...v", F.normalize(aligned, dim=-1), F.normalize(words, dim=-1))
    logits = temperature * cos
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))

# %% [wrong] log_softmax_summed | The negative log shares of the right words are summed over the tokens instead of averaged, so the loss grows with their number; reduction should be the mean
def alignment_loss(aligned, words, labels, temperature=0.1):
    cos = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).transpose(0, 1)
    logp = F.log_softmax(cos / temperature, dim=-1).reshape(-1, words.shape[0])
    return F.nll_loss(logp, labels.reshape(-1), reduction="sum")

# %% [wrong] view_refuses | aligned.view(-1, d) raises an error for a transposed tensor, which is not contiguous; the task demands any layout, so it should be reshape
def alignment_loss(aligned, words, labels, temperature=0.1):
    flat = aligned.view(-1, aligned.shape[-1])
    scores = F.normalize(flat, dim=-1) @ F.normalize(words, dim=-1).T
    return F.cross_entropy(scores / temperature, labels.reshape(-1))

# %% [wrong] clip_both_halves | The loss of CLIP's second half is added: the batch's own words against the tokens in both directions, the mean of both, where only the cross-entropy of each token over the V words is asked for
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned.reshape(-1, aligned.shape[-1]), dim=-1)
    w = F.normalize(words, dim=-1)[labels.reshape(-1)]
    scores = a @ w.T / temperature
    own = torch.arange(len(a), device=a.device)
    return (F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own)) / 2

# %% [right] logsumexp | minus the right score plus the logsumexp, on tokens of any layout
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T / temperature
    right = scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return (scores.logsumexp(dim=-1) - right).mean()
