# %% [wrong] scale_on_the_residual | the layer scale multiplies the sum, scale · (tokens + attention), and so the residual too; with scales of 0 everything becomes 0 where nothing should change
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    out, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = layer.scale_1 * (tokens + out)
    ffn = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return layer.scale_2 * (tokens + ffn), weights

# %% [wrong] second_step_reads_the_start | the feed-forward step reads the tokens that came into the block, not those after attention
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    attended, weights = vit_attention(layer, layer.norm_1(tokens))
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_1 * attended + layer.scale_2 * thought, weights

# %% [wrong] scale_1_twice | the second step is multiplied by scale_1 again; it should be scale_2
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    a, w = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * a
    tokens = tokens + layer.scale_1 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens, w

# %% [wrong] norms_left_out_of_ffn | the feed-forward step reads the tokens without norm_2
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * seen
    hidden = F.gelu(layer.expand(tokens))
    return tokens + layer.scale_2 * layer.contract(hidden), weights

# %% [wrong] relu_in_the_middle | F.relu stands between expand and contract in place of F.gelu
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    output, weights = vit_attention(layer, layer.norm_1(tokens))
    x = tokens + output * layer.scale_1
    y = F.relu(layer.expand(layer.norm_2(x)))
    x = x + layer.contract(y) * layer.scale_2
    return x, weights

# %% [wrong] normed_residual | the residual is the normalised copy and not the tokens before the norm: x = norm(x) is written back before the addition
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    out, weights = vit_attention(layer, x)
    x = x + layer.scale_1 * out
    x = layer.norm_2(x)
    x = x + layer.scale_2 * layer.contract(F.gelu(layer.expand(x)))
    return x, weights

# %% [right] addcmul_steps | each step is computed first and added with torch.addcmul, which multiplies by the scale on the way
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    after = torch.addcmul(tokens, layer.scale_1, seen)
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(after))))
    return torch.addcmul(after, layer.scale_2, thought), weights
