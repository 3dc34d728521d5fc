"""Record what a reader of a lesson sees: python -m benchmarks.reader [--assignment 6-explain] (minutes; seed 0, CPU).

The solution notebook is run as `benchmarks.lesson` runs it. The line of JSON that comes out has the kernels of this processor, and
what each cell printed. Append one with `ATEN_CPU_CAPABILITY=default` and one without it to results/reader.txt:
the numbers that a lesson's text says are compared with both.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import torch

from benchmarks.lesson import LIMITS, run
from grader.paths import course_root


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assignment", choices=list(LIMITS), default="6-explain")
    name = parser.parse_args().assignment
    with TemporaryDirectory() as folder:
        output = Path(folder, "out.ipynb")
        run(course_root() / "solutions" / name / f"{name}.ipynb", output)
        seen = printed(nbformat.read(output, as_version=4))
    print(json.dumps({"kernels": torch.backends.cpu.get_cpu_capability(), "assignment": name, "printed": seen}))


def printed(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """What each cell printed, by id; without bars of progress, and without the self-checks."""
    texts = {
        cell.id: "".join(output.text for output in cell.outputs if output.output_type == "stream")
        for cell in notebook.cells
        if cell.cell_type == "code" and not cell.id.startswith("check-")
    }
    lines = {name: [line for line in text.splitlines() if "█" not in line] for name, text in texts.items()}
    return {name: "\n".join(kept) for name, kept in lines.items() if kept}


if __name__ == "__main__":
    main()
