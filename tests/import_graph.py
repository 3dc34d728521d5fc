"""Count the import layers and cycles of grader/: `python -m tests.import_graph [root]` prints them.

All imports count, those inside functions too. A module stands one layer above the highest module that it imports. Not
counted: `grader.course` imports the lessons beside it by name, through importlib.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GUEST = "grader.sandbox.guest"  # runs as the package `guest`, and imports its modules under that name

Graph = Mapping[str, frozenset[str]]  # module → the modules of grader that it imports


def imported_names(source: str, modules: Collection[str] = ()) -> Iterator[str]:
    """Yield what a source imports: `a.b` of `import a.b`; of `from a import b` too, where `a.b` is a module; else `a`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "grader has no relative imports"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if _full(name) in modules else node.module


def module_name(file: Path, root: Path) -> str:
    """Return the dotted name of a file below a root; a package's is that of its folder."""
    return ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def read_graph(root: Path = ROOT) -> Graph:
    """Map each module of grader/ to the modules of grader that it imports; `import grader` itself does not count."""
    sources = {module_name(file, root): file.read_text("utf-8") for file in (root / "grader").rglob("*.py")}
    return {
        module: frozenset(map(_full, imported_names(source, sources))) & sources.keys() - {module, "grader"}
        for module, source in sources.items()
    }


def _full(name: str) -> str:
    return GUEST + name.removeprefix("guest") if name.partition(".")[0] == "guest" else name


def components(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components, each after those that it imports (Tarjan's algorithm)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for below in graph[module]:
            if below not in number:
                visit(below)
            if below in stack:
                lowest[module] = min(lowest[module], lowest[below])
        if lowest[module] == number[module]:
            start = stack.index(module)
            found.append(stack[start:])
            del stack[start:]

    for module in graph:
        if module not in number:
            visit(module)
    return found


def cycles(graph: Graph) -> list[list[str]]:
    """List the groups of modules that import each other, directly or not."""
    return [sorted(group) for group in components(graph) if len(group) > 1]


def layers(graph: Graph) -> dict[str, int]:
    """Return the layer of each module: 1 for one that imports nothing of grader; a cycle counts as one module."""
    layer: dict[str, int] = {}
    for group in components(graph):
        below = {name for module in group for name in graph[module]} - set(group)
        layer |= dict.fromkeys(group, 1 + max((layer[name] for name in below), default=0))
    return layer


def main() -> None:
    graph = read_graph(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
    layer = layers(graph)
    for level in range(1, max(layer.values()) + 1):
        modules = sorted(module.removeprefix("grader.") for module in layer if layer[module] == level)
        print(f"{level:3}  {', '.join(modules)}")
    print(f"{len(graph)} modules, {max(layer.values())} layers, {len(cycles(graph))} cycles")
    for group in cycles(graph):
        print(f"     cycle: {', '.join(group)}")


if __name__ == "__main__":
    main()
