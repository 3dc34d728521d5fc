# %% [wrong] length_of_everything | aligned.norm() without dim is one number, the length of all tokens together, and so is words.norm(). The directions stay but the scores are no cosines: they shrink with the number of tokens. Each vector should be divided by its own length.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = aligned / aligned.norm()
    w = words / words.norm()
    logits = a @ w.T / temperature
    return F.cross_entropy(logits.reshape(-1, len(words)), labels.reshape(-1))

# %% [wrong] clips_pairs | CLIP's loss was copied: each token is compared with the own words of all tokens in the batch, and token i should pick number i. Tokens of the same digit are then pushed away from their own word; the softmax should run over the V words, with the labels as targets.
def alignment_loss(aligned, words, labels, temperature=0.1):
    images = F.normalize(aligned.reshape(-1, aligned.shape[-1]), dim=-1)
    texts = F.normalize(words[labels.reshape(-1)], dim=-1)
    logits = images @ texts.T / temperature
    target = torch.arange(len(logits), device=logits.device)
    return F.cross_entropy(logits, target)

# %% [wrong] softmax_twice | The scores go through a softmax before F.cross_entropy, which makes its own. The loss cannot fall below log(1 + (V − 1)/e); for the example with two words it is 0.383 and not 0.127.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).transpose(0, 1)
    probs = torch.softmax(similarity / temperature, dim=-1)
    return F.cross_entropy(probs.flatten(0, -2), labels.flatten())

# %% [wrong] view_of_the_labels | view joins the leading dimensions. For tokens or labels that were transposed it refuses with a RuntimeError; reshape should be used, any layout in memory is allowed.
def alignment_loss(aligned, words, labels, temperature=0.1):
    V, d = words.shape
    x = F.normalize(aligned.view(-1, d), dim=1)
    y = F.normalize(words, dim=1)
    return F.cross_entropy(x.mm(y.t()) / temperature, labels.view(-1))

# %% [wrong] temperature_is_always_a_tenth | The scores are multiplied by 10, whatever the temperature that was handed in. With the default nothing shows; with 0.5 the example gives 0.00005 and not 0.127.
def alignment_loss(aligned, words, labels, temperature=0.1):
    cosines = torch.einsum("...d,vd->...v", F.normalize(aligned, dim=-1), F.normalize(words, dim=-1))
    scores = 10 * cosines
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1))

# %% [right] log_sum_exp_minus_own | No F.cross_entropy and no normalising: cosines by F.cosine_similarity with broadcasting, then the logarithm of the sum of exponentials minus the score of the own word.
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1).div(temperature)
    own = torch.take_along_dim(scores, labels.unsqueeze(-1), dim=-1).squeeze(-1)
    return torch.mean(scores.logsumexp(dim=-1) - own)
