# %% [wrong] ffn_from_the_old_tokens | The feed-forward step reads norm_2 of the tokens as they came in, not of those after attention: both steps run side by side instead of one after the other.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    thought = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_1 * seen + layer.scale_2 * thought, weights


# %% [wrong] residual_of_the_normed | The residual is the normalised tokens: x = norm(x) + …. With both scales at 0 the layer does not hand on what came in.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    out, weights = vit_attention(layer, x)
    x = x + layer.scale_1 * out
    y = layer.norm_2(x)
    y = y + layer.scale_2 * layer.contract(F.gelu(layer.expand(y)))
    return y, weights


# %% [wrong] scale_on_the_whole_sum | The scale multiplies the sum of residual and step, scale · (x + step), instead of the step alone. With the scales at 0 the tokens vanish.
class _Step:
    def __init__(self, norm, scale, work):
        self.norm, self.scale, self.work = norm, scale, work

    def __call__(self, x):
        return self.scale * (x + self.work(self.norm(x)))


def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    kept = []

    def attend(x):
        output, weights = vit_attention(layer, x)
        kept.append(weights)
        return output

    tokens = _Step(layer.norm_1, layer.scale_1, attend)(tokens)
    tokens = _Step(layer.norm_2, layer.scale_2, lambda x: layer.contract(F.gelu(layer.expand(x))))(tokens)
    return tokens, kept[0]


# %% [wrong] relu_for_gelu | Uses F.relu between expand and contract, as in older transformers; the text says F.gelu.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    mlp = nn.Sequential(layer.expand, nn.ReLU(), layer.contract)
    output, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = torch.addcmul(tokens, layer.scale_1, output)
    tokens = torch.addcmul(tokens, layer.scale_2, mlp(layer.norm_2(tokens)))
    return tokens, weights


# %% [wrong] in_place_addition | `tokens += …` adds into the tensor that was handed in: the caller's tokens are changed by the call, so that comparing before and after shows no difference.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    output, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens += layer.scale_1 * output
    tokens += layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens, weights


# %% [right] fold_over_steps | The two formulas as one loop over (norm, scale, step), where each step returns a pair; the scales are folded in by torch.addcmul.
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def think(x):
        return layer.contract(F.gelu(layer.expand(x))), None

    def attend(x):
        return vit_attention(layer, x)

    found = []
    for norm, scale, step in ((layer.norm_1, layer.scale_1, attend), (layer.norm_2, layer.scale_2, think)):
        added, weights = step(norm(tokens))
        tokens = torch.addcmul(tokens, scale, added)
        found.append(weights)
    return tokens, found[0]
