# %% [right] attn_and_ffn_residual_functions | two inner residual functions, after facebookresearch/dinov2 (Block.forward with ls1, ls2)
def vit_block(layer, tokens):
    def attn_residual_func(x):
        attended, weights = vit_attention(layer, layer.norm_1(x))
        return layer.scale_1 * attended, weights

    def ffn_residual_func(x):
        return layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(x))))

    delta, weights = attn_residual_func(tokens)
    x = tokens + delta
    x = x + ffn_residual_func(x)
    return x, weights


# %% [right] layernorm_functional_and_mul | F.layer_norm with the layer's eps and weights, mul by the scales, after functional ports
def vit_block(layer, tokens):
    norm = lambda n, x: F.layer_norm(x, n.normalized_shape, n.weight, n.bias, n.eps)  # noqa: E731
    y, attn = vit_attention(layer, norm(layer.norm_1, tokens))
    tokens = tokens + y.mul(layer.scale_1)
    hidden = layer.contract(torch.nn.functional.gelu(layer.expand(norm(layer.norm_2, tokens)), approximate="none"))
    tokens = tokens + hidden.mul(layer.scale_2)
    return tokens, attn


# %% [right] addcmul_layer_scale | torch.addcmul for residual and layer scale, after rwightman/pytorch-image-models (LayerScale) and naver-ai/rope-vit
def vit_block(layer, tokens):
    attention_output, attention_probs = vit_attention(layer, layer.norm_1(tokens))
    hidden_states = torch.addcmul(tokens, layer.scale_1, attention_output)
    layer_output = layer.contract(nn.GELU()(layer.expand(layer.norm_2(hidden_states))))
    return torch.addcmul(hidden_states, layer.scale_2, layer_output), attention_probs
