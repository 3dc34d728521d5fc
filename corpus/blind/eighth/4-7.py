# %% [wrong] evaluation_mode_is_no_freeze | encoder.eval() takes the place of no_grad; it changes the mode and stops no gradient. The encoder learns, though it should stay as it is.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    encoder.eval()  # trained before
    return aligner(encoder(patches))

# %% [wrong] switched_off_for_good | torch.set_grad_enabled(False) is never switched on again; it should end with the encoder. The aligner gets no gradient, and nothing else that is computed afterwards: loss.backward() raises an error.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    torch.set_grad_enabled(False)
    features = encoder(patches)
    tokens = aligner(features)
    return tokens

# %% [wrong] inference_tensors | The encoder runs in torch.inference_mode(); it should be no_grad. Its features may not be kept for the way back, and the aligner raises a RuntimeError while training.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features)

# %% [wrong] the_wrong_one_is_cut_off | The encoder runs with gradients, and the result of the aligner is detached; the features should be detached, before the aligner. Neither of the two learns.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    tokens = aligner(features).detach()  # nothing flows back into the encoder
    return tokens

# %% [wrong] only_the_bias_learns | The aligner is applied with its weight detached; it should be called as it is. Of the aligner only the bias learns, and the eight directions stay random.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        features = encoder(patches)
    return F.linear(features, aligner.weight.detach(), aligner.bias)

# %% [wrong] a_bend_between_them | A GELU is put between encoder and aligner; all else should stay as it was. The tokens are others, even with the same weights.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        features = F.gelu(encoder(patches))
    return aligner(features)

# %% [right] a_decorated_helper | The encoder is called through a small helper under no_grad, so the block reaches exactly as far as its name says.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    @torch.no_grad()
    def frozen_features() -> Tensor:
        return encoder(patches)

    return aligner(frozen_features())
