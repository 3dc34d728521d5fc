"""A small course with a page of each kind, and its site."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath

import nbformat

from grader.build.links import BADGE_CELL
from grader.build.site.pages import RunLesson
from grader.build.site.write import Site, site_of
from grader.course import lessons
from grader.submission.cells import TOOLS_CELL, answer_cell, check_cell
from tests.browser.pictures import white_png

NAME = "1-attention"
WIDGETS = "try:\n    import ipywidgets\n    print('a slider')\nexcept ImportError:\n    print('a picture')"
HINT = "<details><summary>A hint</summary>\n\nLook twice, at $\\frac{q k^\\top}{\\sqrt{d_k}}$.\n</details>"
FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()"
CAPTION = '*A line over d_k, from `1` to "2".* It rises. [Words](../../docs/glossary.md#key)'
README = """# A small course

The [lesson](notebooks/1-attention/1-attention.ipynb), the [words](docs/glossary.md#key), the
[licence](LICENSE), [elsewhere](https://example.org), and [below](#run-it).

![A picture](assets/picture.png)

## Run it

```sh
make grade   # all
```
"""
GLOSSARY = """# Glossary

| | meaning |
|---|--:|
| residual | what is added to what came in |

## Key

What a query is compared with. Back to [the start](../README.md).

#### Key

A second heading of that name. $$\\sum_i w_i v_i$$
"""
EXPLORER = "<!doctype html><html lang=en><meta charset=utf-8><title>Explorer</title><main><h1>Look</h1></main></html>"


def code(source: str, id: str, **metadata) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(source, id=id, metadata=metadata)


def notebook(answer: str) -> nbformat.NotebookNode:
    """Return a notebook with a cell of each kind."""
    text = nbformat.v4.new_markdown_cell
    cells = [
        text("[![Open in Colab](https://colab.research.google.com/badge.svg)](https://example.org)", id=BADGE_CELL),
        text("# Lesson 1", id="title"),
        code("# @title Provided: a <thing>\nx = 2", "provided-x", jupyter={"source_hidden": True}),
        code("SELF_CHECK = 'hundreds of kilobytes'", TOOLS_CELL),
        code(WIDGETS, "slider"),
        text(HINT, id="hint"),
        code(answer, answer_cell("1.1")),
        code("print('right')", check_cell("1.1")),
        code(FIGURE, "figure"),
        text(CAPTION, id="caption"),
    ]
    return nbformat.v4.new_notebook(cells=cells)


def with_outputs(book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the notebook with outputs that no run made."""
    for cell in book.cells:
        if cell.id == "slider":
            cell.outputs = [nbformat.v4.new_output("stream", text="\x1b[31ma < picture\x1b[0m\n" + "0.791 " * 40)]
        if cell.id == "figure":
            metadata = {"image/png": {"alt": 'A line "over" d_k'}}
            widths = ((1030, metadata), (500, metadata), (200, {}))
            cell.outputs = [
                nbformat.v4.new_output("display_data", {"image/png": white_png(width, 200)}, metadata=of_picture)
                for width, of_picture in widths
            ]
    return book


def small_site(root: Path, solved: bool = False, setting: str = "") -> Site:
    """Write a small course into a folder, and return its site.

    Args:
        setting: the text of its pyproject.toml; "" for a course that is not on GitHub.
    """
    book = with_outputs(notebook("raise NotImplementedError"))
    files = {"README.md": README, "docs/glossary.md": GLOSSARY, "docs/more.md": "# More\n\nText.", "LICENSE": "MIT"}
    files |= {"assets/explorer.html": EXPLORER, f"notebooks/{NAME}/{NAME}.ipynb": nbformat.writes(book)}
    files |= {"pyproject.toml": setting} if setting else {}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    (root / "assets" / "picture.png").write_bytes(b"")
    solution = with_outputs(notebook("the_answer = 42")) if solved else None
    return site_of(root, [RunLesson(lessons()[NAME], book, solution)])


class References(HTMLParser):
    """What a page refers to, and its anchors."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []  # what a browser requests without a click
        self.anchors: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "a" and "href" in given:
            self.links.append(given["href"] or "")
        self.loaded += [value or "" for name, value in attributes if name in ("src", "srcset", "data", "poster")]
        self.loaded += [given["href"] or ""] if tag == "link" else []
        self.anchors |= {value for name, value in attributes if name == "id" and value}


def dead_links(folder: Path) -> list[str]:
    """Return the links and the files that pages of a site name, and that are not there."""
    pages = {
        path.relative_to(folder).as_posix(): References(path.read_text("utf-8")) for path in folder.rglob("*.html")
    }
    dead = []
    for page, references in pages.items():
        for address in [*references.links, *references.loaded]:
            if re.match(r"https?:|mailto:|data:", address):
                continue
            path, _, anchor = address.partition("#")
            target = normpath(join(dirname(page), path)) if path else page
            if not (folder / target).is_file() or (anchor and anchor not in pages[target].anchors):
                dead.append(f"{page}: {address}")
    return dead


def requested_elsewhere(folder: Path) -> list[str]:
    """Return what the files of a site load from another server."""
    found = [
        f"{path.name}: {address}"
        for path in folder.rglob("*.html")
        for address in References(path.read_text("utf-8")).loaded
        if re.match(r"(https?:)?//", address)
    ]
    for path in [*folder.rglob("*.css"), *folder.rglob("*.html")]:
        found += [
            f"{path.name}: {url}"
            for url in re.findall(r"(?:url\(|@import )['\"]?((?:https?:)?//[^)'\"]*)", path.read_text("utf-8"))
        ]
    return found
