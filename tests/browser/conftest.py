"""A browser for the tests that look at a page by itself; the tests of JupyterLab start their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import FLAGS, chromium_or_skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=chromium_or_skip(), args=FLAGS)
        yield one
        one.close()


@pytest.fixture
def offline_page(browser: Browser) -> Iterator[Page]:
    """An empty page that fails the test where a script fails or anything is fetched."""
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    context.set_default_timeout(30_000)
    one = context.new_page()
    troubles: list[str] = []
    one.on("pageerror", lambda error: troubles.append(str(error)))
    one.on("console", lambda message: message.type == "error" and troubles.append(message.text))
    one.on("request", lambda request: re.match("file:|data:", request.url) or troubles.append(request.url))
    yield one
    context.close()
    assert not troubles
