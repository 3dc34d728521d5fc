# %% [wrong] first_norm_used_twice | The feed-forward step reads norm_1 of the tokens and not norm_2, whose learned numbers are others.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * seen
    thought = layer.contract(F.gelu(layer.expand(layer.norm_1(tokens))))
    tokens = tokens + layer.scale_2 * thought
    return tokens, weights
