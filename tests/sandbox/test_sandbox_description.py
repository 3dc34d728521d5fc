"""What is visible in the sandbox: not more than a submission needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox.errors import IsolationError
from grader.sandbox.process import ServerProcess, try_tier
from grader.sandbox.sandbox_description import describe_sandbox
from grader.sandbox.tiers import tier_problem

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("base", [sys.base_prefix, "/usr"])  # of a Python of one's own, and of the system's
@pytest.mark.parametrize("link", ["/etc/alternatives/python3", "/bin/python3"])
def test_a_link_on_the_way_to_python_shows_no_more_than_itself(link, base, monkeypatch):
    monkeypatch.setattr(sys, "base_prefix", base)
    monkeypatch.setattr(sys, "base_exec_prefix", base)
    monkeypatch.setattr(sys, "executable", "/somewhere/bin/python")
    monkeypatch.setattr(os.path, "islink", lambda path: path == "/somewhere/bin/python")
    monkeypatch.setattr(os, "readlink", lambda path: link)
    boot, _ = describe_sandbox("full", "cpu", "/home/student")
    assert not {"/", "/etc", "/usr", "/bin"} & set(boot["binds"]) - {"/bin"}


def test_python_in_a_home_of_its_own_is_not_shown_whole(monkeypatch):
    monkeypatch.setattr(sys, "prefix", os.path.expanduser("~"))
    with pytest.raises(IsolationError, match="venv"):
        describe_sandbox("full", "cpu", "/home/student")


LINKED = """
import json, sys
from grader.sandbox.sandbox_description import describe_sandbox
from grader.sandbox.tiers import tier_problem
boot, _ = describe_sandbox("full", "cpu", "/home/student")
print(json.dumps({"prefix": sys.prefix, "masks": boot["masks"], "problem": tier_problem("full")}))
"""


@pytest.mark.skipif(tier_problem("full") != "", reason="this machine does not provide tier full")
def test_an_environment_and_a_grader_behind_links_are_reached_and_hidden(tmp_path: Path) -> None:
    environment, code = tmp_path / ".venv", tmp_path / "grader"
    environment.symlink_to(sys.prefix)
    code.symlink_to(ROOT / "grader")
    told = subprocess.run(
        [environment / "bin" / "python", "-c", LINKED],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{tmp_path}:{ROOT / 'source'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(told.stdout)
    assert found["prefix"] == str(environment)
    assert found["problem"] == ""
    for library in Path(sys.prefix).glob("lib/python*/site-packages/attention_course*"):
        for prefix in (sys.prefix, str(environment)):
            assert f"{prefix}/{library.relative_to(sys.prefix)}" in found["masks"]


@pytest.mark.parametrize("place", ["below Python", "elsewhere"])
def test_a_course_below_what_is_visible_is_hidden(place, tmp_path: Path, monkeypatch) -> None:
    course = tmp_path / "environment" / "course" if place == "below Python" else tmp_path / "course"
    (course / "notebooks").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    (tmp_path / "environment").mkdir(exist_ok=True)
    monkeypatch.setenv("GRADER_COURSE", str(course))
    boot, _ = describe_sandbox("full", "cpu", "/home/student")
    assert str(tmp_path / "environment") in boot["binds"]
    assert (str(course) in boot["masks"]) == (place == "below Python")


def test_a_second_copy_is_hidden_and_all_beside_it_can_be_read(tmp_path: Path, monkeypatch) -> None:
    # The Python from which the environment was made may have the course, too, as may another environment in it.
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    ours = []
    for library in (
        "lib/python3.11/site-packages",
        "local/lib/python3.11/dist-packages",
        "envs/b/lib/python3.9/site-packages",
    ):
        for name in ("attention", "grader", "attention_course-1.dist-info", "torch"):
            (tmp_path / library / name).mkdir(parents=True)
            ours += [f"{tmp_path}/{library}/{name}"] if name != "torch" else []
    (tmp_path / "lib64").symlink_to("lib")
    (tmp_path / "alias").symlink_to(ours[0])
    boot, _ = describe_sandbox("full", "cpu", "/home/student")
    assert {*ours} <= {*boot["masks"]}
    _, server = describe_sandbox("partial", "cpu", str(tmp_path / "home"))
    assert {str(Path(ours[0]).with_name("torch")), f"{tmp_path}/envs/b/lib/python3.9/site-packages/torch"} <= {
        *server["read"]
    }
    real = [os.path.realpath(path) for path in server["read"]]
    assert [path for path in real if any(f"{own}/".startswith(f"{path}/") for own in ours)] == []


@pytest.mark.skipif(tier_problem("full") != "", reason="this machine does not provide tier full")
def test_a_server_that_shows_the_course_does_not_start(monkeypatch) -> None:
    monkeypatch.setattr("grader.sandbox.sandbox_description._masks", lambda binds, ours: [])
    monkeypatch.setattr("grader.sandbox.sandbox_description._telling_files", lambda ours: [os.__file__])
    with pytest.raises(IsolationError, match=r"could read .*os.py, which is the course's. Install .* of its own"):
        ServerProcess("full")
    assert "could read" in try_tier("full")
