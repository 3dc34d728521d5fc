# %% [wrong] patches_detached_not_features | The patches are detached, which never had a gradient, and not what the encoder makes of them: the encoder learns along.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """patches (B, S, 64)"""
    features = encoder(patches.detach())
    return aligner(features)
