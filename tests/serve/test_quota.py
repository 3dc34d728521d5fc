"""How much of the disk one student's attempts take: the oldest that do not count lose their files first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pytest
from httpx2 import Response

from grader.serve import attempts
from grader.serve.shares import KeptFolder, QuotaError, to_remove
from grader.serve.site import Site
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import instructor, student
from tests.serve.queueing import Turns, states, turns_of
from tests.serve.test_attacks import rules

KIB = 1 << 10


def kept(id: int, size: int, *, removable: bool = True, last: bool = False) -> KeptFolder:
    return KeptFolder(id=id, place=str(id), size=size, is_removable=removable, is_last_resort=last)


@pytest.mark.parametrize(
    ("folders", "added", "removed"),
    [
        ([], 100, []),
        ([kept(1, 40), kept(2, 30)], 30, []),
        ([kept(1, 40), kept(2, 30)], 31, [1]),
        ([kept(2, 30), kept(1, 40)], 71, [1, 2]),
        ([kept(1, 40, removable=False), kept(2, 30), kept(3, 30)], 29, [2]),  # 1 counts
        ([kept(1, 40, last=True), kept(2, 30), kept(3, 30)], 59, [2, 3]),
        ([kept(1, 40, last=True), kept(2, 30)], 71, [2, 1]),
        ([kept(1, 0), kept(2, 101)], 1, [1, 2]),
    ],
)
def test_the_oldest_are_removed_until_the_rest_fits(folders: list[KeptFolder], added: int, removed: list[int]) -> None:
    assert [one.id for one in to_remove(folders, added, 100)] == removed


@pytest.mark.parametrize(
    ("folders", "added"),
    [([], 101), ([kept(1, 40, removable=False)], 61), ([kept(1, 40, removable=False), kept(2, 9)], 61)],
)
def test_what_does_not_fit_is_refused(folders: list[KeptFolder], added: int) -> None:
    with pytest.raises(QuotaError):
        to_remove(folders, added, 100)


# ---------------------------------------------------------------- with files, and one MiB for each student and assignment


@pytest.fixture
def turns(site: Site) -> Iterator[Turns]:
    with turns_of(site) as made, rules(site, "[every]\nkept_megabytes = 1\nattempts_an_hour = 100\n# quota\n"):
        yield made


def upload(site: Site, who: str, number: int, size: int = 300 * KIB, name: str = NAME) -> Response:
    content = f'{{"number": {number}}}'.encode()
    return student(site, who).hands_in(content + b" " * (size - len(content)), name)


def folders(site: Site, who: str, name: str = NAME) -> list[int]:
    """Return the numbers of the attempts whose files are there."""
    own = {one.place: one.nth for one in attempts.attempts_of(site.store, who, name)}
    return sorted(own.get(each.name, 0) for each in folder_of(site, who, name).iterdir())


def folder_of(site: Site, who: str, name: str = NAME) -> Path:
    return site.folder / "submitted" / attempts.ATTEMPTS / who / name


def counts(site: Site, who: str, nth: int) -> None:
    site.store.change("UPDATE attempt SET counts = nth = ? WHERE student = ?", nth, who)


def test_attempts_that_do_not_count_lose_their_files(site: Site, turns: Turns) -> None:
    for number in range(6):
        assert upload(site, "hoarder", number).status_code == 303
        turns.rest()
        counts(site, "hoarder", 2)
    assert folders(site, "hoarder") == [2, 5, 6]
    assert states(site, "hoarder") == ["graded"] * 6  # each is listed, with its points
    page = student(site, "hoarder").get(f"/a/{NAME}").text
    assert page.count("removed to make room for newer attempts") == 3
    assert student(site, "hoarder").get(f"/a/{NAME}/attempts/1").status_code == 404


def test_an_upload_that_does_not_fit_is_refused_and_changes_nothing(site: Site, turns: Turns) -> None:
    upload(site, "heavy", 1, 600 * KIB)
    turns.rest()
    counts(site, "heavy", 1)
    assert upload(site, "heavy", 2, 300 * KIB).status_code == 303
    answer = upload(site, "heavy", 3, 500 * KIB)
    assert answer.status_code == 413
    assert f"Your attempts at {NAME} may take 1 MiB in total, and this file does not fit." in answer.text
    assert folders(site, "heavy") == [1, 2]
    assert states(site, "heavy") == ["graded", "waiting"]  # the refused one has replaced nothing


def test_what_waits_or_is_graded_keeps_its_files(site: Site, turns: Turns) -> None:
    upload(site, "pending", 1, 400 * KIB)
    assert turns.begin() is not None
    upload(site, "pending", 2, 400 * KIB)
    assert states(site, "pending") == ["grading", "waiting"]
    assert upload(site, "pending", 3, 400 * KIB).status_code == 303  # replaces 2, which waits no more
    assert folders(site, "pending") == [1, 3]
    assert upload(site, "pending", 4, 700 * KIB).status_code == 413
    assert states(site, "pending") == ["grading", "replaced", "waiting"]


def test_what_we_could_not_grade_is_removed_last_and_not_graded_again_without_its_file(
    site: Site, turns: Turns
) -> None:
    upload(site, "faulty", 1, 400 * KIB)
    site.store.change("UPDATE attempt SET state = 'fault', message = 'our disk' WHERE student = 'faulty'")
    upload(site, "faulty", 2, 400 * KIB)
    turns.rest()
    upload(site, "faulty", 3, 400 * KIB)
    assert folders(site, "faulty") == [1, 3]
    assert upload(site, "faulty", 4, 700 * KIB).status_code == 303
    assert folders(site, "faulty") == [4]
    assert "our disk Its files were removed" in instructor(site).get("/class").text
    attempts.again(site.store)
    assert states(site, "faulty") == ["fault", "graded", "replaced", "waiting"]


def test_the_same_file_may_come_again_if_it_was_removed(site: Site, turns: Turns) -> None:
    upload(site, "again", 1)
    turns.rest()
    assert upload(site, "again", 1).status_code == 400
    site.store.change("UPDATE attempt SET removed = 1 WHERE student = 'again'")
    assert upload(site, "again", 1).status_code == 303


def test_the_feedback_beside_an_attempt_takes_room_too(site: Site, turns: Turns) -> None:
    upload(site, "wordy", 1, 10 * KIB)
    (own,) = folder_of(site, "wordy").iterdir()
    (own / attempts.PAGE).write_bytes(b"x" * 900 * KIB)
    turns.rest()
    assert upload(site, "wordy", 2, 300 * KIB).status_code == 303
    assert folders(site, "wordy") == [2]


def test_uploads_that_arrive_together_fit_together(site: Site, turns: Turns) -> None:
    def send(number: int) -> None:
        content = BytesIO(b"%d" % number + b" " * 400 * KIB)
        upload = ("trio", NAME, *attempts.keep_upload(site.folder, "trio", NAME, content))
        attempts.enqueue(site.store, site.folder, upload, 100, 1 << 20)

    with ThreadPoolExecutor(6) as senders:
        list(senders.map(send, range(6)))
    assert sorted(states(site, "trio")) == ["replaced"] * 5 + ["waiting"]
    assert folders(site, "trio") == [5, 6]


def test_each_assignment_and_each_student_has_a_quota(site: Site, turns: Turns) -> None:
    for who, name in (("quota-1", NAME), ("quota-1", "2-heads"), ("quota-2", NAME)):
        assert upload(site, who, 1, 900 * KIB, name).status_code == 303
    assert [folders(site, "quota-1"), folders(site, "quota-1", "2-heads"), folders(site, "quota-2")] == [[1], [1], [1]]


def test_a_folder_that_a_killed_server_left_is_removed_and_an_upload_that_arrives_is_not(
    site: Site, turns: Turns
) -> None:
    upload(site, "leftover", 1)
    old, young = (
        folder_of(site, "leftover") / name for name in ("20200101T000000-00000000", "20300101T000000-00000000")
    )
    for folder in (old, young):
        folder.mkdir()
        (folder / "part").write_bytes(b"x" * 900 * KIB)
    os.utime(old, (0, 0))
    assert upload(site, "leftover", 2).status_code == 303
    assert (old.exists(), young.exists()) == (False, True)


def test_files_that_were_not_removed_before_a_kill_are_removed_by_the_next_upload(site: Site, turns: Turns) -> None:
    upload(site, "halfway", 1)
    turns.rest()
    site.store.change("UPDATE attempt SET removed = 1 WHERE student = 'halfway'")
    upload(site, "halfway", 2)
    assert folders(site, "halfway") == [2]
