"""What speed, scale and accuracy are measured with: `python -m benchmarks.NAME`."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table


def publish(name: str, figures: Mapping[str, Any], rows: Table | Iterable[Mapping[str, Any]] = ()) -> None:
    """Print a readable table, and as the last line one JSON object with the figures and the versions.

    Args:
        rows: a rich table, or one mapping for each row, from column to value; a column may be missing in a row.
    """
    console = Console(width=None if Console().is_terminal else 160)
    table = rows if isinstance(rows, Table) else _table(list(rows))
    if table.columns:
        console.print(table)
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
    }
    print(json.dumps({"benchmark": name, "figures": dict(figures), "versions": versions}), flush=True)


def measured(
    jobs: Iterable[tuple[str, int]], measure: Callable[[str, int], Mapping[str, Any]], before: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Measure every job, and print each result as a line of JSON as soon as it is there.

    Args:
        jobs: the name of what is measured, and the seed.
        before: the output of a run that broke off; a job whose line stands there is not repeated.
    """
    lines = before.read_text("utf-8").splitlines() if before else []
    done = {(run["job"], run["seed"]): run for line in lines if line.startswith('{"job"') for run in [json.loads(line)]}
    for job, seed in jobs:
        run = done.get((job, seed)) or {"job": job, "seed": seed, **measure(job, seed)}
        print(json.dumps(run), flush=True)
        yield run


def _table(rows: list[Mapping[str, Any]]) -> Table:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    table = Table(*columns, box=None)
    for row in rows:
        table.add_row(*(_say(row.get(column, "")) for column in columns))
    return table


def _say(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
