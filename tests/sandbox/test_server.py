"""The fork server: a dead one is noticed, and what it cannot do it says."""

from __future__ import annotations

import os
import signal
import socket

import pytest

from grader.records import Limits, Status
from grader.sandbox.errors import IsolationError, ServerLost
from grader.sandbox.process import SharedServer
from grader.sandbox.server import Server


@pytest.mark.fast_cases("inside")
@pytest.mark.parametrize("which", ["outside", "inside"])
def test_a_dead_server_is_noticed_and_the_next_submission_gets_a_new_one(which, server):
    python = server.spawn(Limits(), seed=0)
    with open(f"/proc/{server.pid}/task/{server.pid}/children") as file:
        inside = int(file.read().split()[0])
    os.kill(server.pid if which == "outside" else inside, signal.SIGKILL)
    with pytest.raises(ServerLost):  # a cell that the news of its death cannot come too late for
        python.run_cell("import time\ntime.sleep(20)", seconds=20)
    python.kill()
    again = server.spawn(Limits(), seed=0)
    assert again.run_cell("1", seconds=20).status is Status.OK
    again.kill()


def test_a_server_that_cannot_be_had_says_so(monkeypatch):
    monkeypatch.setattr("grader.sandbox.tiers.tier_problem", lambda tier: "no Landlock")
    with pytest.raises(IsolationError, match=r"no Landlock.*No grade was written"):
        Server(isolation="full")


def test_a_server_that_cannot_start_says_so_each_time(monkeypatch):
    def refuse(*_):
        raise IsolationError("the sandbox did not start")

    ours, theirs = socket.socketpair()
    theirs.close()
    monkeypatch.setattr("grader.sandbox.server.ServerProcess", refuse)
    with Server(shared=SharedServer(ours)) as lost:
        for _ in range(3):
            with pytest.raises(IsolationError, match="did not start"):
                lost.spawn(Limits(), seed=0)


def test_what_few_submissions_use_is_imported_while_others_run():
    def modules(server: Server) -> str:
        python = server.spawn(Limits(), seed=0)
        try:
            cell = python.run_cell(
                "import sys\nprint(*[name in sys.modules for name in ('sympy', 'sklearn')])", seconds=20
            )
            return cell.outputs[0]["text"].strip()
        finally:
            python.kill()

    with Server() as fresh:
        assert [modules(fresh) for _ in range(6)] == ["False False", *["True False"] * 4, "True True"]
