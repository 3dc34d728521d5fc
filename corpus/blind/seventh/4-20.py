# %% [wrong] tokens_changed_in_place | += writes into the tokens of the caller, so these change too; the difference between before and after is then zero, and a second call begins from other tokens.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens += layer.scale_1 * seen
    tokens += layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens, weights

# %% [wrong] first_norm_twice | The feed-forward step is normalised with norm_1 again; it has a norm of its own, norm_2.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * attended
    hidden = F.gelu(layer.expand(layer.norm_1(tokens)))
    tokens = tokens + layer.scale_2 * layer.contract(hidden)
    return tokens, weights

# %% [wrong] scale_inside | The scales are multiplied onto the normalised tokens before attention and feed-forward, and not onto what comes out; with scales of 0 a layer still adds its biases.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    update, weights = vit_attention(layer, layer.scale_1 * layer.norm_1(tokens))
    tokens = tokens + update
    x = layer.scale_2 * layer.norm_2(tokens)
    return tokens + layer.contract(F.gelu(layer.expand(x))), weights

# %% [wrong] gelu_at_the_end | The GELU stands behind contract and not between expand and contract, so the two Linears are one, and what is added is hardly ever negative.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * seen
    thought = F.gelu(layer.contract(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_2 * thought, weights

# %% [wrong] both_steps_from_the_start | The feed-forward step reads the tokens that came in and not those after the attention; in the second formula x is what the first one has left.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    first = layer.scale_1 * seen
    second = layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + first + second, weights

# %% [wrong] residual_is_scaled_too | The brackets take the residual in, scale · (tokens + step); with scales of 0 nothing is left of the tokens, where nothing should change.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    out, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = layer.scale_1 * (tokens + out)
    ffn = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    tokens = layer.scale_2 * (tokens + ffn)
    return tokens, weights

# %% [right] two_updates_by_addcmul | each line adds scale times step in one call, the feed-forward step is a local function
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def think(x: Tensor) -> Tensor:
        return layer.contract(F.gelu(layer.expand(x)))

    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    after = torch.addcmul(tokens, layer.scale_1, seen)
    return torch.addcmul(after, layer.scale_2, think(layer.norm_2(after))), weights
