"""What one sandbox does, no other notices: as root and as an ordinary user, in both tiers that isolate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from as_user import USER, run_as

SCRIPT = Path(__file__).parents[2] / "corpus" / "neighbours_script.py"
SITUATIONS = [(0, "full"), (0, "partial"), (USER, "full"), (USER, "partial")]
pytestmark = pytest.mark.fast_cases("root-full")  # each takes a quarter of a minute


# What all have one of, and libraries: newer ones of libffi hold their own file open.
SHARED = ("anon_inode:[eventpoll]", "/usr/lib")


@pytest.fixture(scope="module", params=SITUATIONS, ids=lambda one: f"{one[0] or 'root'}-{one[1]}")
def told(request, tmp_path_factory) -> dict:
    """What the neighbours noticed, with the situation."""
    user, tier = request.param
    return {**run_as(user, tmp_path_factory.mktemp("neighbours"), SCRIPT, tier), "user": user, "tier": tier}


def test_no_two_have_a_pipe_or_a_socket_in_common(told):
    first, second = (
        {tuple(where) for name, *where in json.loads(found).values() if not name.startswith(SHARED)}
        for found in told["descriptors"]
    )
    assert first
    assert second
    assert first.isdisjoint(second)


def test_what_one_leaves_in_its_queues_and_sockets_no_other_finds(told):
    assert told["left"] == "b''"
    assert told["await"] == "awaited"


def test_no_file_system_of_one_can_be_seen_by_another(told):
    if told["tier"] == "partial":
        pytest.skip("Landlock alone: all mounts are seen, and none can be written outside of the sandbox's home")
    first, second = (
        {device for device, kind in json.loads(found).values() if kind != "devtmpfs"} for found in told["mounts"]
    )
    assert len(first) == len(second) == 3  # proc, devpts, scratch
    assert first.isdisjoint(second)


def test_no_memory_is_shared(told):
    assert told["shared memory"] == ["[]", "[]"]


def test_terminals_that_one_holds_are_missing_to_no_other(told):
    assert told["command"] == "an answer"


def test_descriptors_in_flight_stop_no_other(told):
    assert told["in flight"] == ["again", "new"]


def test_what_lies_in_buffers_of_sockets_counts_as_memory(told):
    assert told["buffers"].startswith("died:  it used more than 0.5 GB of memory and was stopped")
    assert (told["kept"], told["after"]) == ("5", "5")


def test_where_the_machine_runs_out_of_memory_sandboxes_go_first(told):
    assert told["first to go"] == "1000"


def test_as_root_each_has_a_user_of_its_own(told):
    first, second = told["users"]
    assert (first != second) is (told["user"] == 0)
    assert told["user"] in (0, first)
    assert 0 not in told["users"]


def test_limits_and_priorities_of_another_process_cannot_be_changed(told):
    assert told["priorities"] == "[]"


def test_a_sandbox_stays_on_the_core_on_which_it_was_put(told):
    assert told["pinned"].endswith(f"[{told['core']}]")
    assert len(told["pinned"].splitlines()) == 2  # and is told so


def test_what_a_notebook_does_to_itself_it_still_may(told):
    assert told["own"] == "fine"
    assert told["workers"] == "[21.0, 21.0]"
