"""Exercise 6.4: `patch_head`, which runs a model on one scene with the output of one head from another scene."""

from collections.abc import Mapping

import torch
from attention.activation_patching import patch_head
from attention.open_vlm import OpenVLM
from torch import Tensor

from grader.course.common.model_state import modes, what_learns
from grader.course.lesson_6.own_model import OWN_PATCHING
from grader.declare.authoring import (
    CheckSpec,
    Draw,
    Value,
    chosen,
    drawn,
    edits,
    given,
    integers,
    sizes,
    weights_of,
    written_exercise,
)
from grader.declare.probes import load, side_effects

# A model of two blocks, a prompt for each scene, and two scenes for each.
TWIN_SIZES: dict[str, str | Draw] = dict(
    d_vision="3",
    d_model=lambda _, sizes: sizes["heads"] * sizes.get("d_head", 2),
    num_heads="heads",
    d_ff="5",
    num_layers="2",
    vocab_size="7",
    max_tokens=lambda _, sizes: sizes["tokens"] + 1,
    num_patches="patches",
)
draw_twins = drawn(
    sizes=chosen(TWIN_SIZES),
    weights=weights_of(OpenVLM, TWIN_SIZES),
    head=given("head"),
    token_ids=integers(0, 7, "scenes tokens"),
    clean="scenes patches 3",
    twin="scenes patches 3",
)


def patched_values(
    patch_head, OpenVLM, sizes: Mapping, weights: Mapping, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor
) -> Mapping[str, Value]:
    """Return the student's logits for a model with our weights."""
    model = load(OpenVLM(**sizes), weights).eval()
    logits = patch_head(model, head, token_ids, clean, twin)
    return {"logits": logits.detach() if isinstance(logits, Tensor) else logits}


def patched_purity(
    patch_head, OpenVLM, sizes: Mapping, weights: Mapping, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor
) -> Mapping[str, Value]:
    """Return the logits, and whether the model, its answers, its modes and the inputs stay unchanged."""
    model = load(OpenVLM(**sizes), weights)
    model.blocks[0].eval()  # a part that somebody put into evaluation mode; it has to stay so
    mode, learns = modes(model), what_learns(model)
    with torch.no_grad():
        before, _ = model(token_ids, twin)
    inputs = {"token_ids": token_ids, "clean": clean, "twin": twin}
    given = {name: tensor.clone() for name, tensor in inputs.items()}
    logits = patch_head(model=model, head=head, **given)
    with torch.no_grad():
        after, _ = model(token_ids, twin)
    state = model.state_dict()
    return {
        "logits": logits.detach() if isinstance(logits, Tensor) else logits,
        "the model answers as before": torch.allclose(before, after, atol=1e-6),
        "its weights are as before": all(torch.equal(state[name], value) for name, value in weights.items()),
        "every part's mode is as before": modes(model) == mode,
        "what learns is as before": what_learns(model) == learns,
        **side_effects(inputs, given),
    }


def _values(model: OpenVLM, image_patches: Tensor) -> Tensor:
    """Return the values of each head of the last cross-attention, with the shape (B, H, S, d_head)."""
    layer = model.blocks[-1].cross_attn
    image_tokens = model.image_norm(model.image_positions(model.aligner(image_patches)))
    return layer.W_V(image_tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)


PATCH_HEAD = written_exercise("6.4 Which head carries the answer?", patch_head, (
    CheckSpec("values", 6, "one head answers for the clean scene, all others for the twin",
        examples=[sizes(scenes=2, tokens=3, patches=3, heads=3, head=1)],
        trials=[sizes(scenes=3, tokens=5, patches=7, heads=3, head=1),
            sizes(scenes=2, tokens=3, patches=5, heads=3, head=2, d_head=3),
            sizes(scenes=1, tokens=4, patches=3, heads=2, head=0, d_head=3)]),
    CheckSpec("conduct", 2, "afterwards the model answers as before; inputs, weights and modes stay as they are",
        examples=[sizes(scenes=2, tokens=2, patches=3, heads=2, head=0)],
        trials=[sizes(scenes=3, tokens=5, patches=7, heads=2, head=1, d_head=3, dtype=torch.float64)],
        probe=patched_purity),
    CheckSpec("own model", 2, "a head of your trained model, for scenes that you have not seen",
        trials=[sizes(scenes=20, task="where", head=1)], **OWN_PATCHING),
),
    draw=draw_twins, probe=patched_values,
    difficulty=2, minutes=12, review="Which head carries the answer?",
    mistakes=edits(patch_head, """
    twin_into_clean: Your code runs the clean scene, and puts in the head's output for the twin. It must be the
        other way round: run the twin, and put in this head's output for the clean scene.
        + clean, twin = twin, clean
    nothing_put_in: You return the logits of the twin without a change. Let `edit` replace the output of this head
        by its output for the clean scene, and pass `edit` to the run.
        + return model(token_ids, twin)[0]
    all_heads: You return the logits of the clean scene, in which nothing of the twin is left. Run the twin, and
        put in only one head.
        + return model(token_ids, clean)[0]
    only_taken_out: Your code removes the head, but puts nothing in. Put in the head's output for the clean scene.
        heads[:, head] = taken  →  heads[:, head] = 0.0
    added_on_top: Your code adds the clean output to the twin's. Replace the head's output for the twin by the
        clean one.
        heads[:, head] = taken  →  heads[:, head] += taken
    half_and_half: Your code averages the outputs for the clean scene and the twin. Replace the head's output for
        the twin by the clean one.
        heads[:, head] = taken  →  heads[:, head] = (heads[:, head] + taken) / 2
    weights_alone_put_in: In your code only the head's weights are from the clean scene. Take its values from the
        clean scene, too: the head's output is made of both.
        model.inside(token_ids, clean).heads[:, head]
            →  (model.inside(token_ids, clean).cross_map @ values_of(model, twin))[:, head]
    values_alone_put_in: In your code only the head's values are from the clean scene. Take its weights from the
        clean scene, too: the head's output is made of both.
        model.inside(token_ids, clean).heads[:, head]
            →  (model.inside(token_ids, twin).cross_map @ values_of(model, clean))[:, head]
    scene_put_in: Your code exchanges all heads of one scene, because the first axis counts scenes. Heads are the
        second axis.
        model.inside(token_ids, clean).heads[:, head]  →  model.inside(token_ids, clean).heads[head]
        heads[:, head] = taken  →  heads[head] = taken
    first_scene_alone: The head is exchanged only in the first scene. Exchange it in all scenes: `heads[:, head]`.
        heads[:, head] = taken  →  heads[0, head] = taken[0]
    head_before: Your code exchanges the head before the one that the task asks for. Heads are numbered from 0.
        + head = (head - 1) % model.blocks[-1].cross_attn.num_heads
    last_word_alone: The head is exchanged only at the last word. Exchange its output at all words.
        heads[:, head] = taken  →  heads[:, head, -1] = taken[:, -1]
    exchanges_a_word: Your code exchanges a word, in all heads. The heads are the second axis of (B, H, T,
        d_head).
        heads[:, head] = taken  →  heads[:, :, head] = model.inside(token_ids, clean).heads[:, :, head]
    last_logits: Only the logits of the last word are returned. Return the logits of all words, (B, T, vocab_size).
        = result[:, -1]
    changes_the_model: The model is changed for good, so it gives other answers afterwards. Change only the outputs of
        its heads, with `edit`.
        + layer = model.blocks[-1].cross_attn
        = (result, layer.W_O.weight.data.unflatten(1, (layer.num_heads, -1))[:, head].zero_())[0]
""", values_of=_values))  # fmt: skip
