"""The system's Chromium, for all tests in a browser."""

from __future__ import annotations

import os
import shutil

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


def chromium_or_skip() -> str:
    """Return the path of Chromium; skip the module that asks if there is none, or fail where browser tests are required."""
    if CHROMIUM is not None:
        return CHROMIUM
    reason = "no Chromium: run `sh tests/browser/install-chromium.sh`"
    if os.environ.get("BROWSER_TESTS") == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)
