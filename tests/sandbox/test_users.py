"""Each sandbox has a user of its own, as long as there are free ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.sandbox import reservations
from grader.sandbox.reservations import FIRST_USER, SandboxUser, is_mapped
from grader.sandbox.sandbox_description import UNPRIVILEGED


@pytest.fixture
def reserve(monkeypatch) -> Iterator:
    """Reserve users as root does, of names that no other process has."""
    real, made = reservations.socket.socket, []

    class Socket(real):
        def bind(self, name: str) -> None:
            super().bind(f"{name}-of-test-{os.getpid()}")

    monkeypatch.setattr(reservations.socket, "socket", Socket)
    monkeypatch.setattr(reservations.os, "getuid", lambda: 0)
    monkeypatch.setattr(reservations, "USERS", 3)

    def one() -> SandboxUser:
        made.append(SandboxUser())
        return made[-1]

    yield one
    for user in made:
        user.release()


def test_no_two_have_one_and_where_none_is_left_they_share(reserve):
    found = [reserve().uid for _ in range(4)]
    assert sorted(found[:3]) == [FIRST_USER, FIRST_USER + 1, FIRST_USER + 2]
    assert found[3] == 0


def test_who_is_released_comes_last(reserve):
    first = reserve()
    first.release()
    assert reserve().uid != first.uid


@pytest.mark.parametrize("hindrance", ["_has_account", "is_mapped"])
def test_who_has_an_account_or_cannot_be_had_is_left_out(reserve, hindrance, monkeypatch):
    bad = FIRST_USER + 1
    monkeypatch.setattr(reservations, hindrance, lambda uid: (uid == bad) is (hindrance == "_has_account"))
    found = {reserve().uid for _ in range(3)}
    assert found == {0, FIRST_USER, FIRST_USER + 2}


def test_the_shared_user_is_never_root(reserve):
    assert [reserve().outside for _ in range(4)][3] == UNPRIVILEGED


def test_an_ordinary_user_has_none(monkeypatch):
    monkeypatch.setattr(reservations.os, "getuid", lambda: 1000)
    user = SandboxUser()
    assert (user.uid, user.outside) == (0, 1000)
    user.release()


def test_who_can_be_had(tmp_path: Path):
    path = tmp_path / "uid_map"
    path.write_text("         0       1000          1\n         1     100000      65536\n")
    assert [is_mapped(uid, str(path)) for uid in (0, 1, 65_536, 65_537)] == [True, True, True, False]
