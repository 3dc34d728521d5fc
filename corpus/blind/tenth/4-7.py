# %% [wrong] no_grad_removed_altogether | The block with no_grad is gone, so the encoder learns as well. It must stay as it is; only what is behind it learns.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    return aligner(features)

# %% [wrong] tokens_detached_too | The encoder's features keep their gradient, and the tokens are detached at the end. This is the old fault in another writing: the aligner gets no gradient.
def image_tokens(encoder, aligner, patches):
    return aligner(encoder(patches)).detach()

# %% [wrong] the_other_one_frozen | The wrong module is held fixed: the aligner runs with detached copies of its parameters, and the encoder learns. The encoder has to stay as it is and the aligner to learn.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    fixed = {name: p.detach() for name, p in aligner.named_parameters()}
    return torch.func.functional_call(aligner, fixed, (features,))

# %% [wrong] requires_grad_of_the_result | Everything is computed under no_grad, and the tokens are then told to require gradients. That makes them a new beginning: gradients arrive at the tokens and go no further, so the aligner does not learn.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        features = encoder(patches)
        tokens = aligner(features)
    return tokens.requires_grad_(True)

# %% [wrong] inference_mode_for_the_encoder | The encoder runs under torch.inference_mode. Its result cannot be saved for a backward pass, so the aligner, which needs it for its gradient, crashes.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features)

# %% [right] decorated_inner_function | The encoder is called in an inner function that is decorated with torch.no_grad(); the aligner outside of it.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    @torch.no_grad()
    def look_up():
        return encoder(patches)

    return aligner(look_up())
