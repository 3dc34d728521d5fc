# %% [wrong] normalised_along_the_default_axis | F.normalize without dim divides along axis 1. For tokens (N, d) that is right; for (B, n, d) it runs over the patches, so the scores are no cosines.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned)
    w = F.normalize(words)
    logits = a @ w.T / temperature
    return F.cross_entropy(logits.reshape(-1, len(words)), labels.reshape(-1))


# %% [wrong] view_of_labels_and_tokens | Flattens with view. Tokens or labels that were transposed do not lie in order in memory, and view stops with an error, although any layout is allowed.
def alignment_loss(aligned, words, labels, temperature=0.1):
    d = aligned.size(-1)
    flat = F.normalize(aligned.view(-1, d), dim=-1)
    scores = flat @ F.normalize(words, dim=-1).t()
    return F.cross_entropy(scores / temperature, labels.view(-1))


# %% [wrong] both_halves_of_clip | Takes the mean of both halves of CLIP's loss: the softmax over the words, and the softmax down the columns, over the tokens. Only the first half is asked for.
def alignment_loss(aligned, words, labels, temperature=0.1):
    flat = aligned.reshape(-1, aligned.shape[-1])
    right = labels.reshape(-1, 1)
    logits = F.normalize(flat, dim=1) @ F.normalize(words, dim=1).T / temperature
    token_to_word = -logits.log_softmax(dim=1).gather(1, right).mean()
    word_to_token = -logits.log_softmax(dim=0).gather(1, right).mean()
    return (token_to_word + word_to_token) / 2


# %% [wrong] temperature_as_in_clips_code | Multiplies by exp(temperature), as CLIP's code does with its logit_scale, instead of dividing by the temperature. At 0.1 the scores are 1.1 times the cosines and not 10 times.
def alignment_loss(aligned, words, labels, temperature=0.1):
    image_features = aligned / aligned.norm(dim=-1, keepdim=True)
    text_features = words / words.norm(dim=-1, keepdim=True)
    logits = math.exp(temperature) * image_features @ text_features.t()
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten())


# %% [wrong] softmax_before_cross_entropy | Takes a softmax of the scores and gives the shares to F.cross_entropy, which does the softmax itself. The example by hand costs 0.383 and not 0.127, and the loss can never come near 0.
def alignment_loss(aligned, words, labels, temperature=0.1):
    cosine = torch.einsum("...d,vd->...v", F.normalize(aligned, dim=-1), F.normalize(words, dim=-1))
    probabilities = torch.softmax(cosine / temperature, dim=-1)
    return F.cross_entropy(probabilities.reshape(-1, words.shape[0]), labels.reshape(-1))


# %% [right] logsumexp_minus_own_score | Writes the cross-entropy out: the logsumexp of the scores minus the score of the right word, without flattening anything.
def alignment_loss(aligned, words, labels, temperature=0.1):
    cosines = F.cosine_similarity(aligned[..., None, :], words, dim=-1)
    scores = cosines.div(temperature)
    own = torch.take_along_dim(scores, labels.unsqueeze(-1), dim=-1).squeeze(-1)
    return torch.mean(scores.logsumexp(dim=-1) - own)
