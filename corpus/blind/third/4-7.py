# %% [wrong] encoder_learns_too | Takes no_grad away altogether: the gradient reaches the encoder, which must stay as it is.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    return aligner(features)

# %% [wrong] detached_too_late | Detaches the tokens behind the aligner, so the aligner still gets no gradient; the cut belongs between the two.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    tokens = aligner(encoder(patches))
    return tokens.detach()

# %% [wrong] wrong_one_in_the_block | Puts the aligner into the no_grad block and the encoder before it: the aligner does not learn.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    with torch.no_grad():
        tokens = aligner(features)
    return tokens

# %% [wrong] inference_tensors | Runs the encoder in inference_mode: its tensors may not be saved for backward, and the aligner raises an error as it learns.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features)

# %% [wrong] no_grad_decorator | The decorator lays no_grad over the whole function, the aligner included.
@torch.no_grad()
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches).detach()
    features.requires_grad_(True)
    return aligner(features)

# %% [wrong] encoder_skipped | Leaves out the encoder and gives the patches to the aligner directly.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    frozen = patches.detach()
    return aligner(frozen)

# %% [right] functional_call_detached | Calls the encoder with detached copies of its parameters, so no gradient can reach them.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    frozen = {name: parameter.detach() for name, parameter in encoder.named_parameters()}
    features = torch.func.functional_call(encoder, frozen, (patches,))
    return aligner(features)
