import pytest
import torch

from grader.declare.public_numbers import draw_numbers
from grader.declare.sampler import InputSampler, PublicSampler

NORMAL = [0.3971485517634204, 1.4385832148523658, -0.3638744433804999]
UNIFORM = [0.4081360697746277, 0.4400295317173004]
INTEGERS = [7, 8, 5, 4, 3]


def test_a_key_draws_the_same_numbers_everywhere() -> None:
    # Computed once; a machine where these differ cannot draw the inputs of the self-checks.
    assert draw_numbers("normal", "key", (3,), 1.0, 0, "float64").tolist() == NORMAL
    assert draw_numbers("uniform", "key", (2,), 0, 0, "float32").tolist() == UNIFORM
    assert draw_numbers("integers", "key", (5,), 3, 11, "int64").tolist() == INTEGERS


def test_normal_numbers_have_mean_0_and_the_standard_deviation_that_is_asked_for() -> None:
    drawn = draw_numbers("normal", "many", (40_000,), 3.0, 0, "float64")
    assert abs(drawn.mean().item()) < 0.05
    assert drawn.std().item() == pytest.approx(3, rel=0.02)
    assert drawn.unique().numel() > 30_000


def test_uniform_numbers_and_integers_stay_within_their_bounds() -> None:
    uniform = draw_numbers("uniform", "u", (10_000,), 0, 0, "float64")
    assert 0 <= uniform.min() < 0.01 < 0.99 < uniform.max() < 1
    assert set(draw_numbers("integers", "i", (1000,), -2, 3, "int64").tolist()) == {-2, -1, 0, 1, 2}


def test_the_sampler_tells_how_each_tensor_is_drawn_again() -> None:
    sampler = PublicSampler("1.4", "values")
    drawn = [sampler.normal(2, 3), sampler.integers(0, 5), sampler.uniform(4, dtype=torch.float64)]
    assert len(sampler.drawn) == 3
    for tensor, (_, recipe) in zip(drawn, sampler.drawn, strict=True):
        again = draw_numbers(*recipe)
        assert again.dtype == tensor.dtype
        assert torch.equal(again, tensor)
    assert not torch.equal(sampler.normal(2, 3), drawn[0])


def test_the_public_sampler_draws_what_the_secret_one_draws() -> None:
    public, secret = PublicSampler("a"), InputSampler("a")
    for sampler in (public, secret):
        mask = sampler.mask(5, 7)
        assert mask.any(-1).all()
        assert not mask.all(-1).any()
        assert sorted(sampler.permutation(6).tolist()) == [0, 1, 2, 3, 4, 5]
        assert sampler.normal(2, scale=2.0, dtype=torch.float64).dtype == torch.float64
    assert not torch.equal(public.normal(9), secret.normal(9))
