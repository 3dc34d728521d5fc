# %% [wrong] length_of_the_whole_batch | aligned.norm() without dim is one number for the whole tensor, so single tokens do not have length 1 and the similarities are no cosines; it should be norm(dim=-1, keepdim=True).
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = aligned / aligned.norm()
    w = words / words.norm(dim=-1, keepdim=True)
    scores = a @ w.T / temperature
    return F.cross_entropy(scores.reshape(-1, len(words)), labels.reshape(-1))

# %% [wrong] view_refuses | aligned.view(-1, d) needs contiguous memory and raises a RuntimeError for a transposed tensor; the task names this case, reshape is needed.
def alignment_loss(aligned, words, labels, temperature=0.1):
    flat = aligned.view(-1, aligned.shape[-1])
    similarity = F.normalize(flat, dim=-1) @ F.normalize(words, dim=-1).T
    return F.cross_entropy(similarity / temperature, labels.reshape(-1))

# %% [wrong] softmax_before_cross_entropy | The softmax is taken before F.cross_entropy, which takes it once more, so the loss stays far too large; the example gives 0.380 or so instead of 0.127.
def alignment_loss(aligned, words, labels, temperature=0.1):
    cos = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).transpose(0, 1)
    p = (cos / temperature).softmax(dim=-1)
    return F.cross_entropy(p.reshape(-1, p.shape[-1]), labels.reshape(-1))

# %% [wrong] words_keep_their_length | Only the tokens are normalised, the words are taken as they are; a longer word draws everything, and the similarity is a cosine only where all words have length 1.
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens = F.normalize(aligned, dim=-1)
    scores = torch.einsum("...d,vd->...v", tokens, words) / temperature
    return F.cross_entropy(scores.flatten(0, -2), labels.flatten())

# %% [wrong] classes_in_the_second_axis | The scores (..., V) go into F.cross_entropy without being flattened; for more than two axes it takes the second one for the classes, which raises an error or compares along the tokens.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    return F.cross_entropy(similarity / temperature, labels)

# %% [wrong] temperature_normalised_away | The tokens are divided by the temperature before they are normalised, and the normalisation takes it out again; the loss is that of temperature 1, whatever is handed in.
def alignment_loss(aligned, words, labels, temperature=0.1):
    sharp = aligned / temperature
    cos = F.normalize(sharp, dim=-1) @ F.normalize(words, dim=-1).T
    return F.cross_entropy(cos.reshape(-1, len(words)), labels.reshape(-1))

# %% [right] logsumexp_minus_own | written out: the log of the summed exponentials, minus the score of the own word, and the mean
def alignment_loss(aligned, words, labels, temperature=0.1):
    tokens, directions = F.normalize(aligned, dim=-1), F.normalize(words, dim=-1)
    scores = torch.einsum("...d,vd->...v", tokens, directions) / temperature
    own = scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return (scores.logsumexp(-1) - own).mean()
