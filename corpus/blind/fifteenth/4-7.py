# %% [wrong] the_encoder_learns_too | The block without gradients is gone altogether, so the encoder learns as well. It must stay as it is: keep the encoder's line inside torch.no_grad(), and only the aligner's line outside.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches)
    tokens = aligner(features)
    return tokens


# %% [wrong] encoder_in_inference_mode | The features are made in inference mode, and such tensors may not take part in a training: the aligner's step stops with an error. torch.no_grad(), or detach(), is what is needed here.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features)
