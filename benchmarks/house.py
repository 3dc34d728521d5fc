"""How much there is to hold in mind: the size of `grader/`, and the path of one submission through it.

    python -m benchmarks.house

The path is that of `grader check` for the example `no-scaling`, a wrong answer in lesson 1. What runs in this process is
counted, and not what the fork server imports and runs.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks import publish
from grader.cli import main as grader
from grader.sandbox.connection import Sandbox

ROOT = Path(__file__).parent.parent
HOUSE = ROOT / "grader"
EXAMPLE = ROOT / "examples" / "submitted" / "no-scaling" / "1-attention" / "1-attention.ipynb"
WIDE = 120  # characters
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


def main() -> None:
    figures = {**size(), **walk_of_a_submission()}
    publish("house", figures, [{"what": name, "count": count} for name, count in figures.items()])


def size() -> dict[str, int]:
    """Count statements without docstrings, modules, functions and wide lines of `grader/`."""
    texts = [path.read_text("utf-8") for path in sorted(HOUSE.rglob("*.py"))]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    documented = sum(isinstance(node, DEFINITIONS) and ast.get_docstring(node) is not None for node in nodes)
    return {
        "statements": sum(isinstance(node, ast.stmt) for node in nodes) - documented,
        "modules": len(texts),
        "functions": sum(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in nodes),
        "wide_lines": sum(len(line) > WIDE for text in texts for line in text.splitlines()),
    }


class Walk:
    """Counts what one thread runs in the files of `grader/`, as a profiler of Python."""

    def __init__(self) -> None:
        self.codes, self.changes, self.parses, self.requests = set[CodeType](), 0, 0, 0
        self.records = set[type]()
        self._last = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note one call of a function."""
        if event != "call":
            return
        code = frame.f_code
        if code is ast.parse.__code__:
            self.parses += 1
        elif code is Sandbox.call.__code__:
            self.requests += 1
        if code.co_name in ("__init__", "__new__") and code.co_filename == "<string>":
            self._note_record(frame)
        if code.co_filename.startswith(str(HOUSE)):
            self.codes.add(code)
            self.changes += code.co_filename != self._last
            self._last = code.co_filename

    def _note_record(self, frame: FrameType) -> None:
        first = frame.f_locals.get("self", frame.f_locals.get("_cls"))  # no `or`: it would ask the object for its truth
        kind = first if isinstance(first, type) else type(first)
        if kind.__module__.startswith("grader.") and (is_dataclass(kind) or issubclass(kind, tuple)):
            self.records.add(kind)


@contextlib.contextmanager
def traced() -> Iterator[Walk]:
    """Count what this thread runs until the context ends."""
    walk = Walk()
    sys.setprofile(walk)
    try:
        yield walk
    finally:
        sys.setprofile(None)


def walk_of_a_submission() -> dict[str, int]:
    """Run `grader check` on the example in this process, and count files, functions, changes of file, parses and requests."""
    os.environ.setdefault("GRADER_SECRET", "house")
    sys.argv = ["grader", "check", str(EXAMPLE)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit), traced() as walk:
        grader()
    return {
        "files_entered": len({code.co_filename for code in walk.codes}),
        "functions_entered": len(walk.codes),
        "changes_of_file": walk.changes,
        "parses": walk.parses,
        "records": len(walk.records),
        "requests": walk.requests,
    }


if __name__ == "__main__":
    main()
