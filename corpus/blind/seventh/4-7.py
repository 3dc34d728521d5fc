# %% [wrong] gradient_switched_on_later | Everything runs under no_grad, and tokens.requires_grad_() is called on the result; that makes it a new beginning, the gradient ends there, and the aligner gets none.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        tokens = aligner(encoder(patches))
    return tokens.requires_grad_()

# %% [wrong] switched_off_for_good | torch.set_grad_enabled(False) is never taken back, so neither the aligner nor anything that runs afterwards, the loss included, has gradients.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    torch.set_grad_enabled(False)
    features = encoder(patches)
    return aligner(features)

# %% [wrong] inference_mode | The features are made in inference_mode; such tensors cannot be kept for the way back, so the aligner raises a RuntimeError in training. no_grad is meant.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.inference_mode():
        features = encoder(patches)
    tokens = aligner(features)
    return tokens

# %% [wrong] patches_detached | The patches are detached, which have no gradient anyway; the encoder's own parameters still get one, and the encoder learns. Its output must be detached.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches.detach())
    return aligner(features)

# %% [wrong] by_way_of_numpy | The features are cut off by .numpy(), which PyTorch refuses for tensors that require a gradient, a RuntimeError in training; and on a GPU it fails as well.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = torch.tensor(encoder(patches).numpy())
    return aligner(features)

# %% [wrong] the_wrong_one_is_frozen | The block with no_grad holds the aligner and not the encoder, so neither of them gets a gradient; the encoder should stand in it and the aligner behind it.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    with torch.no_grad():
        tokens = aligner(features)
    return tokens

# %% [right] a_function_without_gradient | the encoder's part is a small function under the decorator no_grad, and the aligner stands outside of it
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    @torch.no_grad()
    def features() -> Tensor:
        return encoder(patches)

    return aligner(features())
