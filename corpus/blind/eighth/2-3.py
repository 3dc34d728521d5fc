# %% [wrong] normalised_along_axis_one | F.normalize is called without dim, and its default is axis 1; it should be the last axis. Right for (N, d); for tokens (B, n, d) the lengths are taken over the n tokens.
def alignment_loss(aligned, words, labels, temperature=0.1):
    cosine = F.normalize(aligned) @ F.normalize(words).T
    scores = cosine / temperature
    return F.cross_entropy(scores.reshape(-1, len(words)), labels.reshape(-1))

# %% [wrong] view_of_a_transposed_tensor | The tokens are brought to two axes with view; it should be reshape. A transposed tensor raises a RuntimeError.
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens = aligned.view(-1, aligned.size(-1))
    tokens = F.normalize(tokens, dim=-1)
    words = F.normalize(words, dim=-1)
    return F.cross_entropy(tokens @ words.t() / temperature, labels.reshape(-1))

# %% [wrong] divided_by_squared_length | Each vector is divided by its squared length, pow(2).sum; it should be by its length, the root of it. What comes out is a cosine only for vectors of length 1.
def alignment_loss(aligned, words, labels, temperature=0.1):
    def unit(x):
        return x / x.pow(2).sum(-1, keepdim=True)

    scores = unit(aligned) @ unit(words).transpose(0, 1) / temperature
    return F.cross_entropy(scores.flatten(0, -2), labels.flatten())

# %% [wrong] clip_within_the_batch | Each token is compared with the words of all tokens of the batch, and its own place is the target, as in CLIP; it should be compared with the V words. Where two tokens show the same digit, their word stands there twice, and one of the two counts as wrong.
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens = F.normalize(aligned.reshape(-1, aligned.shape[-1]), dim=-1)
    captions = F.normalize(words[labels.reshape(-1)], dim=-1)
    logits = tokens @ captions.T / temperature
    target = torch.arange(len(tokens), device=tokens.device)
    return F.cross_entropy(logits, target)

# %% [wrong] temperature_always_a_tenth | The similarities are multiplied by 10, whatever temperature is handed in; they should be divided by the argument. Right for the default alone.
def alignment_loss(aligned, words, labels, temperature=0.1):
    cosine = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    log_shares = torch.log_softmax(10 * cosine, dim=-1)
    return -log_shares.gather(-1, labels.unsqueeze(-1)).mean()

# %% [wrong] each_word_on_its_own | Every word is judged by a sigmoid with binary cross-entropy; it should be one softmax over all words. The example gives 0.410 in place of 0.127, and the words do not compete.
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T / temperature
    wanted = F.one_hot(labels, len(words)).to(scores.dtype)
    return F.binary_cross_entropy_with_logits(scores, wanted)

# %% [right] logsumexp_less_the_own_score | Cross-entropy written out: the logsumexp of all scores less the score of the own word, over any leading axes, without flattening.
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens, vocabulary = (F.normalize(side, dim=-1) for side in (aligned, words))
    scores = torch.einsum("...d,vd->...v", tokens, vocabulary) / temperature
    own = scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return (scores.logsumexp(dim=-1) - own).mean()
