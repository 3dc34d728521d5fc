"""A trivial torch and matplotlib notebook: through papermill's own engine, and through ours.

Run it as `python -m benchmarks.interpreter [rounds]`. The same notebook, the same process, turn by turn.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import papermill
from nbformat.v4 import new_code_cell, new_notebook

from benchmarks import publish
from grader.records import Limits
from grader.sandbox.engine import RunPlan, session
from grader.sandbox.server import Server

CELLS = (
    "device = 'cpu'",
    "import matplotlib.pyplot as plt\nimport numpy as np\nimport torch",
    "x = torch.randn(3, 3)\ny = x @ x.T\nprint(y.shape)",
    "plt.plot([1, 2, 3])\nplt.savefig('figure.png')\nplt.close()",
)


def main(rounds: int = 5) -> None:
    kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    cells = [new_code_cell(source, id=f"c{n}") for n, source in enumerate(CELLS)]
    cells[0].metadata["tags"] = ["parameters"]
    book = new_notebook(cells=cells, metadata=kernel)
    with TemporaryDirectory() as folder, Server() as server:
        place = Path(folder)
        nbformat.write(book, place / "in.ipynb")

        def stock() -> None:
            papermill.execute_notebook(
                place / "in.ipynb", place / "out.ipynb", {"device": "cpu"}, progress_bar=False, cwd=folder
            )

        def ours() -> None:
            with session(server, RunPlan(notebook=book, parameters={"device": "cpu"})):
                pass

        def ready() -> None:
            nonlocal spawned
            spawned = server.spawn(Limits(), seed=0)

        spawned = None
        times: dict[str, list[float]] = {"stock": [], "ours": [], "ready": []}
        private = []
        ours()  # imports papermill's parts, once
        for _ in range(rounds):
            times["stock"].append(seconds(stock))
            times["ours"].append(seconds(ours))
            times["ready"].append(seconds(ready))
            for source in CELLS:
                spawned.run_cell(source, seconds=60)
            # Of all its processes, the checkpoint too; without control groups nobody counts it exactly.
            private.append((spawned.memory_bytes or math.nan) / 2**20)
            spawned.kill()
        median = {name: statistics.median(values) for name, values in times.items()}
        figures = {
            "papermill_stock_s": median["stock"],
            "engine_s": median["ours"],
            "ratio": median["stock"] / median["ours"],
            "ready_s": median["ready"],
            "child_private_mb": max(private),
            "server_start_s": server.report["ready"],
        }
        rows = [
            {"what": what, "median": value, "over the rounds": over}
            for what, value, over in (
                ("papermill, its own engine", f"{median['stock']:.2f} s", spread(times["stock"])),
                ("papermill, this engine", f"{median['ours']:.3f} s", spread(times["ours"])),
                ("times faster", f"{figures['ratio']:.1f}", ""),
                ("an interpreter ready", f"{median['ready']:.3f} s", spread(times["ready"])),
                ("private memory of one", f"{max(private):.0f} MB", f"largest of {rounds}"),
                ("the fork server's start, once", f"{server.report['ready']:.1f} s", ""),
                ("isolation", server.isolation, ""),
            )
        ]
    publish("interpreter", figures, rows)


def seconds(call: Callable[[], None]) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def spread(values: list[float]) -> str:
    return f"{min(values):.3f} to {max(values):.3f} s"


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
