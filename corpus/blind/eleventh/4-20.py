# %% [wrong] both_steps_from_the_same_tokens | The feed-forward step gets the tokens that came in, not those that attention has changed, and both are added at once. In the second formula x is the result of the first one.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, layer.norm_1(tokens))
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_1 * attended + layer.scale_2 * thought, weights

# %% [wrong] scale_on_the_sum | The scale multiplies the residual too: scale · (x + …). Only what is added should be scaled; with both scales at 0 this layer wipes the tokens out, where it should change nothing.
def vit_block(layer, tokens):
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = layer.scale_1 * (tokens + seen)
    hidden = F.gelu(layer.expand(layer.norm_2(tokens)))
    tokens = layer.scale_2 * (tokens + layer.contract(hidden))
    return tokens, weights

# %% [wrong] gelu_by_tanh | F.gelu is called with approximate="tanh", as in GPT-2. The text says F.gelu; the approximation is off by some 10⁻⁴, too much for maps that must agree with the published ones after twelve layers.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """One layer: pre-norm, with layer scale."""
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * seen
    ffn = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens)), approximate="tanh"))
    tokens = tokens + layer.scale_2 * ffn
    return tokens, weights

# %% [wrong] adds_in_place | `tokens +=` writes into the tensor that was handed in. What is returned has the right numbers, but the caller's tokens are changed as well, and the cell below prints that nothing has changed with the scales at 1.
def vit_block(layer, tokens):
    out, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens += layer.scale_1 * out
    tokens += layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens, weights

# %% [wrong] first_norm_twice | The feed-forward step is normed by norm_1, a line that was copied from the one above. It should be norm_2, which has weights of its own; with fresh layers the two are alike and nothing shows.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attn, w = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * attn
    h = layer.norm_1(tokens)
    h = layer.expand(h)
    h = F.gelu(h)
    h = layer.contract(h)
    tokens = tokens + layer.scale_2 * h
    return tokens, w

# %% [right] addcmul_and_a_written_gelu | torch.addcmul adds scale times step to the residual, and the GELU is written out with the error function, which is what F.gelu computes.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, layer.norm_1(tokens))
    middle = torch.addcmul(tokens, layer.scale_1.expand_as(tokens), attended)
    wide = layer.expand(layer.norm_2(middle))
    bent = 0.5 * wide * (1 + torch.erf(wide / 2**0.5))
    return torch.addcmul(middle, layer.scale_2.expand_as(middle), layer.contract(bent)), weights
