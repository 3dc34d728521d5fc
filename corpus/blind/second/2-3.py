# %% [right] logsumexp_minus_own | right
def alignment_loss(aligned, words, labels, temperature=0.1):
    cosine = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1)
    scores = cosine / temperature
    own = torch.take_along_dim(scores, labels.unsqueeze(-1), dim=-1).squeeze(-1)
    return (scores.logsumexp(dim=-1) - own).mean()

# %% [wrong] dot_products | The vectors are not normalised, so plain dot products take the place of cosines.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = aligned @ words.T
    scores = similarity / temperature
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1))

# %% [wrong] times_temperature | The similarity is multiplied by the temperature instead of divided.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    scores = similarity * temperature
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1))

# %% [wrong] normalised_default_axis | F.normalize is used with its default axis 1, which is not the last one where there is a batch of scenes.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned) @ F.normalize(words, dim=-1).T
    scores = similarity / temperature
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1))

# %% [wrong] words_not_normalised | Only the tokens are normalised; the words keep their lengths.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned, dim=-1) @ words.T
    scores = similarity / temperature
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1))

# %% [wrong] softmax_twice | A softmax is applied before F.cross_entropy, which does one itself.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    scores = similarity / temperature
    scores = scores.softmax(dim=-1)
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1))

# %% [wrong] summed | The loss is summed over the tokens instead of averaged.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    scores = similarity / temperature
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1), reduction="sum")

# %% [wrong] fixed_temperature | 0.1 is written into the code, so the argument temperature does nothing.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    scores = similarity / 0.1
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1))

# %% [wrong] pull_only | Only the similarity to the right word counts (mean of 1 - cosine), nothing pushes away from the others.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    own = similarity.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return ((1 - own) / temperature).mean()

# %% [wrong] words_compete_over_tokens | The scores are transposed, so tokens compete for each word instead of words for each token.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    scores = similarity / temperature
    scores = scores.reshape(-1, scores.shape[-1])
    log_share = scores.log_softmax(dim=0)
    return F.nll_loss(log_share, labels.reshape(-1))

# %% [wrong] square_of_length | The tokens are divided by their squared length instead of their length.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = (aligned / aligned.pow(2).sum(-1, keepdim=True)) @ F.normalize(words, dim=-1).T
    scores = similarity / temperature
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1))
