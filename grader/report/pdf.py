"""Prints pages as PDF with Playwright, which controls the browser Chromium.

Both are optional, because only this module needs them. Chromium is the system's browser, or
otherwise the one that `playwright install chromium` installed.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.complaint import Complaint

SYSTEM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
NO_PLAYWRIGHT = (
    "a PDF needs Playwright, which is not installed. Run: pip install 'attention-course[pdf]'. Or print the HTML page "
    "from a browser."
)
NO_CHROMIUM = (
    "a PDF needs Chromium, which does not start. Run: playwright install --with-deps chromium. "
    "Or print the HTML page from a browser. Playwright says: {}"
)


class NoPdf(Complaint):
    """No program that prints PDFs is available; the message shows what to install."""


@contextmanager
def pdf_printer() -> Iterator[Callable[[str], bytes]]:
    """Start Chromium until the context ends, and yield a function that prints an HTML page as PDF.

    Chromium has no network and runs no scripts. The PDF has A4 pages, and folded parts of the page
    are open.

    Raises:
        NoPdf: Playwright or Chromium is missing.
    """
    try:
        from playwright.sync_api import Error, PdfMargins, sync_playwright
    except ImportError as error:
        raise NoPdf(NO_PLAYWRIGHT) from error
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, SYSTEM)), None)
        try:
            browser = playwright.chromium.launch(executable_path=found, args=[*FLAGS])
        except Error as error:
            raise NoPdf(NO_CHROMIUM.format(error.message.splitlines()[0])) from error
        page = browser.new_context(java_script_enabled=False, offline=True).new_page()

        def printed(html: str) -> bytes:
            # Whatever a student wrote is escaped, so this tag is always the template's.
            page.set_content(html.replace("<details", "<details open"))
            margin = PdfMargins(top="15mm", bottom="15mm", left="12mm", right="12mm")
            return page.pdf(format="A4", margin=margin, print_background=True, tagged=True)

        try:
            yield printed
        finally:
            browser.close()
