"""Lesson 3 keeps its trained model beside the notebook and takes it up again; a graded model is never one that was kept."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
import torch
from attention.experiments.recipe import MODEL, draw_start, train
from attention.training import train_step
from attention.vlm import MiniVLM

from grader.course import lessons
from grader.submission.cells import only_draws

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "3-vlm" / "3-vlm.ipynb"
CELLS = {cell.id: cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells}


def need(name: str, exercise: str) -> None:
    raise NotImplementedError(f"TODO {exercise}")


def names(**more: object) -> dict[str, object]:
    """What the cell finds after a restart, when all above the training has run."""
    return {"torch": torch, "MiniVLM": MiniVLM, "MODEL": MODEL, "device": "cpu", "need": need, **more}


def test_what_was_trained_is_there_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = MiniVLM(**MODEL)
    record = train(model, train_step, 0, steps=2, align_steps=1)
    exec(CELLS["come-back"].source, names(model=model, record=record, steps=2))
    later = names()
    exec(CELLS["come-back"].source, later)
    assert later["steps"] == 2
    assert later["record"].keys() == record.keys()
    assert torch.equal(later["record"]["losses"], record["losses"])
    assert list(later["record"]["checkpoints"]) == [0, 2]
    for name, value in model.state_dict().items():
        assert torch.equal(later["model"].state_dict()[name], value), name


def test_a_new_training_takes_the_place_of_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in (0, 1):
        model = MiniVLM(**MODEL)
        draw_start(model, seed)
        exec(CELLS["come-back"].source, names(model=model, record={}, steps=seed))
    later = names()
    exec(CELLS["come-back"].source, later)
    assert later["steps"] == 1
    assert torch.equal(later["model"].head.weight, model.head.weight)


def test_with_nothing_trained_and_nothing_kept_it_names_the_exercise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotImplementedError, match=r"TODO 3\.6"):
        exec(CELLS["come-back"].source, names())


def test_the_grader_looks_at_the_model_before_a_kept_one_can_take_its_place() -> None:
    """The trained model is probed right after the cell that trains it; the cell that loads comes later, and only shows."""
    order = list(CELLS)
    (cell,) = {check.at for check in lessons()["3-vlm"].exercise("3.8").checks if check.at}
    assert order.index(cell) < order.index("come-back")
    assert only_draws(CELLS["come-back"])
    assert "torch.load" not in "".join(CELLS[name].source for name in order[: order.index("come-back")])
