"""docs/compare.md: each cell says yes, partly, no or not found, and what it says of another program has a source."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "compare.md").read_text("utf-8")
SCALE = (ROOT / "docs" / "scale.md").read_text("utf-8")
RESULTS = ROOT / "benchmarks" / "results"
LABEL = re.compile(r"\]\[([a-z-]+)\]")
SOURCE = re.compile(r"^\[([a-z-]+)\]: https?://\S+$", re.MULTILINE)


def table(first: str) -> list[list[str]]:
    """Return the cells of the table whose first row begins with this, without head and rule."""
    lines = PAGE[PAGE.index(f"\n| {first} |") + 1 :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


ROWS = table("Isolation of submissions")


def test_each_row_has_a_cell_for_each_program() -> None:
    assert len(ROWS) == 16
    assert {len(row) for row in ROWS} == {7}


@pytest.mark.parametrize("row", ROWS[:-1], ids=lambda row: row[0])
def test_a_cell_says_yes_partly_no_or_not_found(row: list[str]) -> None:
    assert all(re.match(r"(yes|partly|no): \S|not found$", cell) for cell in row[1:]), row


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_is_said_of_another_program_has_a_source(row: list[str]) -> None:
    for cell in row[2:]:
        assert cell == "not found" or LABEL.search(cell) or "†" in cell, cell


def test_each_label_has_an_address_and_each_address_is_used() -> None:
    addresses = SOURCE.findall(PAGE)
    assert len(addresses) == len(set(addresses)) > 50
    assert set(LABEL.findall(PAGE)) == set(addresses)


def figures(benchmark: str) -> dict:
    """Return what the benchmark found, from the line of JSON in its result."""
    (found,) = runs(benchmark)
    return found


def runs(benchmark: str) -> list[dict]:
    """Return the figures of each run in a result."""
    lines = re.findall(r"^\{.*\}$", (RESULTS / f"{benchmark}.txt").read_text("utf-8"), re.MULTILINE)
    return [json.loads(line)["figures"] for line in lines]


def test_the_page_on_scale_says_what_throughput_found() -> None:
    beside, whole = {}, {}
    for run in runs("throughput"):
        (beside if "otter_s" in run else whole)[run["assignment"]] = run
    both = ("1-attention", "3-vlm")

    def row(name: str, values: Iterable[float], digits: int) -> str:
        return f"| {name} | {' | '.join(f'{value:.{digits}f}' for value in values)} |"

    for program in ("nbgrader", "otter"):
        label = {"nbgrader": "`nbgrader autograde`", "otter": "`otter run`"}[program]
        each = {name: beside[name][f"{program}_s"] / beside[name]["submissions"] for name in both}
        assert row(label, each.values(), 1) in SCALE
        ours = {name: whole[name]["grader_s"] / whole[name]["submissions"] for name in both}
        times = [(beside[name][f"vs_{program}"], each[name] / ours[name]) for name in both]
        assert f"| {label} | " + " | ".join(f"{few:.1f} | {many:.0f}" for few, many in times) + " |" in SCALE
    second = beside["2-heads"]
    seconds = (f"{second[f'{name}_s']:.{digits}f}" for name, digits in (("grader", 1), ("nbgrader", 0), ("otter", 0)))
    took = "{} submissions took {} seconds, `nbgrader autograde` {} and `otter run` {}: {:.1f} and {:.1f} times as long"
    assert took.format(second["submissions"], *seconds, second["vs_nbgrader"], second["vs_otter"]) in " ".join(
        SCALE.split()
    )
    small = [beside[name]["grader_s"] / beside[name]["submissions"] for name in both]
    assert row("this grader, `--jobs 2`", small, 2) in SCALE
    assert row("this grader, a class of 30", ours.values(), 2) in SCALE


def test_the_figures_are_those_of_the_results() -> None:
    time = next(run for run in runs("throughput") if "otter_s" in run)
    seconds = [f"{time[f'{name}_s']:.0f}" for name in ("grader", "nbgrader", "otter")]
    assert "this grader {} s, `nbgrader autograde` {} s, `otter run` {} s".format(*seconds) in PAGE
    assert f"{time['vs_nbgrader']:.1f} times this grader's time" in PAGE
    assert f"{time['vs_otter']:.1f} times" in PAGE
    alike = figures("similarity")
    assert f"{alike['found']:.1%}".replace("%", " %") in PAGE
    assert f"{alike['independent_reported']:.2%}".replace("%", " %") in PAGE
    truth, told = figures("truth"), figures("diagnosis")["all"]
    (agreed,) = re.findall(r"on ([\d,]+) of ([\d,]+) answers, and on ([\d,]+) of ([\d,]+)", PAGE)
    same, asked, others, written = (int(count.replace(",", "")) for count in agreed)
    assert (same / asked, others / written) == pytest.approx(
        (truth["self_check_agrees"], told["self_check_agrees"]), abs=5e-5
    )
    assert written == told["wrong"] + told["right"]
    assert truth["changed_with_the_secret"] == 0
    right, part = (round(told[name] * told["wrong"]) for name in ("true_cause", "part_of_it"))
    assert f"of {told['wrong']} wrong answers {right} got the true cause, {part} a part of it" in PAGE
    assert told["false"] == 0
