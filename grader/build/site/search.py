"""Makes the index of the site's search, with an entry of words for each section of each page."""

import json
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser

from grader.build.site.pages import Page

HEADINGS = ("h1", "h2", "h3", "h4")
SKIPPED = ("script", "style", "svg", "math", "details")  # of the last kind only the folded code


def search_index(pages: Iterable[Page]) -> str:
    """Return a script that sets `SEARCH_INDEX` to a list with one entry for each section.

    An entry is [path, title of the page, heading, text].
    """
    entries = [
        [page.path + anchor, page.title, heading, text]
        for page in pages
        for anchor, heading, text in sections(page.body)
    ]
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    return f"window.SEARCH_INDEX = {text};\n"


def sections(html: str) -> Iterator[tuple[str, str, str]]:
    """Yield the anchor ("#set-up" or ""), the heading and the text of each section of a page.

    Skip sections without heading and text.
    """
    reader = _Sections()
    reader.feed(html)
    for anchor, heading, text in reader.found:
        entry = anchor, " ".join("".join(heading).split()), " ".join("".join(text).split())
        if entry[1] or entry[2]:
            yield entry


class _Sections(HTMLParser):
    """Collects the sections of a page. A new section begins at each heading with an anchor."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[str], list[str]]] = [("", [], [])]
        self._within: list[str] = []  # the open tags that matter

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag in HEADINGS and (name := given.get("id")):
            self.found.append((f"#{name}", [], []))
        if tag in (*HEADINGS, *SKIPPED) and (tag != "details" or given.get("class") == "folded"):
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._within:
            self._within.remove(tag)
        elif tag in ("p", "li", "td", "th", "pre", "div"):
            self.found[-1][2].append(" ")

    def handle_data(self, data: str) -> None:
        if not any(tag in SKIPPED for tag in self._within):
            _, heading, text = self.found[-1]
            (heading if self._within else text).append(data)
