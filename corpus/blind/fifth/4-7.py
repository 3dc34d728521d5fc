# %% [wrong] no_block_at_all | without no_grad and without detach the encoder gets gradients and learns as well; it must stay as it is
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    return aligner(features)

# %% [wrong] detached_at_the_end | the tokens are detached after the aligner, so the aligner is cut off just as by the old block; detach belongs behind the encoder
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    tokens = aligner(features)
    return tokens.detach()

# %% [wrong] block_around_the_aligner | no_grad stands around the aligner and not around the encoder: the wrong one is cut off
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    with torch.no_grad():
        tokens = aligner(features)
    return tokens

# %% [wrong] requires_grad_on_the_tokens | requires_grad_() on the finished tokens makes a new leaf: the gradient ends there and the aligner gets none
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        tokens = aligner(encoder(patches))
    return tokens.requires_grad_()

# %% [wrong] aligner_skipped | the features of the encoder are returned and the aligner is never called; it cannot learn
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        features = encoder(patches)
    return features

# %% [wrong] only_evaluation_mode | eval() is taken for freezing: it changes the mode of the encoder (and leaves it so), but gradients still flow and the encoder learns
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    encoder.eval()
    return aligner(encoder(patches))

# %% [right] detach_between | the encoder's features are cut off with detach, in one line, and the aligner works on what is left
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    return aligner(encoder(patches).detach())
