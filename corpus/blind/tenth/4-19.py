# %% [wrong] weights_only_no_biases | The projections are written with the weights alone, tokens @ W.T, and the biases are left out, as in lesson 2. The layer's projections have biases, which belong to the result.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    def split(x):
        return x.unflatten(-1, (H, -1)).transpose(-3, -2)
    q = split(tokens @ layer.W_Q.weight.T)
    k = split(tokens @ layer.W_K.weight.T)
    v = split(tokens @ layer.W_V.weight.T)
    out, weights = masked_attention(q, k, v)
    return out.transpose(-3, -2).flatten(-2) @ layer.W_O.weight.T, weights

# %% [wrong] heads_interleaved | The last axis is split as (d_head, H) in place of (H, d_head). Each head then gets every H-th number; the shape is right and the result is not.
def vit_attention(layer, tokens):
    h = layer.num_heads
    d_head = tokens.shape[-1] // h
    q, k, v = [w(tokens).unflatten(-1, (d_head, h)).movedim(-1, -3) for w in (layer.W_Q, layer.W_K, layer.W_V)]
    scores = q @ k.transpose(-2, -1) / d_head**0.5
    weights = scores.softmax(dim=-1)
    out = (weights @ v).movedim(-3, -1).flatten(-2)
    return layer.W_O(out), weights

# %% [wrong] scaled_by_the_whole_width | The scores are divided by the root of d_model in place of the width of one head. With more than one head all maps come out too even.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    d_model = tokens.size(-1)
    Q = torch.stack(layer.W_Q(tokens).chunk(layer.num_heads, -1), -3)
    K = torch.stack(layer.W_K(tokens).chunk(layer.num_heads, -1), -3)
    V = torch.stack(layer.W_V(tokens).chunk(layer.num_heads, -1), -3)
    weights = torch.softmax(torch.einsum("...qd,...kd->...qk", Q, K) / d_model**0.5, -1)
    heads = torch.einsum("...qk,...kd->...qd", weights, V)
    return layer.W_O(torch.cat(heads.unbind(-3), -1)), weights

# %% [wrong] norm_and_residual_inside | norm_1 is applied to the tokens first and the tokens are added at the end. Norm, scale and residual are the block's; the attention alone is asked for.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    q, k, v = (lin(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for lin in (layer.W_Q, layer.W_K, layer.W_V))
    y, a = masked_attention(q, k, v)
    return tokens + layer.W_O(y.transpose(-3, -2).flatten(-2)), a

# %% [wrong] batch_axis_taken_for_granted | The shapes are unpacked as (B, T, d_model), so a single picture (T, d_model), or more leading axes, crash. The text writes (..., T, d_model).
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    B, T, D = tokens.shape
    H = layer.num_heads
    qkv = [p(tokens).view(B, T, H, D // H).permute(0, 2, 1, 3) for p in (layer.W_Q, layer.W_K, layer.W_V)]
    weights = (qkv[0] @ qkv[1].mT * (D // H) ** -0.5).softmax(-1)
    context = (weights @ qkv[2]).permute(0, 2, 1, 3).reshape(B, T, D)
    return layer.W_O(context), weights

# %% [right] head_by_head_summed_outputs | A loop over the heads; each head's result goes through its own columns of W_O and is added up, the bias of W_O once.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    wide = tokens.shape[-1] // layer.num_heads
    asked, offered, told = layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)
    output, maps = layer.W_O.bias.expand_as(tokens), []
    for h in range(layer.num_heads):
        part = slice(h * wide, h * wide + wide)
        similar = torch.einsum("...td,...sd->...ts", asked[..., part] * wide**-0.5, offered[..., part])
        maps.append(F.softmax(similar, dim=-1))
        output = output + F.linear(maps[-1] @ told[..., part], layer.W_O.weight[:, part])
    return output, torch.stack(maps, dim=-3)
