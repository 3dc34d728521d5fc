"""The recipe: what it draws, what it keeps, and what it asks for."""

import pytest
import torch
from attention.data.tokens import NOWHERE
from attention.experiments import recipe
from attention.experiments.image_summary import ImageSummary
from attention.training import train_step
from attention.vlm import MiniVLM


@pytest.fixture(scope="module")
def run():
    model, bars = MiniVLM(**recipe.MODEL), []

    def progress(steps, title):
        bars.append((title, len(steps)))
        return steps

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, "CHECKPOINT_EVERY", 2)
        record = recipe.train(model, train_step, 3, steps=5, align_steps=2, progress=progress)
    return model, record, bars


def test_every_step_is_shown(run):
    assert run[2] == [("stage 1: align", 2), ("stage 2: answer", 5)]


def test_checkpoints_hold_the_weights_of_their_step(run):
    model, record, _ = run
    assert list(record["checkpoints"]) == [0, 2, 4, 5]
    alone = MiniVLM(**recipe.MODEL)
    recipe.train(alone, train_step, 3, steps=0, align_steps=2)
    assert torch.equal(recipe.at_checkpoint(model, record, 0).head.weight, alone.head.weight)
    assert torch.equal(recipe.at_checkpoint(model, record, 5).head.weight, model.head.weight)
    assert not torch.equal(recipe.at_checkpoint(model, record, 4).head.weight, model.head.weight)


def test_training_never_asks_for_nowhere_and_the_way_out_does():
    for step in range(0, recipe.STEPS, 50):
        assert NOWHERE not in recipe.training_questions(step, 0).token_ids
    questions = [recipe.nowhere_questions(step, 0) for step in range(20)]
    answered = torch.cat([drawn.token_ids[:, 6] for drawn in questions])
    assert 0.2 < (answered == NOWHERE).float().mean() < 0.3  # half of the "where" questions, which are one half
    assert all((drawn.labels < 10).all() for drawn in questions)


def test_the_way_out_changes_the_model_in_place_and_repeats_itself(run):
    state = {name: value.clone() for name, value in run[0].state_dict().items()}
    losses = []
    for _ in range(2):
        model = MiniVLM(**recipe.MODEL)
        model.load_state_dict(state)
        losses.append(recipe.teach_nowhere(model, train_step, 3, steps=3))
        assert not torch.equal(model.head.weight, state["head.weight"])
    assert torch.equal(*losses)


def test_parts_inside_a_norm_are_drawn_as_parts():
    model = MiniVLM(**recipe.MODEL)
    model.image_norm = ImageSummary(4, 64, 4)
    recipe.draw_start(model, 0)
    assert model.image_norm.look.W_Q.weight.std().item() == pytest.approx(1 / 8 / 3**0.5, rel=0.05)
    assert model.image_norm.query_embedding.weight.std().item() == pytest.approx(1, rel=0.2)
    assert (model.image_norm.norm_after.weight == 1).all()
    assert (model.image_norm.norm_after.bias == 0).all()


def test_a_summary_says_the_same_of_shuffled_tokens():
    summary = ImageSummary(4, 64, 4)
    tokens = torch.randn(3, 9, 64, generator=torch.Generator().manual_seed(0))
    assert summary(tokens).shape == (3, 4, 64)
    assert torch.allclose(summary(tokens), summary(tokens[:, torch.randperm(9)]), atol=1e-5)
