"""The progress bar: what it says, that it hands on every step, and that it replaces itself."""

import attention.experiments.progress
import IPython
import IPython.display
import pytest
from attention.experiments.progress import bar, progress


class Handle:
    """What `display` returns: it keeps what was drawn."""

    def __init__(self, drawn: list[str]) -> None:
        self.drawn = drawn

    def update(self, data: dict, raw: bool) -> None:
        self.drawn.append("replaced: " + data["text/plain"])


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every drawing, with a clock that moves on by a second at each look."""
    seen: list[str] = []

    def display(data: dict, raw: bool, display_id: bool) -> Handle:
        seen.append(data["text/plain"])
        return Handle(seen)

    clock = iter(range(1000))
    monkeypatch.setattr(IPython.display, "display", display)
    monkeypatch.setattr(IPython, "get_ipython", lambda: "a notebook")
    monkeypatch.setattr(attention.experiments.progress, "perf_counter", lambda: float(next(clock)))
    return seen


def test_the_bar_says_how_far_and_how_long():
    assert bar("reader", 150, 600, 2.0) == f"reader {'█' * 7}{'░' * 23}  25 %, 2.0 s, about 6 s left"
    assert bar("reader", 600, 600, 8.0) == f"reader {'█' * 30} 100 %, 8.0 s"


def test_every_step_comes_and_one_output_is_replaced(drawn: list[str]):
    assert list(progress(range(3), "reader")) == [0, 1, 2]
    assert len(drawn) == 3
    assert not drawn[0].startswith("replaced")
    assert all(text.startswith("replaced: reader") for text in drawn[1:])
    assert "100 %" in drawn[-1]


def test_outside_a_notebook_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch, drawn: list[str]):
    monkeypatch.setattr(IPython, "get_ipython", lambda: None)
    assert list(progress(range(3), "reader")) == [0, 1, 2]
    assert drawn == []


def test_short_work_draws_nothing(monkeypatch: pytest.MonkeyPatch, drawn: list[str]):
    monkeypatch.setattr(attention.experiments.progress, "perf_counter", lambda: 0.0)
    assert list(progress(range(3), "reader")) == [0, 1, 2]
    assert list(progress((), "nothing")) == []
    assert drawn == []
