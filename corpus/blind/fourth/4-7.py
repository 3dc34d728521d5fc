# %% [wrong] encoder_learns_too | `no_grad` was simply removed: now the encoder learns as well, and it must stay as it is.
def image_tokens(encoder, aligner, patches):
    features = encoder(patches)
    return aligner(features)


# %% [wrong] tokens_detached | The block reaches the encoder only, but the tokens are detached at the end: the aligner gets no gradient again.
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        features = encoder(patches)
    tokens = aligner(features)
    return tokens.detach()


# %% [wrong] wrong_part_in_the_block | The block stands around the aligner: the encoder learns nothing, and the aligner neither.
def image_tokens(encoder, aligner, patches):
    features = encoder(patches)
    with torch.no_grad():
        tokens = aligner(features)
    return tokens


# %% [wrong] aligner_skipped | Returns the features of the encoder: the aligner is never called.
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        features = encoder(patches)
    return features


# %% [wrong] requires_grad_afterwards | Everything stays in the block, and `requires_grad_()` is set on the result: that makes the tokens a new beginning, and the aligner gets nothing.
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        features = encoder(patches)
        tokens = aligner(features)
    return tokens.requires_grad_()


# %% [wrong] inference_mode | `torch.inference_mode` is stricter than `no_grad`: its tensors may not take part in a later backward pass, and the aligner raises an error.
def image_tokens(encoder, aligner, patches):
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features)


# %% [right] detached_features | No block: the features are detached between encoder and aligner.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    return aligner(encoder(patches).detach())
