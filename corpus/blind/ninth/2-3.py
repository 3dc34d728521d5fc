# %% [wrong] exponentials_written_out | Writes softmax and logarithm out with plain exponentials. With a small temperature the exponentials overflow: at 0.01 the loss is NaN, where cross_entropy stays finite.
def alignment_loss(aligned, words, labels, temperature=0.1):
    unit = aligned / aligned.norm(dim=-1, keepdim=True)
    unit_words = words / words.norm(dim=-1, keepdim=True)
    e = torch.exp(unit @ unit_words.T / temperature)
    share = e / e.sum(-1, keepdim=True)
    own = share.gather(-1, labels.unsqueeze(-1))
    return -own.log().mean()

# %% [wrong] class_axis_for_three_dims_only | Brings the words' axis to place 1 by swapping it with the last one, and hands that to cross_entropy. That fits tokens with one or two leading axes; with three the swap also turns the others around, and labels no longer belong to their tokens.
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).t() / temperature
    return F.cross_entropy(scores.transpose(1, -1), labels)

# %% [wrong] temperature_written_as_a_number | Divides by 0.1 whatever temperature is handed in. It is right for the default; the example, with 0.5, gives 0.00005 in place of 0.127.
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens = aligned.reshape(-1, aligned.shape[-1])
    similarity = F.cosine_similarity(tokens[:, None, :], words[None, :, :], dim=-1)
    return F.cross_entropy(similarity / 0.1, labels.reshape(-1))

# %% [wrong] normalised_after_the_product | Takes the plain dot products and divides each token's row of scores by its length. A cosine needs each *vector* divided by its length: long words still win, and the scores are too small.
def alignment_loss(aligned, words, labels, temperature=0.1):
    raw = torch.einsum("...d,vd->...v", aligned, words)
    scores = F.normalize(raw, dim=-1) / temperature
    return F.cross_entropy(scores.flatten(0, -2), labels.flatten())

# %% [wrong] words_shortened_in_place | Divides the words by their length in place. The caller's words are changed; and where the words are learned (a leaf that requires a gradient) it is an error.
def alignment_loss(aligned, words, labels, temperature=0.1):
    words /= words.norm(dim=-1, keepdim=True)
    tokens = F.normalize(aligned, dim=-1)
    logits = (tokens @ words.T) / temperature
    return F.cross_entropy(logits.reshape(-1, len(words)), labels.reshape(-1))

# %% [wrong] one_length_for_everything | Calls norm without dim, so all tokens are divided by one number, the length of all of them together. Each token should be divided by its own: cosines come out too small, and the loss stays near the logarithm of V.
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = aligned / aligned.norm()
    w = words / words.norm()
    scores = (a @ w.T).div(temperature)
    return nn.CrossEntropyLoss()(scores.reshape(-1, words.size(0)), labels.reshape(-1))

# %% [right] logsumexp_minus_own | No cross_entropy: the logsumexp of each token's scores minus the cosine with its own word, which is looked up in the words directly.
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens, dictionary = (F.normalize(side, dim=-1) for side in (aligned, words))
    own = (tokens * dictionary[labels]).sum(-1)
    everything = torch.logsumexp(tokens @ dictionary.mT / temperature, dim=-1)
    return (everything - own / temperature).mean()
