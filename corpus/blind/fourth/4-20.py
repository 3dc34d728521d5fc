# %% [wrong] second_step_from_the_start | The feed-forward step reads, and is added to, the tokens from before the attention: the first line is lost.
def vit_block(layer, tokens):
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    out = tokens + layer.scale_1 * seen
    hidden = F.gelu(layer.expand(layer.norm_2(tokens)))
    out = tokens + layer.scale_2 * layer.contract(hidden)
    return out, weights


# %% [wrong] first_scale_twice | `scale_1` is used in both lines; the second one has `scale_2`.
def vit_block(layer, tokens):
    update, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * update
    ffn = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    tokens = tokens + layer.scale_1 * ffn
    return tokens, weights


# %% [wrong] normalised_tokens_carried_on | The residual goes on from the normalised tokens; it is the tokens before the norm.
def vit_block(layer, tokens):
    x = layer.norm_1(tokens)
    attn, weights = vit_attention(layer, x)
    x = x + layer.scale_1 * attn
    y = layer.norm_2(x)
    y = y + layer.scale_2 * layer.contract(F.gelu(layer.expand(y)))
    return y, weights


# %% [wrong] whole_sum_scaled | The brackets stand wrong: the scale multiplies tokens and update together.
def vit_block(layer, tokens):
    a, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = layer.scale_1 * (tokens + a)
    f = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return layer.scale_2 * (tokens + f), weights


# %% [wrong] bend_left_out | There is no GELU between `expand` and `contract`, so that the two are one linear layer.
def vit_block(layer, tokens):
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * seen
    wide = layer.expand(layer.norm_2(tokens))
    tokens = tokens + layer.scale_2 * layer.contract(wide)
    return tokens, weights


# %% [wrong] norm_after_attention | The norm stands behind the attention and not before it: post-norm within the update.
def vit_block(layer, tokens):
    seen, weights = vit_attention(layer, tokens)
    tokens = tokens + layer.scale_1 * layer.norm_1(seen)
    mlp = layer.contract(F.gelu(layer.expand(tokens)))
    tokens = tokens + layer.scale_2 * layer.norm_2(mlp)
    return tokens, weights


# %% [right] addcmul_steps | Adds scale times update with `torch.addcmul`, and names every step on its own.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, layer.norm_1(tokens))
    middle = torch.addcmul(tokens, attended, layer.scale_1.expand_as(attended))
    thought = nn.Sequential(layer.norm_2, layer.expand, nn.GELU(), layer.contract)(middle)
    return torch.addcmul(middle, thought, layer.scale_2.expand_as(thought)), weights
