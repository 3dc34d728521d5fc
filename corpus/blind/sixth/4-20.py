# %% [wrong] residual_scaled | The scale multiplies the sum of tokens and step instead of the step alone: with both scales at 0 everything becomes 0 instead of staying
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = layer.scale_1 * (tokens + seen)
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return layer.scale_2 * (tokens + thought), weights

# %% [wrong] side_by_side | The feed-forward step reads the tokens from before the attention (in parallel) instead of those of the first line
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, layer.norm_1(tokens))
    mlp = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_1 * attended + layer.scale_2 * mlp, weights

# %% [wrong] gelu_tanh | F.gelu is called with approximate="tanh" (as in GPT-2); the plain F.gelu is asked for, and the results differ from the third or fourth digit on
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    out, weights = vit_attention(layer, layer.norm_1(tokens))
    x = tokens + layer.scale_1 * out
    hidden = F.gelu(layer.expand(layer.norm_2(x)), approximate="tanh")
    return x + layer.scale_2 * layer.contract(hidden), weights

# %% [wrong] scale_1_twice | The feed-forward step is multiplied by scale_1 too, instead of scale_2
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + seen * layer.scale_1
    step = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    tokens = tokens + step * layer.scale_1
    return tokens, weights

# %% [wrong] residual_after_norm | tokens is overwritten by its normalised copy before the addition, so the residual is the normalised tokens and not those before the norm
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    tokens = layer.norm_1(tokens)
    seen, weights = vit_attention(layer, tokens)
    tokens = tokens + layer.scale_1 * seen
    tokens = layer.norm_2(tokens)
    return tokens + layer.scale_2 * layer.contract(F.gelu(layer.expand(tokens))), weights

# %% [wrong] tokens_alone | Only the tokens are returned; the weights of the attention, the second thing that is asked for, are thrown away
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    tokens = tokens + layer.scale_1 * vit_attention(layer, layer.norm_1(tokens))[0]
    return tokens + layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))

# %% [right] addcmul | torch.addcmul adds scale · step to the tokens
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = torch.addcmul(tokens, layer.scale_1, seen)
    hidden = F.gelu(layer.expand(layer.norm_2(tokens)))
    return torch.addcmul(tokens, layer.scale_2, layer.contract(hidden)), weights
