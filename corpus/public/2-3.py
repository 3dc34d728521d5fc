# %% [right] normalize_matmul_reshape | F.normalize on both sides, temperature, flattened cross_entropy, after Fridayfairy/PlayGround (clip_loss)
def alignment_loss(aligned, words, labels, temperature=0.1):
    image_feat = F.normalize(aligned, dim=-1)
    text_feat = F.normalize(words, dim=-1)
    logits = image_feat @ text_feat.t() / temperature
    return F.cross_entropy(logits.reshape(-1, words.shape[0]), labels.reshape(-1))


# %% [right] divide_by_norm_keepdim | division by x.norm(dim=-1, keepdim=True), nn.CrossEntropyLoss object, after SpottedBush/CLIP-Vision-NLP (CLIPLoss) (unsure: tokens of length zero)
def alignment_loss(aligned, words, labels, temperature=0.1):
    criterion = nn.CrossEntropyLoss()
    image_features = aligned / aligned.norm(dim=-1, keepdim=True)
    text_features = words / words.norm(dim=-1, keepdim=True)
    logits = (image_features @ text_features.T) / temperature
    return criterion(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


# %% [right] cosine_similarity_broadcast | F.cosine_similarity of every token with every word by broadcasting, after UvA tutorial 17 (SimCLR info_nce_loss)
def alignment_loss(aligned, words, labels, temperature=0.1):
    cos_sim = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1)  # (..., V)
    cos_sim = cos_sim / temperature
    return F.cross_entropy(cos_sim.reshape(-1, cos_sim.shape[-1]), labels.reshape(-1))


# %% [right] positive_minus_logsumexp | minus the score of the right word plus torch.logsumexp, mean, after InfoNCE code in phlippe/uvadlc_notebooks
def alignment_loss(aligned, words, labels, temperature=0.1):
    sim = torch.einsum("...d,vd->...v", F.normalize(aligned, dim=-1), F.normalize(words, dim=-1)) / temperature
    positive = sim.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    nll = -positive + torch.logsumexp(sim, dim=-1)
    return nll.mean()


# %% [right] log_softmax_and_nll | log_softmax, then nll_loss, scale exp(-log t), after openai/CLIP (logit_scale.exp())
def alignment_loss(aligned, words, labels, temperature=0.1):
    logit_scale = torch.tensor(np.log(1 / temperature), dtype=aligned.dtype, device=aligned.device).exp()
    aligned = aligned.reshape(-1, aligned.shape[-1])
    aligned = aligned / aligned.norm(dim=1, keepdim=True).clamp(min=1e-12)
    words = words / words.norm(dim=1, keepdim=True).clamp(min=1e-12)
    logits_per_token = logit_scale * aligned @ words.t()
    return F.nll_loss(F.log_softmax(logits_per_token, dim=1), labels.reshape(-1))


# %% [right] classes_moved_to_axis_one | class axis moved behind the batch axis in place of flattening, after torch cross_entropy documentation (N, C, d1, ...)
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.normalize(aligned, p=2, dim=-1).matmul(F.normalize(words, p=2, dim=-1).transpose(0, 1))
    scores = similarity.div(temperature)
    if scores.dim() > 2:
        scores = scores.movedim(-1, 1)
    return F.cross_entropy(scores, labels, reduction="mean")


# %% [right] rsqrt_of_sum_of_squares | l2norm by rsqrt with 1e-12, one-hot targets as probabilities, after supervised contrastive code (HobbitLong/SupContrast)
def _l2norm(x):
    return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-12)


def alignment_loss(aligned, words, labels, temperature=0.1):
    logits = _l2norm(aligned) @ _l2norm(words).mT / temperature
    logits = logits - logits.max(dim=-1, keepdim=True)[0].detach()
    log_prob = logits - torch.log(torch.exp(logits).sum(-1, keepdim=True))
    mask = F.one_hot(labels, words.shape[0]).to(log_prob.dtype)
    mean_log_prob_pos = (mask * log_prob).sum(-1) / mask.sum(-1)
    return -mean_log_prob_pos.mean()


# %% [right] learned_scale_object_style | an nn.Module loss called inside the function, F.normalize with eps, after mlfoundations/open_clip (ClipLoss.get_logits)
class _AlignLoss(nn.Module):
    def __init__(self, logit_scale):
        super().__init__()
        self.logit_scale = logit_scale

    def get_logits(self, image_features, text_features):
        return self.logit_scale * image_features @ text_features.T

    def forward(self, image_features, text_features, labels):
        return F.cross_entropy(self.get_logits(image_features, text_features), labels)


def alignment_loss(aligned, words, labels, temperature=0.1):
    d = aligned.shape[-1]
    loss_fn = _AlignLoss(1.0 / temperature)
    return loss_fn(
        F.normalize(aligned.contiguous().view(-1, d), dim=-1, eps=1e-8),
        F.normalize(words, dim=-1, eps=1e-8),
        labels.contiguous().view(-1),
    )


# %% [right] dot_over_product_of_norms | dot products divided by the outer product of the norms plus eps, after hand written cosine similarity in homework (unsure: the eps)
def alignment_loss(aligned, words, labels, temperature=0.1):
    x = aligned.reshape(-1, aligned.size(-1))
    dots = x.mm(words.t())
    norms = torch.outer(x.norm(dim=1), words.norm(dim=1))
    sim = dots / (norms + 1e-8)
    return F.cross_entropy(sim / temperature, labels.reshape(-1))


# %% [right] probabilities_then_log | softmax probabilities, picked by index, minus log mean, after karpathy/makemore (unsure: a probability that rounds to 0)
def alignment_loss(aligned, words, labels, temperature=0.1):
    unit = lambda t: t / torch.linalg.vector_norm(t, dim=-1, keepdim=True)  # noqa: E731
    logits = torch.tensordot(unit(aligned), unit(words), dims=([-1], [-1])) / temperature
    probs = logits.softmax(-1).reshape(-1, words.shape[0])
    target = labels.reshape(-1)
    return -torch.log(probs[torch.arange(target.numel(), device=probs.device), target]).mean()
