"""`grader doctor` says what there is, what is missing, and how to get it."""

from __future__ import annotations

import pytest

from grader.sandbox import doctor
from grader.sandbox import tiers as isolation


def test_it_says_the_tier_and_the_versions():
    lines = "\n".join(doctor.report(doctor.examine()))
    for word in ("isolation", "memory", "Landlock", "device", "torch", "papermill"):
        assert word in lines


def test_it_says_what_is_open_and_what_to_do(monkeypatch):
    monkeypatch.setattr(doctor, "tier_problem", lambda tier: "no user namespaces" if tier == "full" else "")
    lines = "\n".join(doctor.report(doctor.examine()))
    assert "isolation   partial" in lines
    assert "not full: no user namespaces" in lines
    assert "apparmor" in lines
    assert lines.count("open:") == len(doctor.OPEN["partial"])


def test_it_says_when_there_is_nothing(monkeypatch):
    monkeypatch.setattr(doctor, "tier_problem", lambda tier: "" if tier == "none" else "no Linux")
    lines = "\n".join(doctor.report(doctor.examine()))
    assert "refused unless you pass" in lines


def test_a_machine_that_reaches_no_tier_is_not_said_to_reach_none(monkeypatch):
    monkeypatch.setattr(doctor, "tier_problem", lambda tier: isolation.OTHER_SYSTEM)
    monkeypatch.setattr(doctor.sys, "platform", "darwin")
    assert list(doctor._isolation_lines(doctor.examine())) == [
        f"isolation   no tier: nothing can be graded here; {isolation.OTHER_SYSTEM}"
    ]


def test_an_old_linux_is_told_what_each_tier_needs(monkeypatch):
    monkeypatch.setattr(doctor, "tier_problem", lambda tier: f"{tier} is missing")
    lines = "\n".join(doctor._isolation_lines(doctor.examine()))
    for tier in isolation.TIERS:
        assert f"not {tier}: {tier} is missing" in lines
    assert f"Linux ≥ {isolation.LINUX['partial']}" in lines
    assert "--isolation" not in lines


def test_it_says_what_the_library_does_not_know_and_that_the_course_was_looked_for(monkeypatch):
    monkeypatch.setattr(doctor, "tier_problem", lambda tier: "")
    monkeypatch.setattr(doctor, "not_known", lambda: ("newcall",))
    lines = "\n".join(doctor._isolation_lines(doctor.examine()))
    assert "refused: the system call newcall" in lines
    assert "cannot read the course" in lines


def test_every_tier_has_its_list():
    assert set(doctor.OPEN) == set(isolation.TIERS)
    assert all(doctor.OPEN.values())


@pytest.mark.parametrize(("user", "shared"), [(0, False), (1000, True)])
def test_it_says_whether_submissions_share_a_user(user, shared, monkeypatch):
    monkeypatch.setattr(doctor, "tier_problem", lambda tier: "")
    monkeypatch.setattr(doctor.os, "getuid", lambda: user)
    lines = "\n".join(doctor._isolation_lines(doctor.examine()))
    assert (doctor.SHARED_USER in lines) is shared
    assert ("a different user for each submission" in lines) is not shared


def test_it_does_not_say_that_all_memory_is_counted_where_it_is_not(monkeypatch):
    monkeypatch.setattr(doctor.cgroup, "available", lambda: False)
    assert "not all of the kernel's own" in "\n".join(doctor._machine_lines(doctor.examine()))
