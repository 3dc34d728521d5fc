# %% [wrong] patches_detached | The patches are detached, which are data and have no gradient anyway. The encoder is computed with gradients, so it learns along with the aligner; it must stay as it is.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    features = encoder(patches.detach())
    return aligner(features)

# %% [wrong] eval_taken_for_frozen | encoder.eval() is meant to keep the encoder as it is. It only switches off dropout and the like; gradients still reach the encoder, and it learns.
def image_tokens(encoder, aligner, patches):
    encoder.eval()  # the encoder was trained before
    return aligner(encoder(patches))

# %% [wrong] inference_mode | The encoder runs inside torch.inference_mode(). Its result may not be used where gradients are wanted, so training stops with an error in the aligner: inference tensors cannot be saved for backward.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features)

# %% [wrong] detached_one_step_too_late | The block is gone, but the detach stands behind the aligner. So neither encoder nor aligner gets a gradient, as before; only the features of the encoder should be detached.
def image_tokens(encoder, aligner, patches):
    """Patches through an encoder that stays as it is, and an aligner that learns."""
    tokens = aligner(encoder(patches))
    return tokens.detach()

# %% [wrong] aligner_without_its_bias | The encoder is detached as it should be, and then the aligner's matrix is used by hand, without its bias. The bias is left out and never learns, and an aligner that is no single Linear would not work at all.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    with torch.no_grad():
        features = encoder(patches)
    return features @ aligner.weight.T

# %% [right] a_decorated_helper | The part without gradients is a small function under the decorator torch.no_grad(), and the aligner is called outside of it.
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    @torch.no_grad()
    def as_trained_before() -> Tensor:
        return encoder(patches)

    return aligner(as_trained_before())
