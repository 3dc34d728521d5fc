# %% [wrong] feed_forward_reads_the_old_tokens | The feed-forward step reads the tokens as they came into the layer, side by side with the attention. It has to read the tokens that the first line has made.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_1 * seen + layer.scale_2 * thought, weights


# %% [wrong] first_scale_used_twice | The feed-forward step is multiplied by scale_1 once more. It has a scale of its own, scale_2.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def scaled(step):
        return layer.scale_1 * step

    output, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + scaled(output)
    hidden = F.gelu(layer.expand(layer.norm_2(tokens)))
    tokens = tokens + scaled(layer.contract(hidden))
    return tokens, weights
