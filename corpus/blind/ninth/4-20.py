# %% [wrong] residual_is_scaled_too | The scale multiplies the whole sum of tokens and step. Only what is added should be multiplied. With both scales at 0 all tokens become zero.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = layer.scale_1 * (tokens + attended)
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return layer.scale_2 * (tokens + thought), weights

# %% [wrong] thinks_about_the_old_tokens | The feed-forward step reads norm_2 of the tokens as they came in. It should read those after attention. What attention has brought is not thought about.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    after = tokens + layer.scale_1 * seen
    hidden = F.gelu(layer.expand(layer.norm_2(tokens)))
    return after + layer.scale_2 * layer.contract(hidden), weights

# %% [wrong] adds_into_the_given_tokens | The steps are added with +=, into the tensor that was handed in. New tokens should come back. The caller's tokens are changed by the layer.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    step, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens += step * layer.scale_1
    tokens += layer.contract(F.gelu(layer.expand(layer.norm_2(tokens)))) * layer.scale_2
    return tokens, weights

# %% [wrong] multiplies_a_pair | vit_attention gives back two things, and the scale is multiplied with both as one. The output should be taken out first. It ends in a TypeError.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attention = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * attention
    tokens = tokens + layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens, attention[1]

# %% [wrong] scales_what_goes_in | The scale is multiplied with the normalised tokens, before attention and before the feed-forward step. It should be multiplied with what comes out. With scales at 0 the biases still come through, and the maps become even.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def feed_forward(x):
        return layer.contract(F.gelu(layer.expand(x)))

    more, weights = vit_attention(layer, layer.scale_1 * layer.norm_1(tokens))
    tokens = tokens + more
    more = feed_forward(layer.scale_2 * layer.norm_2(tokens))
    return tokens + more, weights

# %% [wrong] gelu_by_tanh | GELU is computed with approximate="tanh", as some language models do. F.gelu as it is was asked for. The tokens differ in the fourth digit, and through twelve layers in more.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    mlp = nn.Sequential(layer.norm_2, layer.expand, nn.GELU(approximate="tanh"), layer.contract)
    looked, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = torch.addcmul(tokens, layer.scale_1, looked)
    tokens = torch.addcmul(tokens, layer.scale_2, mlp(tokens))
    return tokens, weights

# %% [right] addcmul_and_erf | addcmul for scale and residual in one, and GELU written out with erf.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    looked, weights = vit_attention(layer, layer.norm_1(tokens))
    middle = torch.addcmul(tokens, looked, layer.scale_1)
    wide = layer.expand(layer.norm_2(middle))
    bent = 0.5 * wide * (1 + torch.erf(wide / 2**0.5))
    return middle.addcmul(layer.contract(bent), layer.scale_2), weights
