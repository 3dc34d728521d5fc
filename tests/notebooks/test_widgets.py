"""The cells with something to turn: with ipywidgets they answer, without it they show a figure all the same."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import nbformat
import pytest
import torch

matplotlib.use("Agg")
import ipywidgets
import matplotlib.pyplot as plt
from attention.data import tokens
from attention.data.digits import to_images
from attention.dot_product import attention_scores, scaled_scores
from attention.experiments.reader import draw_reading, train_reader
from attention.experiments.recipe import MODEL
from attention.grounding import value_weighted_map
from attention.measures import evaluation
from attention.plots import head_plots, map_plots, vlm_plots
from attention.vlm import MiniVLM

ROOT = Path(__file__).resolve().parents[2]


def lesson_1() -> dict[str, Any]:
    return {
        **vars(map_plots),
        "attention_scores": attention_scores,
        "scaled_scores": scaled_scores,
        "widths": [2, 8, 32, 128, 512],
    }


def lesson_2() -> dict[str, Any]:
    unseen, cells, _ = draw_reading(21, torch.Generator().manual_seed(0), "test")
    readers = {heads: train_reader(heads, 0, 0, "cpu") for heads in (1, 2, 4)}
    given = {"readers": readers, "reader": readers[4], "unseen": unseen, "cells": cells}
    return {**vars(head_plots), **given, "to_images": to_images}


def lesson_3() -> dict[str, Any]:
    held = {task: evaluation.held_out(task, 50) for task in tokens.TASKS}
    models = {"model": MiniVLM(**MODEL), "untrained": MiniVLM(**MODEL)}
    own = {"grounding": {}, "held": held, "misled": 0, "value_weighted_map": value_weighted_map, **models}
    return {**vars(vlm_plots), **vars(tokens), **vars(evaluation), **own}


# The cell, the names that it finds in the notebook, and a knob with another position of it.
CELLS = [
    pytest.param("1-attention", "scale-slider", lesson_1, {"d_k": 2}, id="scaling"),
    pytest.param("2-heads", "pick-reader", lesson_2, {"heads": 4}, id="reader"),
    pytest.param("3-vlm", "pick-map", lesson_3, {"head": "head 3"}, id="head"),
    pytest.param("3-vlm", "pick-map", lesson_3, {"layer": "block 1, words", "word": 2}, id="layer and word"),
    pytest.param("3-vlm", "pick-map", lesson_3, {"question": "read", "scene": 49}, id="question"),
]


def run(notebook: str, cell: str, names: dict[str, Any]) -> None:
    """Run one cell of the solution notebook among these names."""
    book = nbformat.read(ROOT / "solutions" / notebook / f"{notebook}.ipynb", as_version=4)
    (one,) = (found for found in book.cells if found.id == cell)
    assert "draws" in one.metadata.tags  # nothing that grading runs
    with contextlib.redirect_stdout(io.StringIO()):
        exec(one.source, {**names, "torch": torch, "need": lambda *_: None})


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """The pictures that were shown."""
    pictures: list[bytes] = []

    def show() -> None:
        figure = plt.gcf()
        figure.canvas.draw()
        pictures.append(bytes(figure.canvas.buffer_rgba()))
        plt.close(figure)

    monkeypatch.setattr(plt, "show", show)
    yield pictures


@pytest.mark.parametrize(("notebook", "cell", "names", "turn"), CELLS)
def test_a_turned_knob_draws_another_picture(
    notebook: str,
    cell: str,
    names: Callable[[], dict[str, Any]],
    turn: dict[str, Any],
    shown: list[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []
    interact = ipywidgets.interact

    def listen(*arguments: Any, **knobs: Any) -> Any:
        made.append(interact(*arguments, **knobs))
        return made[-1]

    monkeypatch.setattr(ipywidgets, "interact", listen)
    run(notebook, cell, names())
    assert len(shown) == 1
    knobs = {knob.description: knob for knob in made[0].widget.children if hasattr(knob, "description")}
    for name, value in turn.items():
        with contextlib.redirect_stdout(io.StringIO()):
            knobs[name].value = value
    assert len(shown) == 1 + len(turn)
    assert len(set(shown)) == 1 + len(turn)


@pytest.mark.parametrize(("notebook", "cell", "names"), [one.values[:3] for one in CELLS[:3]])
def test_without_ipywidgets_the_same_figure_stands_there(
    notebook: str, cell: str, names: Callable[[], dict[str, Any]], shown: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = names()
    run(notebook, cell, given)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    run(notebook, cell, given)
    assert len(shown) == 2
    assert shown[0] == shown[1]
