"""What speed, scale and accuracy are measured with: `python -m benchmarks.NAME`."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
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


def _table(rows: list[Mapping[str, Any]]) -> Table:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    table = Table(*columns, box=None)
    for row in rows:
        table.add_row(*(_say(row.get(column, "")) for column in columns))
    return table


def _say(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
