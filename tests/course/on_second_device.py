"""Every right answer, every probe and every notebook on a device that is not the CPU: nothing mixes the two."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import signature

import matplotlib
import nbformat
import pytest
import torch
from matplotlib import pyplot as plt

from corpus import judging
from corpus.answers import answers
from corpus.planning import plan
from grader.course import lessons
from grader.declare.exercise import Check
from grader.declare.lesson import Lesson
from grader.judge.planned_trial import PlannedTrial, plan_exercise
from grader.judge.reference_results import ReferenceResults, run_here
from grader.judge.verdicts import judge
from grader.records import Evidence, Outcome, Status
from grader.sandbox.engine import gpu_trouble
from tests import second_device
from tests.few_steps import FEW_BY_DEFAULT, FEW_STEPS

pytestmark = pytest.mark.skipif(not second_device.available(), reason="this PyTorch cannot be given a device in Python")
EXERCISES = [(lesson, exercise) for lesson in lessons().values() for exercise in lesson.exercises]
IDS = [exercise.id for _, exercise in EXERCISES]
# Right answers that make something on the CPU and mix it in. A GPU refuses them, so the CPU decides: see execution.gpu_trouble.
MIXING = {
    "2.2": {"scikit-learn", "numpy", "column of ones"},
    "2.6": {"einsum"},
    "4.1": {"gather"},
    "4.5": {"complex numbers", "rotate every two", "matrices", "empty_like"},
    "4.6": {"without rotate"},
    "4.7": {"index"},
    "4.4": {"in place"},
    "4.8": {"explicit softmax", "no mask for one"},
}

# This lab computes on the CPU: a GPU may keep only ten bits of a number in a convolution.
ON_THE_CPU = {"5-real"}


@pytest.fixture(scope="module")
def device() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(torch, "tensor", second_device.carried(torch.tensor))
        patched.setattr(torch, "as_tensor", second_device.carried(torch.as_tensor))
        yield second_device.register()


def evidence_there(planned: Sequence[PlannedTrial], names: Mapping[str, object], device: str) -> Iterator[Evidence]:
    """As the sandbox does it: inputs moved to the device, what comes back moved to the CPU."""
    for one in planned:
        inputs = second_device.moved(one.inputs, device)
        got = run_here(one.check, names, inputs, one.key)
        values = second_device.moved(got.values, "cpu")
        yield Evidence(key=one.key, status=got.status, values=values, error=got.error, message=got.message)


def needs_training(lesson: Lesson, check: Check) -> bool:
    """Whether it asks for something that only the notebook's training cell makes."""
    names = {check.names.get(name, name) for name in signature(check.probe).parameters}
    return check.at is not None or any(lesson.reference[name] is None for name in names & lesson.reference.keys())


@pytest.mark.fast_cases("1.4", "4.1", "3.6")
@pytest.mark.parametrize(("lesson", "exercise"), EXERCISES, ids=IDS)
def test_right_answers_pass_there_too(lesson, exercise, device):
    sources = {"the solution": judging.solutions(lesson.assignment)[exercise.id]}
    sources |= {one.name: one.source for one in answers("variants") if one.exercise == exercise.id}
    namespaces = {"the reference": dict(lesson.reference)}
    for name, source in sources.items():
        namespaces[name] = {"math": math, **judging.notebook_names(lesson.assignment)}
        exec(compile(source, name, "exec"), namespaces[name])
    checks = tuple(check for check in exercise.checks if not needs_training(lesson, check))
    part = replace(exercise, checks=checks, points=sum(check.points for check in checks))
    planned = plan_exercise(part, "devices", exercise.id)
    reference_results, mixing = ReferenceResults(lesson.reference), set()
    for name, names in namespaces.items():
        came_back = {got.key: got for got in evidence_there(planned, names, device)}
        found = judge(part, planned, came_back, reference_results)
        if gpu_trouble({}, came_back):
            mixing.add(name)
        else:
            assert found.outcome is Outcome.PASSED, f"{name}: {found.message}"
    assert mixing == MIXING.get(exercise.id, set())


# matplotlib hands NumPy a tensor of the CPU, whose way of answering NumPy 2 finds old: not a matter of devices.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.fast_cases("1-attention")
@pytest.mark.parametrize("assignment", lessons())
def test_a_whole_notebook_runs_there(assignment, device, monkeypatch, tmp_path):
    """Two steps of training, every figure drawn, and after each cell the probes that stand there."""
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)  # where lesson 3 writes its explorer
    monkeypatch.setattr(plt, "show", lambda *_, **__: plt.close("all"))
    path = judging.ROOT.resolve() / "solutions" / assignment / f"{assignment}.ipynb"
    names: dict[str, object] = {"__name__": "__main__"}
    lesson = lessons()[assignment]
    probes = [one for one in plan(lesson, "devices", assignment) if needs_training(lesson, one.check)]
    asked = 0
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        exec(compile(cell.source, cell.id, "exec"), names)
        if cell.id == "setup":
            names |= {"device": device, "train_steps": 2}
        names |= {name: few for name, few in FEW_STEPS.items() if name in names}
        for name in FEW_BY_DEFAULT.keys() & names.keys():
            names[name].__defaults__ = (FEW_BY_DEFAULT[name],)
        for got in evidence_there([one for one in probes if one.cell == cell.id], names, device):
            assert got.status is Status.OK, f"{got.key}: {got.error}: {got.message}"
            asked += 1
    plt.close("all")
    assert asked == len(probes)
    moves = any(isinstance(value, torch.nn.Module) and _is_there(value) for value in names.values())
    assert moves is (assignment not in ON_THE_CPU)


def _is_there(module: torch.nn.Module) -> bool:
    return any(parameter.device.type == second_device.NAME for parameter in module.parameters())


def test_mixing_is_refused_there(device):
    """The device itself: what it is here for."""
    there = torch.arange(3.0).to(device)
    assert (there + 1).cpu().tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(RuntimeError, match="same device"):
        there + torch.ones(3)
    with pytest.raises(RuntimeError, match="same device"):
        torch.ones(3) @ there
    with pytest.raises(TypeError, match="numpy"):
        there.numpy()
    weight = torch.ones(3, device=device, requires_grad=True)
    (weight * there).sum().backward()
    assert weight.grad.device.type == device
    assert weight.grad.tolist() == [0.0, 1.0, 2.0]
