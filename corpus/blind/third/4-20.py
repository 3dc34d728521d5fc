# %% [wrong] scale_over_everything | Multiplies the sum of tokens and update by the scale; only what is added is to be scaled.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = layer.scale_1 * (tokens + seen)
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return layer.scale_2 * (tokens + thought), weights

# %% [wrong] second_step_reads_the_input | The feed-forward step reads the tokens that came in, and not those of the first line.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, layer.norm_1(tokens))
    fed = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_1 * attended + layer.scale_2 * fed, weights

# %% [wrong] residual_of_the_norm | Overwrites the tokens by their normalised copy, so the residual is not the tokens before the norm.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    attended, weights = vit_attention(layer, x)
    x = x + layer.scale_1 * attended
    x = layer.norm_2(x)
    return x + layer.scale_2 * layer.contract(F.gelu(layer.expand(x))), weights

# %% [wrong] first_scale_twice | Copy-paste: the second line is scaled by scale_1 again.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    update, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = torch.addcmul(tokens, layer.scale_1, update)
    update = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return torch.addcmul(tokens, layer.scale_1, update), weights

# %% [wrong] norm_last | Post-norm: the norms stand after the additions in place of before the steps.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, tokens)
    tokens = layer.norm_1(tokens + layer.scale_1 * attended)
    tokens = layer.norm_2(tokens + layer.scale_2 * layer.contract(F.gelu(layer.expand(tokens))))
    return tokens, weights

# %% [wrong] no_bend | GELU is missing between expand and contract, so the feed-forward step is linear.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    out, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + out * layer.scale_1
    hidden = layer.expand(layer.norm_2(tokens))
    return tokens + layer.contract(hidden) * layer.scale_2, weights

# %% [right] steps_in_a_loop | A loop over (norm, scale, step); the scale is applied as a diagonal matrix in an einsum.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    weights = None

    def attend(x):
        nonlocal weights
        x, weights = vit_attention(layer, x)
        return x

    def think(x):
        return layer.contract(F.gelu(layer.expand(x)))

    for norm, scale, step in ((layer.norm_1, layer.scale_1, attend), (layer.norm_2, layer.scale_2, think)):
        tokens = tokens + torch.einsum("d,...d->...d", scale, step(norm(tokens)))
    return tokens, weights
