# %% [wrong] no_grad_removed | Takes the whole no_grad block away. The aligner learns, but the encoder gets gradients as well and moves; the text says that it must stay as it is.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    return aligner(features)


# %% [wrong] detached_one_step_too_late | Detaches the tokens instead of the features: everything before the tokens is cut off, the aligner too, as in the broken piece.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    tokens = nn.Sequential(encoder, aligner)(patches)
    return tokens.detach()


# %% [wrong] requires_grad_on_the_result | Leaves the aligner under no_grad and calls requires_grad_() on the tokens. They become a new leaf: the loss reaches the tokens and stops there, the aligner gets no gradient.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        features = encoder(patches)
        tokens = aligner(features)
    tokens.requires_grad_(True)
    return tokens


# %% [wrong] inference_mode | Uses torch.inference_mode for the encoder. Its result is an inference tensor, which autograd may not keep for the backward pass: the aligner raises a RuntimeError in training.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    @torch.inference_mode()
    def look(x):
        return encoder(x)

    return aligner(look(patches))


# %% [wrong] grad_switched_off_for_good | Switches gradients off with torch.set_grad_enabled(False) and never on again: the aligner is computed without gradient, and so is everything that the program does afterwards.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    torch.set_grad_enabled(False)
    features = encoder(patches).clone()
    features = features.reshape(patches.shape[0], patches.shape[1], -1)
    return aligner(features)


# %% [right] functional_call_on_detached_parameters | Runs the encoder with detached copies of its parameters (torch.func.functional_call), instead of a no_grad block.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    still = {name: one.detach() for name, one in encoder.named_parameters()}
    features = torch.func.functional_call(encoder, still, (patches,))
    return aligner(features)
