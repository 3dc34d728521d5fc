"""`grader docs`: shows the manual in a browser."""

import webbrowser

from platformdirs import user_cache_path

from grader import __version__
from grader.commands.console import Terminal
from grader.commands.given_file import write_result
from grader.commands.options import DocsOptions
from grader.complaint import Complaint
from grader.paths import shipped_root
from grader.report.manual import manual


def run(options: DocsOptions, terminal: Terminal) -> None:
    """Write the manual's pages, print the address of one of them, and open it.

    Raises:
        Complaint: there is no such page.
        CannotWrite: the pages cannot be written.
    """
    root = shipped_root()
    files = sorted((root / "docs").glob("*.md"))
    if options.page not in (known := [file.stem for file in files]):
        raise Complaint(f"the manual has no page {options.page!r}; choose one of {', '.join(known)}")
    texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in (*files, root / "README.md")}
    folder = options.out or user_cache_path("attention-course") / f"manual-{__version__}"
    for path, page in manual(texts).items():
        write_result(folder / path, page)
    address = (folder / "docs" / f"{options.page}.html").resolve().as_uri()
    terminal.say(address)
    if not options.print_address:
        webbrowser.open(address)
