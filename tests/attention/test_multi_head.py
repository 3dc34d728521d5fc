import pytest
import torch
from attention.dot_product import masked_attention
from attention.multi_head import AlignedCrossAttention, MultiHeadAttention
from torch import nn

MASKS = {
    "none": None,
    "causal": torch.ones(7, 7, dtype=torch.bool).tril(),
    "padding": torch.tensor([[[True] * 5 + [False] * 2], [[True] * 3 + [False] * 4]]),
}


def copied(d_context: int | None) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    ours = MultiHeadAttention(15, 3, d_context=d_context)
    theirs = nn.MultiheadAttention(15, 3, bias=False, kdim=d_context, vdim=d_context, batch_first=True)
    with torch.no_grad():
        if d_context is None:
            theirs.in_proj_weight.copy_(torch.cat([ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight]))
        else:
            theirs.q_proj_weight.copy_(ours.W_Q.weight)
            theirs.k_proj_weight.copy_(ours.W_K.weight)
            theirs.v_proj_weight.copy_(ours.W_V.weight)
        theirs.out_proj.weight.copy_(ours.W_O.weight)
    return ours, theirs


@pytest.mark.parametrize("d_context", [None, 11])
@pytest.mark.parametrize("name", MASKS)
def test_equals_pytorchs_layer_forward_and_backward(d_context, name):
    torch.manual_seed(5)
    mask = MASKS[name]
    ours, theirs = copied(d_context)
    tokens = torch.randn(2, 7, 15, requires_grad=True)
    context = torch.randn(2, 7, d_context, requires_grad=True) if d_context else None
    same = tokens if context is None else context
    # nn.MultiheadAttention wants one mask for each head, and True there means "may not".
    forbidden = None if mask is None else ~mask.expand(2, 7, 7).repeat_interleave(3, 0)
    got = ours(tokens, context, mask)
    expected = theirs(tokens, same, same, attn_mask=forbidden, average_attn_weights=False)
    fused = ours(tokens, context, mask, need_weights=False)
    torch.testing.assert_close(got[0], expected[0])
    torch.testing.assert_close(got[1], expected[1])
    torch.testing.assert_close(fused[0], expected[0])
    assert fused[1] is None
    along = torch.randn(2, 7, 15)
    leaves = [tokens] if context is None else [tokens, context]
    mine = torch.autograd.grad((got[0] * along).sum(), [*leaves, *(p for _, p in sorted(ours.named_parameters()))])
    again = torch.autograd.grad((fused[0] * along).sum(), [*leaves, *(p for _, p in sorted(ours.named_parameters()))])
    if d_context is None:
        wanted = [theirs.in_proj_weight, theirs.out_proj.weight]
    else:
        wanted = [theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight, theirs.out_proj.weight]
    yours = list(torch.autograd.grad((expected[0] * along).sum(), [*leaves, *wanted]))
    if d_context is None:
        query, key, value = yours[-2].chunk(3)
        yours[-2:] = [query, key, value, yours[-1]]
    query, key, value, out = yours[-4:]
    yours[-4:] = [key, out, query, value]  # by name: W_K, W_O, W_Q, W_V
    for one, two, three in zip(mine, again, yours, strict=True):
        torch.testing.assert_close(one, three, atol=2e-5, rtol=1e-4)
        torch.testing.assert_close(two, three, atol=2e-5, rtol=1e-4)


def test_every_head_is_attention_on_its_own_slice():
    torch.manual_seed(6)
    layer, tokens, context = MultiHeadAttention(6, 2, d_context=5), torch.randn(7, 6), torch.randn(3, 5)
    output, weights = layer(tokens, context)
    query, key, value = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    parts = []
    for head in range(2):
        mine = slice(3 * head, 3 * head + 3)
        part, expected = masked_attention(query[:, mine], key[:, mine], value[:, mine])
        torch.testing.assert_close(weights[head], expected)
        parts.append(part)
    torch.testing.assert_close(output, layer.W_O(torch.cat(parts, dim=-1)))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("lead", [(), (2,), (2, 5)])
def test_a_query_that_may_attend_nowhere_gets_zeros_and_no_nan(lead, need_weights):
    torch.manual_seed(7)
    layer, tokens = MultiHeadAttention(6, 3), torch.randn(*lead, 7, 6, requires_grad=True)
    mask = torch.ones(7, 7, dtype=torch.bool).tril(-1)  # the first token may look nowhere
    output, weights = layer(tokens, mask=mask, need_weights=need_weights)
    assert output.shape == (*lead, 7, 6)
    assert (output[..., 0, :] == 0).all()
    assert (output[..., 1:, :] != 0).all()
    if need_weights:
        assert (weights[..., 0, :] == 0).all()
        torch.testing.assert_close(weights[..., 1:, :].sum(-1), torch.ones(*lead, 3, 6))
    (gradient,) = torch.autograd.grad(output.square().sum(), tokens)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("need_weights", [True, False])
def test_one_mask_for_each_batch_holds_for_every_head(need_weights):
    torch.manual_seed(8)
    layer, tokens = (MultiHeadAttention(6, 3), torch.randn(3, 7, 6))  # as many heads as batches: axes may not mix
    mask = torch.rand(3, 7, 7) < 0.6
    mask[..., 0] = True
    output, _ = layer(tokens, mask=mask, need_weights=need_weights)
    for index in range(3):
        torch.testing.assert_close(output[index], layer(tokens[index], mask=mask[index])[0])


def test_dropout_acts_on_the_weights_and_only_in_training():
    torch.manual_seed(9)
    layer, tokens = MultiHeadAttention(6, 3, dropout=0.5), torch.randn(5, 6)
    many = tokens.expand(20_000, 5, 6)
    output, weights = layer(many)
    quiet, quiet_weights = layer.eval()(tokens)
    torch.testing.assert_close(weights, quiet_weights.expand_as(weights))
    torch.testing.assert_close(output.mean(0), quiet, atol=0.02, rtol=0)
    # Weights are kept or doubled: each adds the variance of its own contribution once.
    value = layer.W_V(tokens).unflatten(-1, (3, 2)).transpose(0, 1)
    slices = layer.W_O.weight.unflatten(-1, (3, 2)).permute(1, 2, 0)
    variance = torch.einsum("hts,hsd->td", quiet_weights**2, (value @ slices) ** 2)
    torch.testing.assert_close(output.var(0), variance, atol=0, rtol=0.1)


def test_a_width_that_does_not_divide_is_refused():
    with pytest.raises(ValueError, match="d_model = 7 is no multiple of num_heads = 2"):
        MultiHeadAttention(7, 2)


@pytest.mark.parametrize("method", ["linear", "mlp"])
def test_aligned_cross_attention_is_its_two_parts_in_a_row(method):
    torch.manual_seed(10)
    layer = AlignedCrossAttention(11, 6, 3, method)
    text, image = torch.randn(2, 5, 6), torch.randn(2, 7, 11)
    mask = torch.tensor([[[True] * 4 + [False] * 3], [[True] * 7]])
    output, weights = layer(text, image, mask)
    expected = layer.cross_attn(text, layer.aligner(image), mask)
    torch.testing.assert_close(output, expected[0])
    torch.testing.assert_close(weights, expected[1])
    assert layer.aligner.proj(image).shape == (2, 7, 6)
    assert weights.shape == (2, 3, 5, 7)
    assert (weights[0, ..., 4:] == 0).all()
