# %% [wrong] no_normalisation | The vectors are not divided by their lengths, so these are plain dot products and not cosines.
def alignment_loss(aligned, words, labels, temperature=0.1):
    logits = aligned @ words.T / temperature
    return F.cross_entropy(logits.reshape(-1, len(words)), labels.reshape(-1))

# %% [wrong] words_not_normalised | Only the tokens are normalised; the words keep their lengths.
def alignment_loss(aligned, words, labels, temperature=0.1):
    aligned = F.normalize(aligned, dim=-1)
    # the words are unit vectors already
    scores = aligned @ words.transpose(0, 1)
    scores = scores / temperature
    return F.cross_entropy(scores.reshape(-1, words.shape[0]), labels.reshape(-1))

# %% [wrong] times_temperature | The similarities are multiplied by the temperature, they should be divided by it.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    sim = a @ w.T
    return F.cross_entropy((sim * temperature).reshape(-1, len(w)), labels.reshape(-1))

# %% [wrong] softmax_twice | A softmax is taken before F.cross_entropy, which does one itself.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    probabilities = torch.softmax(a @ w.T / temperature, dim=-1)
    V = words.shape[0]
    return F.cross_entropy(probabilities.reshape(-1, V), labels.reshape(-1))

# %% [wrong] normalize_default_axis | F.normalize is called without dim=-1; its default axis 1 is the axis of tokens once there is a batch.
def alignment_loss(aligned, words, labels, temperature=0.1):
    sims = F.normalize(aligned) @ F.normalize(words).T
    return F.cross_entropy(sims.reshape(-1, len(words)) / temperature, labels.reshape(-1))

# %% [wrong] temperature_ignored | The argument temperature is ignored, 0.1 is written into the formula.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    logits = 10 * torch.einsum("...d,vd->...v", a, w)
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten())

# %% [wrong] summed | The losses of the tokens are added up (reduction="sum"), the mean is asked for.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a, w = F.normalize(aligned, dim=-1), F.normalize(words, dim=-1)
    logits = (a @ w.T).div(temperature)
    return F.cross_entropy(logits.reshape(-1, w.shape[0]), labels.reshape(-1), reduction="sum")

# %% [wrong] log_forgotten | nll_loss gets probabilities without the logarithm, so it returns minus the mean probability and not the cross-entropy.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    p = F.softmax(a @ w.T / temperature, dim=-1)
    return F.nll_loss(p.reshape(-1, len(words)), labels.reshape(-1))

# %% [wrong] leading_dims_not_flattened | Scores (B, n, V) go into F.cross_entropy as they are, which takes axis 1 for the classes; it only works without a batch.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    return F.cross_entropy(a @ w.T / temperature, labels)

# %% [wrong] permute_needs_batch | The classes are moved to axis 1 with permute(0, 2, 1), which only works for exactly three axes and raises for tokens (N, d).
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = aligned / aligned.norm(dim=-1, keepdim=True)
    w = words / words.norm(dim=-1, keepdim=True)
    scores = torch.matmul(a, w.t()) / temperature  # (B, n, V)
    return F.cross_entropy(scores.permute(0, 2, 1), labels)

# %% [wrong] clip_both_ways | It adds the other direction of CLIP's loss, images competing for words, and takes the mean of both; only one direction is asked for.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned.reshape(-1, aligned.shape[-1]), dim=-1)
    w = F.normalize(words, dim=-1)
    labels = labels.reshape(-1)
    image_to_word = F.cross_entropy(a @ w.T / temperature, labels)
    own = w[labels]
    word_to_image = F.cross_entropy(own @ a.T / temperature, torch.arange(len(a), device=a.device))
    return (image_to_word + word_to_image) / 2

# %% [wrong] one_minus_cosine | It only pulls to the own word (mean of 1 − cosine); nothing pushes away from the other words, there is no cross-entropy.
def alignment_loss(aligned, words, labels, temperature=0.1):
    target = words[labels]
    cos = F.cosine_similarity(aligned, target, dim=-1)
    return (1 - cos).div(temperature).mean()

# %% [wrong] one_norm_for_all | norm() without dim gives a single number for the whole tensor, so the vectors are not of length 1.
def alignment_loss(aligned, words, labels, temperature=0.1):
    aligned = aligned / aligned.norm()
    words = words / words.norm()
    logits = aligned @ words.T / temperature
    return F.cross_entropy(logits.reshape(-1, len(words)), labels.reshape(-1))

# %% [wrong] item_no_gradient | .item() turns the loss into a plain number, so no gradient reaches the aligner.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    logits = (a @ w.T / temperature).reshape(-1, words.shape[0])
    loss = F.cross_entropy(logits, labels.reshape(-1))
    return loss.item()

# %% [wrong] clip_temperature_default | The default temperature is CLIP's 0.07 and not 0.1.
def alignment_loss(aligned, words, labels, temperature=0.07):
    """Pull each token to its own word, and push it away from the others."""
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    scores = a @ w.mT / temperature
    return F.cross_entropy(scores.reshape(-1, w.shape[0]), labels.reshape(-1))

# %% [wrong] reshape_for_transpose | The scores are (V, N) and are brought to (N, V) by a reshape, where a transpose is needed: numbers land in wrong rows.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1).reshape(-1, aligned.shape[-1])
    w = F.normalize(words, dim=-1)
    scores = (w @ a.T) / temperature
    scores = scores.reshape(-1, len(w))
    return F.cross_entropy(scores, labels.reshape(-1))

# %% [wrong] also_sqrt_d | The cosines are divided by √d as well, as in attention; only the temperature belongs there.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    d = a.shape[-1]
    logits = a @ w.T / math.sqrt(d) / temperature
    return F.cross_entropy(logits.reshape(-1, len(w)), labels.reshape(-1))

# %% [wrong] ten_words_hard_coded | The number of words is hard-coded as 10, so any other vocabulary raises or mixes tokens.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    logits = (a @ w.T) / temperature
    return F.cross_entropy(logits.reshape(-1, 10), labels.reshape(-1))

# %% [wrong] squared_length | It divides by the sum of squares: the square root of the length is missing.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = aligned / (aligned ** 2).sum(-1, keepdim=True)
    w = words / (words ** 2).sum(-1, keepdim=True)
    logits = a @ w.T / temperature
    return F.cross_entropy(logits.reshape(-1, len(w)), labels.reshape(-1))

# %% [wrong] detached_and_unreduced | The aligned tokens are detached, so no gradient reaches the aligner AND the losses come back one for each token (reduction="none") and not as their mean.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned.detach(), dim=-1)
    w = F.normalize(words, dim=-1)
    logits = a @ w.T / temperature
    return F.cross_entropy(logits.reshape(-1, len(words)), labels.reshape(-1), reduction="none")

# %% [wrong] exp_overflow | The softmax is written by hand with exp and no maximum subtracted, so small temperatures overflow to infinity and give NaN.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1).reshape(-1, aligned.shape[-1])
    w = F.normalize(words, dim=-1)
    e = torch.exp(a @ w.T / temperature)
    p = e / e.sum(-1, keepdim=True)
    own = p[torch.arange(len(p)), labels.reshape(-1)]
    return -torch.log(own).mean()

# %% [right] cosine_similarity_broadcast | F.cosine_similarity with broadcasting in place of normalising and a matrix product.
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1) / temperature
    return F.cross_entropy(scores.reshape(-1, words.shape[0]), labels.reshape(-1).long())

# %% [right] logsumexp_by_hand | The cross-entropy is written out: logsumexp minus the score of the own word.
def alignment_loss(aligned, words, labels, temperature=0.1):
    def unit(v):
        return v / v.norm(dim=-1, keepdim=True).clamp_min(1e-12)

    logits = torch.einsum("...d,vd->...v", unit(aligned), unit(words)) / temperature
    own = logits.gather(-1, labels.unsqueeze(-1).long()).squeeze(-1)
    return (logits.logsumexp(-1) - own).mean()

# %% [right] log_softmax_one_hot | log_softmax and a one-hot table pick the right words.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, p=2, dim=-1)
    w = F.normalize(words, p=2, dim=-1)
    log_p = F.log_softmax((a @ w.T) / temperature, dim=-1)
    chosen = F.one_hot(labels.long(), num_classes=len(words)).to(log_p.dtype)
    return -(log_p * chosen).sum(dim=-1).mean()
