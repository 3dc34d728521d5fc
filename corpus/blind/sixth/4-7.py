# %% [wrong] encoder_learns | The no_grad block is dropped altogether, so the encoder gets a gradient and moves with the aligner; it must stay as it is
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    return aligner(encoder(patches))

# %% [wrong] tokens_detached | The tokens are detached at the very end instead of the features, so the aligner gets no gradient, as before
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    tokens = aligner(features)
    return tokens.detach()

# %% [wrong] inference_mode | The features come from torch.inference_mode(); such tensors may not be saved for backward, so the aligner's forward raises an error when it is to learn; torch.no_grad() is needed
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features)

# %% [wrong] requires_grad_on_tokens | requires_grad_() is set on the tokens after the block: they become a leaf that has a gradient of its own, and nothing flows back to the aligner
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        tokens = aligner(encoder(patches))
    tokens.requires_grad_()     # switch the gradient on again
    return tokens

# %% [wrong] aligner_first | The patches go through the aligner first and then through the encoder: the widths (64 into an aligner for 32 numbers) do not fit
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    aligned = aligner(patches)
    with torch.no_grad():
        tokens = encoder(aligned)
    return tokens

# %% [wrong] aligner_left_out | The aligner is never called: the encoder's features are returned, 32 numbers wide instead of 8, and the aligner cannot learn
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        features = encoder(patches)
    return features

# %% [right] detach_between | the features are detached where they leave the encoder
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    return aligner(encoder(patches).detach())
