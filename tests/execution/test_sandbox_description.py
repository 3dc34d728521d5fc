"""What is visible in the sandbox: not more than a submission needs."""

from __future__ import annotations

import os
import sys

import pytest

from grader.execution.errors import IsolationError
from grader.execution.sandbox_description import describe_sandbox


@pytest.mark.parametrize("link", ["/etc/alternatives/python3", "/bin/python3"])
def test_a_link_on_the_way_to_python_shows_no_more_than_itself(link, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/somewhere/bin/python")
    monkeypatch.setattr(os.path, "islink", lambda path: path == "/somewhere/bin/python")
    monkeypatch.setattr(os, "readlink", lambda path: link)
    boot, _ = describe_sandbox("full", "cpu", "/home/student")
    assert not {"/", "/etc", "/usr", "/bin"} & set(boot["binds"]) - {"/bin"}


def test_python_in_a_home_of_its_own_is_not_shown_whole(monkeypatch):
    monkeypatch.setattr(sys, "prefix", os.path.expanduser("~"))
    with pytest.raises(IsolationError, match="venv"):
        describe_sandbox("full", "cpu", "/home/student")
