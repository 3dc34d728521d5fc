"""Renders the manual, the Markdown pages of docs/, as HTML pages."""

import posixpath
import re
from collections.abc import Mapping, Set
from functools import partial

from markupsafe import Markup

from grader.report.page import render
from grader.report.render_markdown import PageRenderer

OUTSIDE = re.compile(r"[a-z]+:")  # how the address of a link to the web begins
NOT_HERE = " (in the repository)"


def manual(pages: Mapping[str, str]) -> dict[str, str]:
    """Return the HTML pages of the manual, by path.

    A link between two pages becomes a link between their HTML pages. A link to any other file
    becomes plain text with a note that the file is in the repository, because an installed package
    lacks such files.

    Args:
        pages: the text of each page by path, such as "docs/serve.md"; the first line is its title.

    Returns:
        the pages by path, such as "docs/serve.html".
    """
    titles = {_html(path): text.partition("\n")[0].lstrip("# ") for path, text in pages.items()}
    return {_html(path): _page(path, text, titles) for path, text in pages.items()}


def _html(path: str) -> str:
    return posixpath.splitext(path)[0] + ".html"


def _page(path: str, text: str, titles: Mapping[str, str]) -> str:
    """Return one page as HTML, with links to all pages of the manual at its top."""
    body = PageRenderer(partial(_target, path, titles.keys()), NOT_HERE).html(text)
    folder = posixpath.dirname(path)
    contents = [(posixpath.relpath(page, folder or "."), title) for page, title in titles.items()]
    return render("manual.html.j2", title=titles[_html(path)], contents=contents, body=Markup(body))


def _target(path: str, pages: Set[str], address: str) -> str | None:
    """Return the address for a link on a page: an HTML page of the manual, or an address on the web.

    Return None if the link leads to any other file.
    """
    if OUTSIDE.match(address):
        return address
    file, mark, part = address.partition("#")
    page = _html(posixpath.normpath(posixpath.join(posixpath.dirname(path), file)))
    return f"{_html(file)}{mark}{part}" if file.endswith(".md") and page in pages else None
