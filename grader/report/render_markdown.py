"""Renders Markdown as HTML that needs no other server. Formulas become MathML, and code is coloured."""

import re
from collections.abc import Callable
from html import escape, unescape

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

# From a link's address to that of the page which is written; None if it leads to no page.
Resolve = Callable[[str], str | None]
TAG = re.compile(r"<[^>]+>")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def anchor(heading: str) -> str:
    """Return the anchor of a heading in GitHub's form: "set-up" for "Set up!"."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def code_html(code: str, language: str) -> str:
    """Return code as an HTML block that can be scrolled with the keyboard.

    The code is coloured if its language is known.
    """
    try:
        text = highlight(code, get_lexer_by_name(language, stripnl=False), HtmlFormatter(nowrap=True))
    except ClassNotFound:
        text = escape(code)
    return f'<pre class="code" tabindex="0"><code>{text.rstrip()}</code></pre>\n'


class PageRenderer(IPythonRenderer):
    """Renders the texts of one page.

    No two headings get the same anchor. No heading is more than one level below the heading before
    it, because people who jump from heading to heading would look for the missing level.
    """

    def __init__(self, resolve: Resolve, missing: str = "") -> None:
        """Make a renderer for one page.

        Args:
            resolve: returns the address for a link, or None if the link leads to no page.
            missing: text to add after the text of a link that leads to no page.
        """
        super().__init__(escape=False, exclude_anchor_links=True)
        self._resolve, self._missing = resolve, missing
        self._anchors: dict[str, int] = {}  # how often each occurs
        self._level = 0  # of the last heading

    def html(self, text: str) -> str:
        """Return a Markdown text as HTML."""
        return MarkdownWithMath(renderer=self).render(COMMENT.sub("", text))

    def heading(self, text: str, level: int, **_: object) -> str:
        name = anchor(unescape(TAG.sub("", text)))
        count = self._anchors.get(name, 0)
        self._anchors[name] = count + 1
        self._level = level = min(level, self._level + 1)
        return f'<h{level} id="{name}{f"-{count}" if count else ""}">{text}</h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Return a link, or only its text if the link does not lead to a page."""
        address = f"#{anchor(url[1:])}" if url.startswith("#") else self._resolve(url)
        return text + self._missing if address is None else super().link(text, address, title)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        address = url if url.startswith("data:") else self._resolve(url)
        alt = escape(unescape(TAG.sub("", text)), quote=True)
        return f"<em>{alt}</em>" if address is None else f'<img src="{escape(address)}" alt="{alt}">'

    def table(self, text: str) -> str:
        return f'<div class="scroll" tabindex="0"><table>\n{text}</table></div>\n'

    def table_cell(self, text: str, align: str | None = None, head: bool = False) -> str:
        """Return a cell of a table. An empty head is not marked as a heading, so screen readers do not announce it."""
        tag = "th" if head and text.strip() else "td"
        style = f' style="text-align:{align}"' if align else ""
        return f"  <{tag}{style}>{text}</{tag}>\n"

    def block_code(self, code: str, info: str | None = None) -> str:
        return code_html(code, (info or "text").split()[0])

    def block_math(self, body: str) -> str:
        return f'<div class="scroll formula" tabindex="0">{_mathml(body, "block")}</div>'

    def inline_math(self, body: str) -> str:
        return _mathml(body, "inline")

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


def _mathml(formula: str, display: str) -> str:
    """Return a LaTeX formula as MathML."""
    from latex2mathml.converter import convert  # of the extra `site`: the manual has no formulas

    return str(convert(formula.strip(), display=display))
