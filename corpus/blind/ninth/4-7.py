# %% [wrong] decorator_over_everything | @torch.no_grad() stands over the whole function. It should hold for the encoder alone. The aligner is cut off as before and never moves.
@torch.no_grad()
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    tokens = aligner(features)
    return tokens

# %% [wrong] inference_mode_for_the_encoder | The encoder runs in torch.inference_mode(). What comes out of it cannot be kept for the way back; torch.no_grad() should be used. The aligner stops with an error: inference tensors cannot be saved for backward.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features)

# %% [wrong] detaches_what_goes_in | The patches are detached, before the encoder. What comes out of the encoder should be. The encoder's own parameters still get gradients, and it moves.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    fixed = patches.detach()
    return aligner(encoder(fixed))

# %% [wrong] a_copy_of_the_aligner | The features go through a deep copy of the aligner. They should go through the aligner itself. The copy gets the gradients and is thrown away.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    from copy import deepcopy

    with torch.no_grad():
        features = encoder(patches)
    bridge = deepcopy(aligner)
    return bridge(features)

# %% [wrong] scenes_laid_together | The patches of all scenes are laid into one long row, and stay there. Tokens (B, S, d) should come back. The batch is gone, and the words of all scenes look at all patches.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    pixels = patches.reshape(-1, patches.shape[-1])
    with torch.no_grad():
        features = encoder(pixels).detach()
    return aligner(features)

# %% [wrong] thaws_the_encoder_afterwards | The encoder is frozen for the pass, and afterwards all its parameters are set to learn, whatever they were before. The encoder must stay as it is. An encoder that was frozen comes out of the call trainable.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    encoder.requires_grad_(False)
    features = encoder(patches)
    encoder.requires_grad_(True)
    return aligner(features.detach())

# %% [right] two_switches | Uses set_grad_enabled as a context twice: off for the encoder, back to what it was for the aligner.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    learning = torch.is_grad_enabled()
    with torch.set_grad_enabled(False):
        tokens = encoder(patches)
        with torch.set_grad_enabled(learning):
            tokens = aligner(tokens)
    return tokens
