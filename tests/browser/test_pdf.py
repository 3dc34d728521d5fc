"""The printer of PDFs: with the real Chromium, and without it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from grader.report import pdf
from grader.report.pdf import NoPdf, pdf_printer
from tests.browser.chromium import chromium_or_skip

LONG = "<p style='height: 280mm'>long</p>"  # longer than what a page of A4 holds
FOLDED = f"<!DOCTYPE html><title>x</title><details><summary>more</summary>{LONG}{LONG}</details>"


def pages(content: bytes) -> int:
    assert content.startswith(b"%PDF-")
    return len(re.findall(rb"/Type\s*/Page\b", content))


def test_what_is_folded_is_printed_and_no_script_runs() -> None:
    chromium_or_skip()
    script = "<p id='x'></p><script>document.getElementById('x').style.height = '900mm'</script>"
    with pdf_printer() as printed:
        assert pages(printed(FOLDED)) == 3
        assert pages(printed(f"<!DOCTYPE html><title>x</title>{script}")) == 1


def test_without_playwright_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(NoPdf, match=r"pip install 'attention-course\[pdf\]'"), pdf_printer():
        pass


def test_without_chromium_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pdf, "SYSTEM", ("no-such-browser",))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    with pytest.raises(NoPdf, match="playwright install --with-deps chromium"), pdf_printer():
        pass
