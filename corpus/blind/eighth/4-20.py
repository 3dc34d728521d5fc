# %% [wrong] residual_of_the_norm | The tokens are replaced by their norm, and what the step brings is added to that; the residual should be the tokens before the norm. With both scales at 0 the layer still changes the tokens.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    tokens = layer.norm_1(tokens)
    seen, weights = vit_attention(layer, tokens)
    tokens = layer.norm_2(tokens + layer.scale_1 * seen)
    return tokens + layer.scale_2 * layer.contract(F.gelu(layer.expand(tokens))), weights

# %% [wrong] both_steps_side_by_side | The feed-forward step reads the tokens that came in; it should read those that attention has changed.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_1 * seen + layer.scale_2 * thought, weights

# %% [wrong] the_sum_is_scaled | The scale is multiplied with the tokens and the step together, scale · (x + …); it should be with the step alone, x + scale · …. With both scales at 0 nothing is left of the tokens.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = layer.scale_1 * (tokens + seen)
    tokens = layer.scale_2 * (tokens + layer.contract(F.gelu(layer.expand(layer.norm_2(tokens)))))
    return tokens, weights

# %% [wrong] tanh_of_the_scale | The scales go through tanh, as Flamingo's gate does; they should be multiplied as they are. A scale of 1 lets 0.76 through.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    gate_1, gate_2 = layer.scale_1.tanh(), layer.scale_2.tanh()
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + gate_1 * seen
    tokens = tokens + gate_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens, weights

# %% [wrong] the_bend_at_the_end | F.gelu stands after contract; it should stand between expand and contract. The two Linears are one, and what is added is hardly ever negative.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def feed_forward(x):
        return F.gelu(layer.contract(layer.expand(x)))

    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * seen
    return tokens + layer.scale_2 * feed_forward(layer.norm_2(tokens)), weights

# %% [wrong] second_residual_lost | The result of the feed-forward step replaces the tokens; it should be added to them. With both scales at 0 all tokens are 0.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + seen * layer.scale_1
    hidden = F.gelu(layer.expand(layer.norm_2(tokens)))
    tokens = layer.contract(hidden) * layer.scale_2
    return tokens, weights

# %% [right] addcmul | x + scale · step is one torch.addcmul, twice.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    after_looking = torch.addcmul(tokens, layer.scale_1, seen)
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(after_looking))))
    return torch.addcmul(after_looking, layer.scale_2, thought), weights
