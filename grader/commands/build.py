"""`grader build`: make the notebooks, or say which are out of date."""

from grader.build import build
from grader.commands.console import Terminal
from grader.commands.options import BuildOptions


def run(options: BuildOptions, terminal: Terminal) -> int:
    """Make the notebooks; with --check only compare, and return 1 if one is out of date."""
    if options.check:
        lines = build.drift(options.root)
        for line in lines:
            terminal.note(line)
        return 1 if lines else 0
    for path in build.build(options.root):
        terminal.say(f"wrote {path.relative_to(options.root)}")
    return 0
