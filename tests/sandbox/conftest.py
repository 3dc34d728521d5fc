"""One fork server for all tests of this folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.records import Limits
from grader.sandbox.connection import Sandbox
from grader.sandbox.server import Server
from grader.sandbox.tiers import tier_problem

# Modules of the guest import each other as `guest.…`; the last entry, so that no other module is found there first.
sys.path.append(str(Path(__file__).resolve().parents[2] / "grader" / "sandbox"))


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if reason := tier_problem("full"):
        pytest.skip(f"tier full is not to be had here: {reason}")
    with Server(isolation="full") as server:
        yield server


@pytest.fixture
def spawn(server: Server) -> Iterator[Callable[..., Sandbox]]:
    """Make interpreters with limits that a test chooses; kill them at its end."""
    alive: list[Sandbox] = []

    def start(**limits) -> Sandbox:
        alive.append(server.spawn(Limits(**limits), seed=0))
        return alive[-1]

    yield start
    for sandbox in alive:
        sandbox.kill()


@pytest.fixture
def python(spawn) -> Sandbox:
    return spawn()


@pytest.fixture
def said() -> Callable[..., str]:
    """Run a cell and return what it displayed."""
    return displayed


def displayed(sandbox: Sandbox, source: str, *, seconds: float = 30.0) -> str:
    """Run a cell and return the text of all its streams and results."""
    result = sandbox.run_cell(source, seconds=seconds)
    parts = []
    for output in result.outputs:
        parts.append(output.get("text") or output.get("evalue") or output.get("data", {}).get("text/plain", ""))
    return "".join(parts)
