"""The tiers: how one is chosen, and each as an ordinary user gets it, in a process of its own."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from as_user import USER, run_as

from grader.sandbox.errors import IsolationError
from grader.sandbox.tiers import resolve_tier, tier_problem

SCRIPT = """
import json, os, socket, sys, tempfile
from grader.sandbox.server import Server
from grader.records import Limits
from grader.sandbox.tiers import tier_problem
tier = sys.argv[1]
if reason := tier_problem(tier):
    print(json.dumps({"skip": reason})); sys.exit()
told = {"uid": os.getuid()}
with Server(isolation=tier) as server:
    python = server.spawn(Limits(memory_bytes=600 << 20), seed=0)
    def said(source, seconds=20):
        result = python.run_cell(source, seconds=seconds)
        return result.status, "".join(o.get("text", "") or o.get("evalue", "") for o in result.outputs)
    told["first"] = said("x = 5; print('hello')")
    told["loop"] = said("while True: pass", 1)[0]
    told["crash"] = said("import os; os._exit(1)")[0]
    told["state"] = said("print(x)")[1]
    told["memory"] = said("import os, time\\nfor _ in range(12):\\n    if os.fork() == 0:\\n"
                          "        b = b'x' * (99 << 20); time.sleep(60); os._exit(0)\\ntime.sleep(60)")[0]
    told["secret"] = said(f"print(open({sys.argv[2]!r}).read())")
    told["socket"] = said("import socket; socket.socket(socket.AF_INET); print('open')")
    listens = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); listens.bind(name := f"{tempfile.mkdtemp()}/listens")
    told["datagram"] = said(f"import socket\\nsocket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'out', {name!r})")
    told["kill"] = said(f"import os; os.kill({os.getpid()}, 0); print('open')")
    told["environ"] = said(f"print(open('/proc/{os.getpid()}/environ').read())")
    told["bash"] = said("%%bash\\necho $((6 * 7))")[1]
    told["draws"] = said("import matplotlib.pyplot as plt\\nplt.plot([1, 2]); plt.show()")[0]
    told["leaves"] = said("import subprocess; subprocess.Popen(['setsid', 'sleep', '2718281'])\\n"
                          "import os; os.makedirs('a/' * 400); open('b', 'w').write('x')")[0]
    home = said("import os; print(os.environ['HOME'])")[1].strip()
    python.kill()
    told["left"] = [tier != "full" and os.path.exists(home)]
    def command_of(pid):
        try:
            return open(f"/proc/{pid}/cmdline").read()
        except OSError:  # it ended while we looked
            return ""

    told["running"] = any("2718281" in command_of(p) for p in os.listdir("/proc") if p.isdigit())
print(json.dumps(told))
"""


def told_by(tier: str, tmp_path: Path) -> dict:
    (tmp_path / "secret").write_text("the secret")
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    return run_as(USER, tmp_path, tmp_path / "script.py", tier, str(tmp_path / "secret"))


@pytest.mark.fast_cases("partial")
@pytest.mark.parametrize("tier", ["full", "partial", "none"])
def test_an_ordinary_user_has_this_tier(tier, tmp_path):
    told = told_by(tier, tmp_path)
    assert told["uid"] != 0
    assert told["first"] == ["ok", "hello\n"]
    assert (told["loop"], told["crash"], told["state"]) == ("timeout", "died", "5\n")
    assert told["memory"] == "died"
    assert told["bash"] == "42\n"
    assert (told["draws"], told["leaves"]) == ("ok", "ok")
    assert told["left"] == [False]
    assert not told["running"]
    closed = tier != "none"
    for way in ("secret", "socket", "datagram", "kill", "environ"):
        status, text = told[way]
        assert (status == "raised") is closed, f"{way}: {status} {text}"


def test_auto_gives_the_best_and_never_none():
    assert resolve_tier("auto") in ("full", "partial")


def test_an_unknown_tier_is_named():
    with pytest.raises(IsolationError, match="'half' is none of auto, full, partial, none"):
        resolve_tier("half")


def test_none_is_refused_unless_asked_for(monkeypatch):
    monkeypatch.setattr("grader.sandbox.tiers.tier_problem", lambda tier: "" if tier == "none" else f"no {tier} here")
    with pytest.raises(IsolationError, match=r"full: no full here; partial: no partial here.*--isolation none"):
        resolve_tier("auto")
    assert resolve_tier("none") == "none"


@pytest.mark.parametrize("tier", ["auto", "full", "partial", "none"])
def test_another_system_is_told_what_to_do_and_nothing_that_does_not_work(tier, monkeypatch):
    tier_problem.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(IsolationError) as raised:
        resolve_tier(tier)
    assert str(raised.value) == (
        "the sandbox did not start (grading needs Linux. On macOS and Windows use a virtual machine with Linux; WSL "
        "is one). No grade was written. See `grader doctor`."
    )
    tier_problem.cache_clear()


@pytest.mark.parametrize("requested", ["auto", "full", "partial", "none"])
@pytest.mark.parametrize("none_works", [True, False])
def test_tier_none_is_advised_to_those_alone_who_can_take_it_and_did_not(requested, none_works, monkeypatch):
    monkeypatch.setattr(
        "grader.sandbox.tiers.tier_problem", lambda tier: "" if tier == "none" and none_works else f"no {tier}"
    )
    if requested == "none" and none_works:
        assert resolve_tier(requested) == "none"
        return
    with pytest.raises(IsolationError, match="grader doctor") as raised:
        resolve_tier(requested)
    assert ("--isolation none" in str(raised.value)) is (none_works and requested != "none")


def test_a_landlock_that_is_missing_is_a_reason(monkeypatch):
    tier_problem.cache_clear()
    monkeypatch.setattr("grader.sandbox.guest.linux.landlock_version", lambda: 0)
    assert "Landlock" in tier_problem("full")
    monkeypatch.setattr("grader.sandbox.guest.linux.landlock_version", lambda: 5)
    assert "version 6" in tier_problem("partial")
    tier_problem.cache_clear()
