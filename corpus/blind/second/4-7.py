# %% [right] detach_features | right
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches).detach()
    return aligner(features)

# %% [wrong] encoder_learns_too | There is no no_grad or detach at all, so the encoder learns as well.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    return aligner(encoder(patches))

# %% [wrong] detached_at_the_end | The tokens are detached after the aligner, so the aligner still gets no gradient.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    return aligner(features).detach()

# %% [wrong] encoder_frozen_after | The encoder is frozen only after the forward pass, too late for this pass.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    tokens = aligner(encoder(patches))
    encoder.requires_grad_(False)
    return tokens

# %% [wrong] patches_detached | The patches are detached instead of the features; the encoder's parameters still get a gradient.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches.detach())
    return aligner(features)

# %% [wrong] eval_is_not_frozen | encoder.eval() is taken for freezing, but it changes only the mode and gradients still flow.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    encoder.eval()
    features = encoder(patches)
    return aligner(features)

# %% [wrong] aligner_in_no_grad | The encoder runs outside and the aligner inside the no_grad block: the wrong one is frozen.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    with torch.no_grad():
        tokens = aligner(features)
    return tokens

# %% [wrong] requires_grad_on_tokens | The no_grad block is kept and requires_grad is switched on for the tokens, which reaches neither aligner nor encoder.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        features = encoder(patches)
        tokens = aligner(features)
    return tokens.requires_grad_()

# %% [wrong] aligner_only | The encoder is skipped because it must not move, and the patches are cut to the aligner's width.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    width = aligner.in_features
    return aligner(patches[..., :width])
