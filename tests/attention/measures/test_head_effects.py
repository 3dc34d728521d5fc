"""What is measured of one head is what happens when it is taken out."""

import pytest
import torch
from attention.experiments import recipe
from attention.measures.evaluation import held_out, looked, prompt_of
from attention.measures.head_effects import head_effects, without_head
from attention.vlm import MiniVLM


@pytest.fixture
def model() -> MiniVLM:
    model = MiniVLM(**recipe.MODEL)
    recipe.draw_start(model, 3)
    return model


def test_a_silenced_head_adds_nothing_and_the_others_stay(model):
    generator = torch.Generator().manual_seed(3)
    tokens, image = torch.randn(2, 5, 64, generator=generator), torch.randn(2, 9, 64, generator=generator)
    cross_attn = model.blocks[-1].cross_attn
    whole, weights = cross_attn(tokens, image)
    parts = [whole - without_head(model, head).blocks[-1].cross_attn(tokens, image)[0] for head in range(4)]
    assert torch.allclose(sum(parts), whole, atol=1e-5)
    value = cross_attn.W_V(image)[..., 16:32]
    assert torch.allclose(parts[1], weights[:, 1] @ value @ cross_attn.W_O.weight[:, 16:32].T, atol=1e-5)


def test_the_model_itself_stays_as_it_was(model):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    head_effects(model, "where", held_out("where", 7))
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_a_head_that_gives_the_answer_away_is_found(model):
    questions = held_out("what", 13)
    with torch.no_grad():
        model.blocks[-1].cross_attn.W_O.weight[:, :48] = 0.0  # only the last head adds anything
    effects = head_effects(model, "what", questions)
    assert [effect.length for effect in effects[:3]] == [0, 0, 0]
    assert [effect.logit for effect in effects[:3]] == [0, 0, 0]
    _, _, weights = looked(model, prompt_of("what", questions), questions.image_patches)
    cells = questions.cells[:, 0]
    assert effects[3].on_target == pytest.approx(weights[torch.arange(13), 3, -1, cells].mean().item())
    silent = without_head(model, 3)
    with torch.no_grad():
        logits, quiet = (
            one(prompt_of("what", questions), questions.image_patches)[0][:, -1] for one in (model, silent)
        )
    right = questions.token_ids[:, 6]
    expected = (logits - quiet)[torch.arange(13), right].mean().item()
    assert effects[3].logit == pytest.approx(expected, abs=1e-5)
    assert effects[3].without == (quiet.argmax(-1) == right).float().mean().item()
