"""The files of a class as nine platforms pack them: whose each is, which attempt counts, and whose name stands in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.submission.downloads import DOWNLOADS, WrongPattern, pattern_of_names
from grader.submission.file import SubmissionFile, Unreadable
from grader.submission.intake import find, read
from tests.submission.test_people import EXERCISES, KNOWN, LESSON_1, Files, either, packed, rows, said

BLACKBOARD_TEXT = (
    "Name: Ada Lovelace (stu_ada)\nAssignment: My_lab\nDate Submitted: Friday, November 20, 2026 10:15:33 AM EST\n"
    "Comments:\nName: Eve (stu_bob)\n"
)
GRADESCOPE_TEXT = """---
submission_111:
  :submitters:
  - :name: Ada Lovelace
    :sid: '4711'
    :email: ada@example.org
  :created_at: 2026-11-20 10:15:33.893438000 Z
  :score: !ruby/object:BigDecimal 18:0.0
  :history:
  - :id: 110
    :submitters:
    - :name: Eve
submission_112:
  :submitters:
  - :name: Grace Hopper
    :email: grace@example.org
  - :name: Emmy Noether
    :sid: 4713
submission_113:
  :submitters: []
"""
CLASSES: Mapping[str, tuple[Mapping[str, str], Mapping[str, tuple[str, bool]]]] = {
    "blackboard": (
        {
            "My_lab_stu_ada_attempt_2026-11-20-10-15-33_a.ipynb": LESSON_1,
            "My_lab_stu_ada_attempt_2026-11-20-10-15-33.txt": BLACKBOARD_TEXT,
            "My_lab_stu_bob_attempt_2026-11-21-10-15-33_b_attempt_2026-11-22-10-15-33_c.ipynb": LESSON_1,
            "My_lab_stu_bob_attempt_2026-11-21-10-15-33.txt": BLACKBOARD_TEXT.replace("ada", "bob").replace(
                "Ada", "Bob"
            ),
        },
        {"stu_ada": ("Ada Lovelace", False), "stu_bob": ("Bob Lovelace", False)},
    ),
    "brightspace": (
        {
            "index.html": "",
            "397063-2557369 - Ada Lovelace - Sep 24, 2026 926 PM/a.ipynb": LESSON_1,
            "397064-2557369 - Bob - Sep 4, 2026 1205 AM/b - Eve - Sep 24, 2026 926 PM.ipynb": LESSON_1,
        },
        {"397063": ("Ada Lovelace", False), "397064": ("Bob", False)},
    ),
    "sakai": (
        {
            "Lab/grades.csv": "",
            "Lab/Lovelace, Ada(al123)/Submission attachment(s)/a.ipynb": LESSON_1,
            "Lab/Lovelace, Ada(al123)/Feedback Attachment(s)/old.ipynb": LESSON_1,
            "Lab/Lovelace, Ada(al123)/comments.txt": "",
            "Lab/Lovelace, Ada(al123)/timestamp.txt": "20261120",
            "Lab/Plato(pl)/Submission attachment(s)/(x).ipynb": LESSON_1,
        },
        {"al123": ("Ada Lovelace", False), "pl": ("Plato", False)},
    ),
    "ilias": (
        {
            "Lab/Lovelace_Ada_al_123_4711/a.ipynb": LESSON_1,
            "Lab/Hopper_Grace_gh_4712/Late Submission - a.ipynb": LESSON_1,
        },
        {"al_123": ("", False), "gh": ("", True)},
    ),
    "openolat": (
        {
            "Lovelace_Ada_al123/1_task/task.ipynb": LESSON_1,
            "Lovelace_Ada_al123/2_submissions/a.ipynb": LESSON_1,
            "Lovelace_Ada_al123/3_review/old.ipynb": LESSON_1,
            "Hopper_Grace_gh/2_submissions/b.ipynb": LESSON_1,
            "results.xlsx": "",
        },
        {"al123": ("", False), "gh": ("", False)},
    ),
    "gradescope": (
        {
            "assignment_77_export/submission_metadata.yml": GRADESCOPE_TEXT,
            "assignment_77_export/submission_111/a.ipynb": LESSON_1,
            "assignment_77_export/submission_112/work/b.ipynb": LESSON_1,
            "assignment_77_export/submission_113/c.ipynb": LESSON_1,
        },
        {
            "4711": ("Ada Lovelace", False),
            "grace@example.org": ("Grace Hopper", False),
            "4713": ("Emmy Noether", False),
            "submission_113": ("", False),
        },
    ),
    "github": (
        {
            "my-lab-submissions/my-lab-ada-l/README.md": "",
            "my-lab-submissions/my-lab-ada-l/work/a.ipynb": LESSON_1,
            "my-lab-submissions/my-lab-grace/a.ipynb": LESSON_1,
        },
        {"ada-l": ("", False), "grace": ("", False)},
    ),
    "google": (
        {"lab - Ada Lovelace.ipynb": LESSON_1, "1 - 2 - Grace Hopper.ipynb": LESSON_1},
        {"Ada Lovelace": ("Ada Lovelace", False), "Grace Hopper": ("Grace Hopper", False)},
    ),
}


def test_there_is_a_class_for_every_platform() -> None:
    """tests/submission/test_people.py has those of Canvas and Moodle."""
    assert CLASSES.keys() | {"canvas", "moodle"} == {row.platform for row in DOWNLOADS}


@either
@pytest.mark.parametrize("platform", CLASSES)
def test_everybody_in_a_platforms_download_is_a_row(tmp_path: Path, lay, platform: str) -> None:
    files, expected = CLASSES[platform]
    found = rows(lay(tmp_path, dict(files)), "1-attention")
    assert {student: (file.name, file.late) for student, file in found.items()} == expected
    assert {file.platform for file in found.values()} == {platform}
    assert all(file.problem is None and read(file).cells for file in found.values())
    # But Brightspace's, their downloads tell the user name.
    assert {bool(file.lms_id) for file in found.values()} == {platform == "brightspace"}


@either
@pytest.mark.parametrize(
    ("student", "old", "new"),
    [
        ("al", "Lab_al_attempt_2026-11-20-10-15-33_1-attention.ipynb", "Lab_al_attempt_2026-11-21-09-15-33_x.ipynb"),
        ("39", "39-25 - Ada - Sep 24, 2026 926 AM/x.ipynb", "39-25 - Ada - Sep 24, 2026 110 PM/x.ipynb"),
        ("39", "39-25 - Ada - Sep 24, 2026 1230 AM/x.ipynb", "39-25 - Ada - Sep 24, 2026 115 AM/x.ipynb"),
        ("39", "39-25 - Ada - Sep 24, 2026 926 PM/x.ipynb", "39-25 - Ada - Oct 1, 2026 926 AM/x.ipynb"),
        ("ada", "Lovelace_Ada_ada_3/x (9).ipynb", "Lovelace_Ada_ada_3/x (10).ipynb"),
    ],
)
def test_the_newest_attempt_counts_and_the_note_says_so(tmp_path: Path, lay, student: str, old: str, new: str) -> None:
    others = ["Hopper_Grace_gh_4/x.ipynb"] if "Lovelace" in old else []
    found = rows(lay(tmp_path, [new, old, *others]), "1-attention")[student]
    assert found.problem is None
    assert found.place.endswith(new)
    assert found.note.startswith("the newest of 2 attempts; submitted as ")


def test_an_attempt_with_a_comment_alone_is_no_notebook(tmp_path: Path) -> None:
    name = "Lab_al_attempt_2026-11-20-10-15-33.txt"
    found = rows(packed(tmp_path, {name: "", "Lab_bo_attempt_2026-11-20-10-15-33_a.ipynb": LESSON_1}), "1-attention")
    assert said(found["al"]) == ("unreadable", f"not a notebook: {name}. Submit the .ipynb file.")
    assert found["bo"].problem is None


@pytest.mark.parametrize(
    ("heads", "students"),
    [
        (("Lab_ada", "Lab_bob"), {"ada", "bob"}),
        (("My_lab_a_1", "My_lab_a_2"), {"1", "2"}),  # without the text files nobody can tell
        (("My_lab_ada", "My_lab_adam_x"), {"ada", "adam_x"}),
        (("My_lab_ada",), {"ada"}),
    ],
)
def test_blackboards_user_names_without_its_text_files(
    tmp_path: Path, heads: tuple[str, ...], students: set[str]
) -> None:
    names = [f"{head}_attempt_2026-11-20-10-15-33_a.ipynb" for head in heads]
    assert set(rows(packed(tmp_path, names), "1-attention")) == students


def test_nobody_becomes_somebody_else_by_a_comment_to_blackboard(tmp_path: Path) -> None:
    """What a student types comes below the first line; and an id that the file's name does not end in is not believed."""
    files = {
        "Lab_eve_attempt_2026-11-20-10-15-33_a.ipynb": LESSON_1,
        "Lab_eve_attempt_2026-11-20-10-15-33.txt": "Name: Ada (ada)\n",
        "Lab_bob_attempt_2026-11-20-10-15-33_a.ipynb": LESSON_1,
    }
    assert set(rows(packed(tmp_path, files), "1-attention")) == {"eve", "bob"}


@pytest.mark.parametrize(
    ("names", "students"),
    [
        # A course, or a student, may be called as some platform writes.
        (["cs_101_attention_2026/ada/1-attention.ipynb", "cs_101_attention_2026/bob/1-attention.ipynb"], {"ada", "bob"}),
        (["cs_101_attention_2026/ada.ipynb", "cs_101_attention_2026/bob.ipynb"], {"ada", "bob"}),
        (["ada/2_x/1-attention.ipynb", "b_o_b/2_x/1-attention.ipynb"], {"ada", "b_o_b"}),
        (["ada.ipynb", "1-attention - Bob.ipynb"], {"ada", "1-attention - Bob"}),
        (["ada/1-attention/1-attention.ipynb", "bob/1-attention/a(ada).ipynb"], {"ada", "bob"}),
        (["submission_1/1-attention.ipynb", "submission_2/1-attention.ipynb"], {"submission_1", "submission_2"}),
        (["x-submissions/ada/1-attention.ipynb", "x-submissions/x-bob/1-attention.ipynb"], {"ada", "x-bob"}),
    ],
)  # fmt: skip
def test_folders_that_only_look_like_a_platforms_are_read_as_folders(
    tmp_path: Path, names: list[str], students: set[str]
) -> None:
    found = rows(packed(tmp_path, names), "1-attention")
    assert set(found) == students
    assert {file.platform for file in found.values()} == {""}


def test_metadata_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    for text in ("a: [", "- 1", ""):
        path = packed(tmp_path, {"submission_metadata.yml": text, "submission_1/a.ipynb": LESSON_1})
        with pytest.raises(Unreadable, match=r"submission_metadata\.yml cannot be read: .*Download it again"):
            rows(path, "1-attention")


def by_names(path: Path, pattern: str) -> dict[str, SubmissionFile]:
    return {file.student: file for file in find(path, KNOWN, "1-attention", EXERCISES, pattern_of_names(pattern))}


@either
def test_any_other_names_are_read_by_the_instructors_pattern(tmp_path: Path, lay) -> None:
    files: Files = [
        "ada lovelace/2/al-1-attention.ipynb",
        "ada lovelace/10/al-x.ipynb",
        "grace/1/gh-a.pdf",
        "notes.txt",
    ]
    found = by_names(lay(tmp_path, files), r"(?P<name>[^/]+)/(?P<attempt>\d+)/(?P<student>[a-z]+)-[^/]+")
    assert {student: file.name for student, file in found.items()} == {"al": "ada lovelace", "gh": "grace"}
    assert found["al"].place.endswith("10/al-x.ipynb")
    assert found["al"].note.startswith("the newest of 2 attempts")
    assert said(found["gh"])[0] == "unreadable"


def test_a_pattern_that_cannot_be_used_says_why(tmp_path: Path) -> None:
    for pattern, why in (
        ("(", "is not a regular expression"),
        ("(.*)", "needs the group"),
        ("(?P<student>.)(?P<id>.)", "may have"),
    ):
        with pytest.raises(WrongPattern, match=why):
            pattern_of_names(pattern)
    with pytest.raises(WrongPattern, match=r"'b/x\.ipynb' does not match --names"):
        by_names(packed(tmp_path, ["a/1.ipynb", "b/x.ipynb"]), r"(?P<student>[^/]+)/\d\.ipynb")
