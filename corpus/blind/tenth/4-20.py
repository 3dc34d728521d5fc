# %% [wrong] norm_after_the_residual | The norms come last, as in the first Transformer (post-norm): norm(tokens + step(tokens)). Here each norm comes before its step, and the residual goes past it; with both scales at 0 the block changes the tokens.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, tokens)
    tokens = layer.norm_1(tokens + layer.scale_1 * attended)
    ffn = layer.contract(F.gelu(layer.expand(tokens)))
    tokens = layer.norm_2(tokens + layer.scale_2 * ffn)
    return tokens, weights

# %% [wrong] both_steps_read_the_same_tokens | The feed-forward step reads the tokens that went into the block and both steps are added at once (the parallel form). The second formula's x is that which the first one made.
def vit_block(layer, tokens):
    a, weights = vit_attention(layer, layer.norm_1(tokens))
    f = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_1 * a + layer.scale_2 * f, weights

# %% [wrong] residual_of_the_normed_tokens | The variable tokens is overwritten by its norm, and the step is added to that. The residual has to be the tokens before the norm.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    tokens = layer.norm_1(tokens)
    attended, weights = vit_attention(layer, tokens)
    tokens = tokens + layer.scale_1 * attended
    tokens = layer.norm_2(tokens)
    hidden = F.gelu(layer.expand(tokens))
    tokens = tokens + layer.scale_2 * layer.contract(hidden)
    return tokens, weights

# %% [wrong] gelu_by_tanh | The tanh approximation of GELU is used, as in GPT-2. F.gelu is asked for; the numbers differ in the fourth digit.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    out, weights = vit_attention(layer, layer.norm_1(tokens))
    x = tokens + layer.scale_1 * out
    return x + layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(x)), approximate="tanh")), weights

# %% [wrong] first_scale_twice | Both steps are multiplied by scale_1, by copying the line. The feed-forward step has its own, scale_2; with unlike scales the result differs.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def feed_forward(x):
        return layer.contract(F.gelu(layer.expand(x)))

    step, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * step
    step = feed_forward(layer.norm_2(tokens))
    tokens = tokens + layer.scale_1 * step
    return tokens, weights

# %% [right] addcmul_and_a_sequential | The feed-forward step is put into an nn.Sequential, and scale and residual are done in one by torch.addcmul.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    mixed, weights = vit_attention(layer, layer.norm_1(tokens))
    between = torch.addcmul(tokens, mixed, layer.scale_1)
    step = nn.Sequential(layer.norm_2, layer.expand, nn.GELU(), layer.contract)
    return torch.addcmul(between, step(between), layer.scale_2), weights
