# %% [right] max_values_and_masked_row | torch.max(...).values, rows of -inf repaired by masked_fill, after nhonhoccode/AIO-Exercise (SoftmaxStable)
def stable_softmax(scores, dim=-1):
    x_max = torch.max(scores, dim=dim, keepdim=True).values
    hidden = x_max == float("-inf")
    x_exp = torch.exp(scores - x_max.masked_fill(hidden, 0.0))
    partition = x_exp.sum(dim, keepdim=True)
    return x_exp / partition.masked_fill(hidden, 1.0)


# %% [right] upcast_to_float32_and_back | computes in float32 and casts back to the input type, after a CS336 assignment answer (unsure: precision of float64 input)
def stable_softmax(scores, dim=-1):
    orig_dtype = scores.dtype
    x32 = scores.float()
    max_vals = x32.amax(dim=dim, keepdim=True)
    max_vals = torch.where(torch.isinf(max_vals), torch.zeros_like(max_vals), max_vals)
    exps = torch.exp(x32 - max_vals)
    sums = exps.sum(dim=dim, keepdim=True)
    sums = torch.where(sums == 0, torch.ones_like(sums), sums)
    return (exps / sums).to(orig_dtype)


# %% [right] clamp_the_max_at_finfo_min | the largest score clamped at finfo.min, the sum clamped at tiny, after pytorch/pytorch safe softmax discussions
def stable_softmax(scores, dim=-1):
    info = torch.finfo(scores.dtype)
    peak = scores.amax(dim=dim, keepdim=True).clamp(min=info.min)
    weights = (scores - peak).exp()
    return weights / weights.sum(dim=dim, keepdim=True).clamp(min=info.tiny)


# %% [right] detached_max_and_small_eps | detached maximum and 1e-16 in the denominator, after pyg-team/pytorch_geometric (utils.softmax)
def stable_softmax(scores, dim=-1):
    top = scores.detach().max(dim=dim, keepdim=True)[0]
    top = torch.nan_to_num(top, neginf=0.0)
    out = (scores - top).exp()
    return out / (out.sum(dim=dim, keepdim=True) + 1e-16)


# %% [right] nan_to_num_at_the_end | plain stable softmax, NaN rows replaced by zeros at the end, after an entry that writes torch.nan_to_num(attn, nan=0.0) (unsure: gradients through a hidden row)
def stable_softmax(scores, dim=-1):
    z = scores - scores.max(dim=dim, keepdim=True)[0]
    numerator = torch.exp(z)
    denominator = torch.sum(numerator, dim=dim, keepdim=True)
    return torch.nan_to_num(numerator / denominator, nan=0.0)


# %% [right] all_hidden_flag_and_where | (scores == -inf).all and torch.where with zeros, after pytorch/pytorch _safe_softmax (aten decomposition) (unsure: gradients through a hidden row)
def stable_softmax(scores, dim=-1):
    out = torch.exp(scores - torch.amax(scores, dim=dim, keepdim=True))
    out = out / torch.sum(out, dim=dim, keepdim=True)
    all_hidden = scores.eq(-float("inf")).all(dim=dim, keepdim=True)
    return torch.where(all_hidden, torch.zeros_like(out), out)


# %% [right] moved_to_the_last_axis | the axis is moved to the end, computed there and moved back, after labmlai style helper code
def stable_softmax(scores, dim=-1):
    x = scores.movedim(dim, -1)
    m = x.max(-1, keepdim=True).values
    m = torch.where(torch.isneginf(m), torch.zeros_like(m), m)
    e = torch.exp(x - m)
    s = e.sum(-1, keepdim=True)
    p = e / torch.where(s > 0, s, torch.ones_like(s))
    return p.movedim(-1, dim)


# %% [right] positive_dim_and_in_place | a negative axis made positive, a copy worked on in place with sub_, exp_, div_, after a CS336 answer with x.dim() + dim
def stable_softmax(scores, dim=-1):
    if dim < 0:
        dim = scores.dim() + dim
    m = scores.amax(dim=dim, keepdim=True)
    m = m.masked_fill(torch.isinf(m), 0)
    e = scores.sub(m).exp_()
    total = e.sum(dim=dim, keepdim=True)
    total = total + (total == 0)
    return e / total


# %% [right] log_sum_by_hand | exp of the score less the log of the sum, the log written out by hand, after triton tutorial style (lse) code
def stable_softmax(scores, dim=-1):
    m = scores.amax(dim, keepdim=True)
    finite_m = torch.where(m > -float("inf"), m, torch.zeros_like(m))
    total = torch.exp(scores - finite_m).sum(dim, keepdim=True)
    empty = total == 0
    lse = finite_m + total.masked_fill(empty, 1.0).log()
    return torch.exp(scores - lse)


# %% [right] small_module_with_forward | a small nn.Module with a forward, called by the function, after stephanelx88/AIO314-Exercise (SoftMaxStable)
class _SafeSoftmax(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        x_max, _ = torch.max(x, dim=self.dim, keepdim=True)
        x_max = torch.nan_to_num(x_max, neginf=0.0)
        x_exp = torch.exp(x - x_max)
        partition = x_exp.sum(self.dim, keepdim=True)
        return torch.where(partition > 0, x_exp / partition.clamp_min(1e-30), torch.zeros_like(x_exp))


def stable_softmax(scores, dim=-1):
    return _SafeSoftmax(dim)(scores)


# %% [right] custom_autograd_function | torch.autograd.Function with its own backward, after karpathy/micrograd style lessons and CS336 kernels
class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        m = x.max(dim=dim, keepdim=True).values
        m = m.masked_fill(m == float("-inf"), 0.0)
        e = torch.exp(x - m)
        z = e.sum(dim=dim, keepdim=True)
        y = e / z.masked_fill(z == 0, 1.0)
        ctx.save_for_backward(y)
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        inner = (grad_output * y).sum(dim=ctx.dim, keepdim=True)
        return y * (grad_output - inner), None


def stable_softmax(scores, dim=-1):
    return _Softmax.apply(scores, dim)


# %% [right] masked_fill_the_output_too | maximum by torch.amax, hidden entries zeroed by masked_fill on both sides, after rusty1s/pytorch_scatter style composites
def stable_softmax(scores, dim=-1):
    hidden = torch.isneginf(scores)
    recentered = scores - scores.masked_fill(hidden, torch.finfo(scores.dtype).min).amax(dim=dim, keepdim=True)
    exps = recentered.masked_fill(hidden, 0.0).exp().masked_fill(hidden, 0.0)
    normalizer = exps.sum(dim=dim, keepdim=True)
    return exps / (normalizer + normalizer.eq(0).to(exps.dtype))


# %% [right] power_of_two_exponential | exp2 of scores times log2(e), as flash kernels do, after triton-lang/triton (06-fused-attention) (unsure: exp2 in place of exp)
def stable_softmax(scores, dim=-1):
    log2e = 1.4426950408889634
    top = scores.amax(dim=dim, keepdim=True).nan_to_num(neginf=0.0)
    p = torch.exp2((scores - top) * log2e)
    l_i = p.sum(dim, keepdim=True)
    return p / torch.where(l_i > 0, l_i, 1.0)


# %% [right] tuple_of_max_and_detach_grad_free | values, indices = x.max(...), maximum found under no_grad, after CS231n assignment style (softmax_loss with stability shift)
def stable_softmax(scores, dim=-1):
    with torch.no_grad():
        shift, _ = scores.max(dim=dim, keepdim=True)
        shift[shift == -math.inf] = 0
    exp_scores = torch.exp(scores - shift)
    total = torch.sum(exp_scores, dim=dim, keepdim=True)
    return exp_scores / torch.clamp(total, min=1e-12)
