# %% [wrong] both_steps_from_the_input | the feed-forward step reads the tokens that came in, not those after attention: the two steps stand side by side instead of one behind the other
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, layer.norm_1(tokens))
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_1 * attended + layer.scale_2 * thought, weights


# %% [wrong] residual_scaled_too | the layer scale multiplies the sum of residual and step instead of the step alone: with the scales at 0 the tokens vanish where they should stay unchanged
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = layer.scale_1 * (tokens + seen)
    hidden = F.gelu(layer.expand(layer.norm_2(tokens)))
    tokens = layer.scale_2 * (tokens + layer.contract(hidden))
    return tokens, weights


# %% [wrong] changed_in_place | adds with += to the tensor that was handed in: the result has the right numbers, but the caller's tokens are changed as well, and the cell below then prints a change of 0.0 with the scales at 1
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    out, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens += layer.scale_1 * out
    tokens += layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens, weights


# %% [wrong] residual_after_norm | the name tokens is overwritten by the normalised copy, and the residual is added to that: the original tokens are lost, and scales of 0 do not leave them unchanged
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    tokens = layer.norm_1(tokens)
    out, weights = vit_attention(layer, tokens)
    tokens = torch.addcmul(tokens, layer.scale_1, out)
    tokens = layer.norm_2(tokens)
    ffn = nn.Sequential(layer.expand, nn.GELU(), layer.contract)
    tokens = torch.addcmul(tokens, layer.scale_2, ffn(tokens))
    return tokens, weights


# %% [wrong] post_norm | norms stand behind each step (the original transformer's post-norm) instead of in front: attention reads raw tokens, and what is added is normalised before it is scaled
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    maps = None

    def attention(x):
        nonlocal maps
        x, maps = vit_attention(layer, x)
        return x

    def feed_forward(x):
        return layer.contract(F.gelu(layer.expand(x)))

    for step, norm, scale in (
        (attention, layer.norm_1, layer.scale_1),
        (feed_forward, layer.norm_2, layer.scale_2),
    ):
        tokens = tokens + scale * norm(step(tokens))
    return tokens, maps


# %% [right] scale_folded_into_the_matrix | the layer scales are folded into the last matrix of the feed-forward step, and added with addcmul for the attention
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    middle = torch.addcmul(tokens, seen, layer.scale_1.expand_as(seen))
    hidden = F.gelu(F.linear(layer.norm_2(middle), layer.expand.weight, layer.expand.bias))
    added = F.linear(hidden, layer.scale_2[:, None] * layer.contract.weight, layer.scale_2 * layer.contract.bias)
    return middle + added, weights
