"""Each illness is given to a model that has none, and found alone."""

import pytest
import torch
from attention.diagnostics import FINDINGS, alignment_accuracy, convergence, diagnose, gradient_reach, sharpness

from grader.course.lesson_3.diagnose import draw_patient, patient
from grader.declare.sampler import InputSampler


@pytest.mark.parametrize("illness", ["none", *FINDINGS])
def test_one_illness_is_found_alone(illness):
    inputs = draw_patient(InputSampler("diagnosis"), scenes=7, illness=illness)
    model = patient(**inputs)
    left = [parameter.grad for parameter in model.parameters()]  # by the last training step
    batch = inputs["token_ids"], inputs["prompt_lengths"], inputs["image_patches"]
    assert diagnose(model, batch) == ([] if illness == "none" else [illness])
    assert all(parameter.grad is grad for parameter, grad in zip(model.parameters(), left, strict=True))


def test_sharpness_by_hand():
    uniform, sharp = torch.full((2, 3, 4), 0.25), torch.eye(4)[[1, 1, 1]]
    assert sharpness(uniform) == pytest.approx((1.0, 0.25))
    assert sharpness(sharp) == pytest.approx((0.0, 1.0))
    assert sharpness(torch.eye(4)) == pytest.approx((0.0, 0.25))  # sharp, each on its own patch: no collapse


def test_gradients_are_told_by_the_parameters_own_names():
    layer = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 5))
    layer[0].bias.requires_grad_(False)
    reach = gradient_reach(layer, layer[0](torch.ones(3)).sum())
    assert reach == {"0.weight": pytest.approx(6**0.5), "0.bias": None, "1.weight": 0.0, "1.bias": 0.0}


def test_convergence_and_alignment_by_hand():
    before, after = {"w": torch.tensor([3.0, 4.0])}, {"w": torch.tensor([3.0, 4.5])}
    assert convergence(before, after) == {"w": pytest.approx(0.1)}
    aligned = torch.tensor([[2.0, 0.1], [0.1, 0.5], [1.0, 0.9]])
    assert alignment_accuracy(aligned, torch.eye(2), torch.tensor([0, 1, 1])) == pytest.approx(2 / 3)
