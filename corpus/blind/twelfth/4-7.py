# %% [wrong] encoder_learns_too | the no_grad is taken away altogether: the aligner learns and the gate is passed, but the encoder gets gradients as well and is moved by the optimizer
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    pipeline = nn.Sequential(encoder, aligner)
    return pipeline(patches)


# %% [wrong] requires_grad_afterwards | everything is still computed without a graph; marking the result with requires_grad_ makes it a new leaf, and the gradient stops there: the aligner never gets one
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        features = encoder(patches)
        tokens = aligner(features)
    tokens.requires_grad_(True)
    return tokens


# %% [wrong] grad_switched_off_for_good | switches gradients off for the whole process and never on again: already the aligner is computed without a graph, and so is everything that comes after this call
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    torch.set_grad_enabled(False)
    frozen = encoder(patches)
    return aligner(frozen)


# %% [wrong] inference_mode | the features are made in inference_mode; such tensors may not be saved for the way back, so the aligner's forward raises a RuntimeError while gradients are on
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    @torch.inference_mode()
    def encode(x):
        return encoder(x)

    return aligner(encode(patches))


# %% [wrong] detached_at_the_end | the detach is put behind the aligner, not between encoder and aligner: the tokens are cut off from both, and the aligner does not learn
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    B, S = patches.shape[:2]
    x = patches.flatten(0, 1)
    for module in (encoder, aligner):
        x = module(x)
    return x.detach().unflatten(0, (B, S))


# %% [right] functional_call | calls the encoder with detached copies of its parameters, so there is no no_grad block at all; nothing of the encoder is in the graph
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    constants = {name: parameter.detach() for name, parameter in encoder.named_parameters()}
    features = torch.func.functional_call(encoder, constants, (patches,))
    return aligner(features)
