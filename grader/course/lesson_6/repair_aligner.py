"""Exercise 6.7: `image_tokens`. It replaces a function that freezes the aligner along with the encoder."""

from collections.abc import Mapping

import torch
from attention.experiments.short_trainings import ALIGNER
from attention.lab_repairs import image_tokens
from torch import Tensor, nn

from grader.course.lesson_6.short_training import training_gate
from grader.declare.authoring import CheckSpec, Value, drawn, sizes, written_exercise
from grader.declare.probes import along, as_tensor, effects_of

# Patches, weights of an encoder and an aligner, and a direction for the gradient of the tokens. The
# bias is drawn last: another order of draws would give each submission other hidden inputs than
# before.
draw_features = drawn(
    image_patches="* patches pixels",
    encoder_weight="width pixels",
    aligner_weight="d_text width",
    direction="* patches d_text",
    bias="d_text",
)


def make_parts(encoder_weight: Tensor, aligner_weight: Tensor, bias: Tensor) -> tuple[nn.Sequential, nn.Linear]:
    """Return an encoder (a linear layer without bias, then a tanh) and an aligner (a linear layer)."""
    first = nn.Linear(*encoder_weight.shape[::-1], bias=False).to(encoder_weight)
    aligner = nn.Linear(*aligner_weight.shape[::-1]).to(aligner_weight)
    first.load_state_dict({"weight": encoder_weight})
    aligner.load_state_dict({"weight": aligner_weight, "bias": bias})
    return nn.Sequential(first, nn.Tanh()), aligner


def tokens_values(
    image_tokens, image_patches: Tensor, encoder_weight: Tensor, aligner_weight: Tensor, direction: Tensor, bias: Tensor
) -> Mapping[str, Value]:
    """Return the tokens, and the gradients that encoder and aligner get from them."""
    encoder, aligner = make_parts(encoder_weight, aligner_weight, bias)
    parameters = {"encoder": encoder[0].weight, "aligner": aligner.weight}
    tokens = along(image_tokens(encoder, aligner, image_patches), direction, "the tokens")
    if tokens.requires_grad:
        (tokens * direction).sum().backward()
    return {
        "tokens": tokens.detach(),
        "tokens carry gradients": tokens.requires_grad,
        **{f"gradient of the {name}": parameter.grad for name, parameter in parameters.items()},
    }


def tokens_conduct(
    image_tokens, image_patches: Tensor, encoder_weight: Tensor, aligner_weight: Tensor, bias: Tensor
) -> Mapping[str, Value]:
    """Return whether patches and weights stay unchanged, and the gradient mode after the call."""
    encoder, aligner = make_parts(encoder_weight, aligner_weight, bias)

    def call(patches: Tensor) -> Tensor:
        return as_tensor(image_tokens(encoder=encoder, aligner=aligner, patches=patches), "the tokens")

    effects = effects_of(call, {"patches": image_patches})
    encoder.requires_grad_(False)
    return {
        **effects,
        "tokens": call(image_patches.clone()).detach(),
        "a frozen encoder stays frozen": not any(one.requires_grad for one in encoder.parameters()),
        "weights unchanged": torch.equal(encoder[0].weight, encoder_weight)
        and torch.equal(aligner.weight, aligner_weight),
        "gradients are recorded afterwards": torch.is_grad_enabled(),
    }


ALIGNER_REPAIR = written_exercise("6.7 Repair: it learns, and then no more", image_tokens, (
    CheckSpec("values", 4, "the aligner learns, the encoder does not, and the tokens are the aligned features",
        examples=[sizes(batch_shape=(2,), patches=3, pixels=4, width=3, d_text=2)],
        trials=[sizes(batch_shape=(3,), patches=7, pixels=5, width=11, d_text=2),
            sizes(batch_shape=(5,), patches=2, pixels=13, width=3, d_text=7)], probe=tokens_values),
    CheckSpec("conduct", 0, "patches, weights and the gradient mode stay as they are; float64 stays float64",
        examples=[sizes(batch_shape=(2,), patches=3, pixels=4, width=3, d_text=2)],
        trials=[sizes(batch_shape=(2,), patches=3, pixels=7, width=3, d_text=2, dtype=torch.float64)],
        probe=tokens_conduct),
),
    draw=draw_features,
    difficulty=2, minutes=8, review="Third training: it learns, and then no more",
    also=(training_gate(ALIGNER, image_tokens, "mended_aligner", "train-frozen", 2),),
    mistakes="""
    aligner_still_frozen: In your code no gradient gets to the aligner. Call it outside torch.no_grad(), and do
        not freeze it or detach its tokens: only the encoder should stay as it is.
        return aligner(features)  →  with torch.no_grad(): return aligner(features)
    inference_mode: Tensors from torch.inference_mode() can never take part in a gradient, so your aligner cannot
        learn from them. Use torch.no_grad().
        torch.no_grad()  →  torch.inference_mode()
    gradient_begins_at_the_tokens: Gradients get to the tokens, but not to the aligner. Call the aligner that is passed
        in, outside torch.no_grad(), and return its tokens as they are.
        = result.detach().requires_grad_()
    encoder_learns_too: In your code gradients get to the encoder, so it also learns. The training would reach its
        threshold, but this does not fix the fault: under torch.no_grad(), call only the encoder.
        with torch.no_grad():  →  if True:
    wrong_one_frozen: In your code the encoder learns, and the aligner is frozen. The training would reach its
        threshold, but it must be the other way round.
        + aligner.requires_grad_(False)
        with torch.no_grad():  →  if True:
    aligner_not_called: You return the features of the encoder. Return the tokens that the aligner makes of them.
        aligner(features)  →  features
    tokens_made_larger: Your code makes the tokens larger, which only hides the symptom: the aligner learns as
        little as before. Let gradients get to the aligner.
        = 10 * result.detach()
    features_normalised: Your code scales the features to length 1, so the aligner gets another input. The
        training would reach its threshold, but the task does not ask for this: use the features as they are.
        aligner(features)  →  aligner(F.normalize(features, dim=-1))
    features_averaged: Your code gives each scene one repeated token, a mean over its patches, so there is nothing
        left to choose from. Return a token for each patch.
        aligner(features)  →  aligner(features.mean(-2, keepdim=True).expand_as(features))
    gradients_off_for_good: Gradients are switched off for everything that comes later, too. Use `with
        torch.no_grad():`, which ends with its block.
        = (result, torch.set_grad_enabled(False))[0]
""")  # fmt: skip
