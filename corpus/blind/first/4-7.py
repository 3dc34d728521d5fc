# %% [wrong] still_all_frozen | The aligner is still called inside no_grad, so it does not learn.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches through an encoder that stays as it is, and an aligner that learns."""
    with torch.no_grad():
        return aligner(encoder(patches))
# %% [wrong] nothing_frozen | The block is gone altogether, so the encoder learns as well.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches through an encoder that stays as it is, and an aligner that learns."""
    features = encoder(patches)
    tokens = aligner(features)
    return tokens
# %% [wrong] frozen_wrong_one | The encoder learns and the aligner is computed without gradients.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches through an encoder that stays as it is, and an aligner that learns."""
    features = encoder(patches)
    with torch.no_grad():
        tokens = aligner(features)
    return tokens
# %% [wrong] detached_at_the_end | The tokens are detached at the end, which cuts the aligner off too.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches through an encoder that stays as it is, and an aligner that learns."""
    features = encoder(patches)
    tokens = aligner(features)
    return tokens.detach()
# %% [wrong] aligner_left_out | The features of the encoder are returned; the aligner is never called.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches through an encoder that stays as it is, and an aligner that learns."""
    with torch.no_grad():
        features = encoder(patches)
    return features
# %% [wrong] requires_grad_after | The gradient is switched on for the finished tokens, which does not lead back to the aligner.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches through an encoder that stays as it is, and an aligner that learns."""
    with torch.no_grad():
        features = encoder(patches)
        tokens = aligner(features)
    tokens.requires_grad_(True)
    return tokens
# %% [wrong] aligner_first | The order is wrong: the patches go through the aligner first and the encoder after.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches through an encoder that stays as it is, and an aligner that learns."""
    with torch.no_grad():
        features = aligner(patches)
    return encoder(features)
# %% [wrong] inference_mode | The encoder runs in inference_mode, whose results cannot be used for a backward pass.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches through an encoder that stays as it is, and an aligner that learns."""
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features)
# %% [right] detached_features | Detaches the features in place of a no_grad block.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches through an encoder that stays as it is, and an aligner that learns."""
    return aligner(encoder(patches).detach())
# %% [right] decorated_inner | A decorated inner function computes the features.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Patches through an encoder that stays as it is, and an aligner that learns."""

    @torch.no_grad()
    def look(pixels):
        return encoder(pixels)

    return aligner.forward(look(patches))
