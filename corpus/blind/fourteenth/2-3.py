# %% [wrong] words_normalised_by_column | F.normalize(words, dim=0) divides each column by its length and not each word.
def alignment_loss(aligned, words, labels, temperature=0.1):
    aligned = F.normalize(aligned, dim=-1)
    words = F.normalize(words, dim=0)
    scores = aligned @ words.T / temperature
    return F.cross_entropy(scores.reshape(-1, len(words)), labels.reshape(-1))

# %% [wrong] temperature_of_a_tenth_always | The cosines are multiplied by 10, whatever temperature is handed in.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1)
    scores = 10 * similarity
    return F.cross_entropy(scores.flatten(0, -2), labels.flatten())

# %% [wrong] distance_in_place_of_cosine | The scores are negative distances of the normalised vectors and not their cosines.
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens = F.normalize(aligned.reshape(-1, aligned.shape[-1]), dim=-1)
    names = F.normalize(words, dim=-1)
    apart = torch.cdist(tokens, names)
    log_shares = F.log_softmax(-apart / temperature, dim=-1)
    return F.nll_loss(log_shares, labels.reshape(-1))
