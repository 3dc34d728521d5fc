"""A lesson as a page with outputs, on a phone: nothing is cut off, and the letters of a wide figure can be read."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page

from grader.build.preview import page as preview_page

PHONE = {"width": 375, "height": 800}
CUT_OFF = """() => [...document.querySelectorAll('main *')].filter(
    one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth
        && ['hidden', 'clip'].includes(getComputedStyle(one).overflowX)
        && ![...one.querySelectorAll('*')].some(inner => getComputedStyle(inner).overflowX === 'auto')
).map(one => one.className)"""


def picture(width: int, height: int) -> str:
    """A white PNG in base64."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = (b"\0" + b"\xff" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    made = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(made).decode()


@pytest.fixture(scope="module")
def on_a_phone(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    code = nbformat.v4.new_code_cell("answer = " + " + ".join(["attention"] * 30))
    code.outputs = [
        nbformat.v4.new_output("stream", text="head average      0.791   0.882   0.882   0.841 " * 2 + "\n"),
        nbformat.v4.new_output("display_data", {"image/png": picture(1030, 200)}),
        nbformat.v4.new_output("display_data", {"image/png": picture(500, 200)}),
        nbformat.v4.new_output("display_data", {"image/png": picture(200, 200)}),
    ]
    table = "| exercise | you write | points |\n|---|---|--:|\n| 1 | `" + "a_long_name_" * 4 + "` | 8 |"
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(table), code])
    file: Path = tmp_path_factory.mktemp("preview") / "page.html"
    file.write_text(preview_page(made, "page"), "utf-8")
    context = browser.new_context(viewport=PHONE)
    one = context.new_page()
    one.route("http**", lambda route: route.abort())  # MathJax
    one.goto(file.as_uri(), wait_until="domcontentloaded")
    yield one
    context.close()


def test_code_outputs_and_tables_are_scrolled_to_and_not_cut_off(on_a_phone: Page) -> None:
    assert on_a_phone.evaluate(CUT_OFF) == []
    assert on_a_phone.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_a_figure_shrinks_to_the_page_if_its_letters_can_still_be_read(on_a_phone: Page) -> None:
    widths = on_a_phone.evaluate("[...document.images].map(one => one.getBoundingClientRect().width)")
    assert widths[0] == pytest.approx(0.62 * 1030, abs=1)
    assert widths[1] == pytest.approx(on_a_phone.evaluate("document.images[1].parentElement.clientWidth"), abs=1)
    assert widths[2] == pytest.approx(200, abs=1)
