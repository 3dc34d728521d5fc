# %% [wrong] rows_and_columns_of_grid_swapped | transpose(1, -1) brings the words to axis 1, but with tokens in a grid (B, h, w, d) it also swaps h and w, so the scores meet the labels of other patches. Flatten the leading axes, or use movedim(-1, 1).
def alignment_loss(aligned, words, labels, temperature=0.1):
    a = F.normalize(aligned, dim=-1)
    w = F.normalize(words, dim=-1)
    scores = a @ w.T / temperature
    if scores.dim() == 1:
        return F.cross_entropy(scores, labels)
    # cross_entropy wants the classes in axis 1
    return F.cross_entropy(scores.transpose(1, -1), labels)
# %% [wrong] words_cut_from_the_gradient | The words are detached, so this loss can move the aligner but never the words. Where the words are to be learned they get no gradient at all.
def alignment_loss(aligned, words, labels, temperature=0.1):
    """Pull each token to its own word, and push it away from the others."""
    d = aligned.shape[-1]
    tokens = F.normalize(aligned.reshape(-1, d), dim=-1)
    fixed = F.normalize(words.detach(), dim=-1)
    cosine = torch.einsum("nd,vd->nv", tokens, fixed)
    log_share = torch.log_softmax(cosine / temperature, dim=-1)
    own = log_share.gather(1, labels.reshape(-1, 1))
    return -own.mean()
# %% [wrong] scores_normalised_not_vectors | The row of dot products is divided by its own length, in place of each vector by its length. That is not the cosine: lengths of words still count. Normalise tokens and words before the product.
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = aligned @ words.transpose(0, 1)
    similarity = F.normalize(similarity, dim=-1)
    V = words.shape[0]
    return F.cross_entropy(similarity.reshape(-1, V) / temperature, labels.reshape(-1))
