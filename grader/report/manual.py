"""Renders the manual: the Markdown pages of docs/, as pages for a browser."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from grader.report.page import render

OUTSIDE = re.compile(r"[a-z]+:|#")  # how a link begins that does not lead to another file
NOT_HERE = " (in the repository)"


def manual(pages: Mapping[str, str]) -> dict[str, str]:
    """Return the HTML pages of the manual, by path.

    A link between two pages becomes a link between their HTML pages. A link to any other file
    becomes plain text that says where the file is, because an installed package lacks these files.

    Args:
        pages: the text of each page by path, such as "docs/serve.md"; the first line is its title.

    Returns:
        the pages by path, such as "docs/serve.html".
    """
    titles = {_html(path): text.partition("\n")[0].lstrip("# ") for path, text in pages.items()}
    return {_html(path): _page(path, text, titles) for path, text in pages.items()}


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _html(path: str) -> str:
    return posixpath.splitext(path)[0] + ".html"


def _page(path: str, text: str, titles: Mapping[str, str]) -> str:
    """Return one page with links to all pages above it."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(text)
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", anchor(inline.content))
    for token in tokens:
        if token.children:
            token.children = list(_with_links(token.children, path, titles.keys()))
    body = markdown.renderer.render(tokens, markdown.options, {})
    body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    folder = posixpath.dirname(path)
    contents = [(posixpath.relpath(page, folder or "."), title) for page, title in titles.items()]
    return render("manual.html.j2", title=titles[_html(path)], contents=contents, body=Markup(body))


def _with_links(tokens: Iterable[Token], path: str, pages: Set[str]) -> Iterator[Token]:
    """Yield the tokens of a paragraph; links and pictures that lead to no page become text."""
    removed = False
    for token in tokens:
        if token.type == "image":
            yield Token("text", "", 0, content=token.content)
        elif token.type == "link_open" and not (removed := not _has_target(token, path, pages)):
            yield token
        elif token.type == "link_close" and removed:
            yield Token("text", "", 0, content=NOT_HERE)
        elif token.type != "link_open":
            yield token


def _has_target(link: Token, path: str, pages: Set[str]) -> bool:
    """Return True if a link leads to a page or to the web; let it lead to the HTML page."""
    address = str(link.attrGet("href"))
    if OUTSIDE.match(address):
        return True
    file, mark, part = address.partition("#")
    page = _html(posixpath.normpath(posixpath.join(posixpath.dirname(path), file)))
    if not file.endswith(".md") or page not in pages:
        return False
    link.attrSet("href", f"{_html(file)}{mark}{part}")
    return True
