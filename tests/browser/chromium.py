"""The system's own Chromium, for tests that look at pages as people do; without one, such a test file is skipped."""

from __future__ import annotations

import os
import shutil

import pytest

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


def chromium() -> str:
    """Return its path, or skip the test file; with BROWSER_TESTS=required the test fails instead."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        reason = "no Chromium: run `sh tests/browser/install-chromium.sh`"
        if os.environ.get("BROWSER_TESTS") == "required":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason, allow_module_level=True)
    return found
