"""Round trips: a platform's download is graded, and what goes back has the platform's own names and numbers."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.classes.gradebook.read_exports import score_on
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse
from tests.commands.platforms import CANVAS, MOODLE, MOODLE_WITHOUT_FOLDERS, canvas_takes, download, moodle_takes

CANVAS_EXPORT = '''\
Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (87568490),Final Score
    Points Possible,,,,,100.00,(read only)
"Lovelace, Ada",12,s-12,ada,"Monday, 8:00",,
"Hopper, Grace",13,s-13,grace,Tuesday_2,,
"Ünal, Özge",14,s-14,ünal,Tuesday_2,,
"=""=1+1""",15,s-15,plus,Tuesday_2,,
"Gauss, Carl",16,s-16,carl,Monday,,
'''


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    return SmallCourse.make(tmp_path_factory.mktemp("handback") / "course")


def graded(course: SmallCourse, name: str, names: dict[str, str]) -> tuple[Path, str]:
    """Grade a download into a gradebook of its own; return the zip and the gradebook's URL."""
    book = course.submit("template", "1.1").read_bytes()
    folder = course.root / name
    folder.mkdir()
    zipped = download(folder / "submissions.zip", names, book)
    url = f"sqlite:///{folder / 'gradebook.db'}"
    typed_in = any(not member.endswith(".ipynb") for member in names.values())
    course.grader("grade", str(zipped), "--assignment", NAME, "--gradebook", url, status=int(typed_in))
    return zipped, url


@pytest.fixture(scope="module")
def canvas(course: SmallCourse) -> tuple[Path, str]:
    return graded(course, "canvas", CANVAS)


@pytest.fixture(scope="module")
def moodle(course: SmallCourse) -> tuple[Path, str]:
    return graded(course, "moodle", MOODLE)


# As Moodle 4.2.3 wrote both, but that Bo has submitted.
DRAFTS = {
    "4": "Ada Lovelace_4_assignsubmission_file/1-attention.ipynb",
    "2": "Bo Müller-Kühn_2_assignsubmission_file/1-attention.ipynb",
    "1": "Zoë ONeil_1_assignsubmission_file/1-attention.ipynb",
}
DRAFTS_WORKSHEET = """\
\ufeffIdentifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed","Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 4","Ada Lovelace",s0@uni.example,"Draft (not submitted)",,100.00,Yes,"Tuesday, 24 November 2026, 3:21 PM",-,
"Participant 1","Zoë O'Neil",s1@uni.example,"Draft (not submitted)",,100.00,Yes,"Tuesday, 24 November 2026, 3:21 PM",-,
"Participant 2","Bo Müller-Kühn",s2@uni.example,"Submitted for grading",,100.00,Yes,"Tuesday, 24 November 2026, 3:21 PM",-,
"Participant 3","Dana García",s3@uni.example,"No submission",,100.00,Yes,-,-,
"""


def test_moodle_s_drafts_have_a_flag_until_they_are_submitted(course: SmallCourse, tmp_path: Path) -> None:
    zipped = download(tmp_path / "drafts.zip", DRAFTS, course.submit("template", "1.1").read_bytes())
    worksheet, lines = tmp_path / "worksheet.csv", tmp_path / "lines"
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"

    def flagged(text: str) -> set[str]:
        worksheet.write_text(text, "utf-8")
        words = ("--gradebook", url, "--worksheet", str(worksheet), "--json", str(lines))
        said = course.grader("grade", str(zipped), "--assignment", NAME, *words)
        flags = {one["student"]: one["flags"] for one in map(json.loads, lines.read_text("ascii").splitlines())}
        assert said.count("[draft]") == sum(map(len, flags.values()))
        return {student for student, found in flags.items() if [one["kind"] for one in found] == ["draft"]}

    assert flagged(DRAFTS_WORKSHEET) == {"4", "1"}
    said = course.grader(
        *("export", "moodle", "--gradebook", url, "--fill", str(worksheet), "--out", str(tmp_path / "back.csv"))
    )
    assert "grader: have a score for a submission that is still a draft in Moodle: 1, 4\n" in said
    assert flagged(DRAFTS_WORKSHEET.replace("Draft (not submitted)", "Submitted for grading", 1)) == {"1"}


def contents(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode("utf-8") for name in archive.namelist()}


def test_canvas_gets_back_each_notebook_under_exactly_its_name(
    course: SmallCourse, canvas: tuple[Path, str], tmp_path: Path
) -> None:
    zipped, url = canvas
    out, back = tmp_path / "canvas.csv", tmp_path / "back.zip"
    said = course.grader(
        *("export", "canvas", "--gradebook", url, "--out", str(out), "--column", "87568490"),
        *("--feedback", str(back), "--submissions", str(zipped)),
    )
    files = contents(back)
    assert set(files) == set(CANVAS.values()) - {CANVAS["16"]}
    for student, name in CANVAS.items():
        if name in files:
            assert canvas_takes(name) == (student, name.split(f"{student}_")[1].partition("_")[0])
            notebook = json.loads(files[name])
            assert "feedback for " in notebook["cells"][0]["source"]
            assert "**5 of 100 points**" in notebook["cells"][0]["source"]
    assert "these students submitted no notebook, so Canvas accepts no feedback file for them" in said
    assert "Send each of them their page: 16" in said
    with out.open(encoding="utf-8", newline="") as lines:
        head, _, *rows = csv.reader(lines)
    assert head[-1] == f"{NAME} (87568490)"
    # An anonymous id is no number of Canvas's gradebook, but the only one that its download tells.
    assert {row[1]: row[-1] for row in rows} == {id: "0" if id == "16" else "5" for id in CANVAS}


def test_canvas_s_own_export_gives_names_sections_and_the_column(
    course: SmallCourse, canvas: tuple[Path, str], tmp_path: Path
) -> None:
    own = tmp_path / "own.csv"
    own.write_text(CANVAS_EXPORT, encoding="utf-8")
    out = tmp_path / "canvas.csv"
    said = course.grader(
        *("export", "canvas", "--gradebook", canvas[1], "--out", str(out)), *("--column", "Lab 1", "--fill", str(own))
    )
    with out.open(encoding="utf-8", newline="") as lines:
        head, _, *rows = csv.reader(lines)
    assert head[4:] == ["Section", "Lab 1 (87568490)"]
    theirs = list(csv.reader(CANVAS_EXPORT.splitlines()))[2:]
    found = {row[1]: row for row in rows}
    for row in theirs:
        assert found[row[1]][1:5] == row[1:5]
        assert found[row[1]][0].removeprefix("'") == row[0]
    assert "leaves them out: x7Kq2" in said


def test_moodle_gets_each_page_where_it_looks_for_it(
    course: SmallCourse, moodle: tuple[Path, str], tmp_path: Path
) -> None:
    zipped, url = moodle
    out, back = tmp_path / "moodle.csv", tmp_path / "back.zip"
    course.grader(
        *("export", "moodle", "--gradebook", url, "--out", str(out)),
        *("--feedback", str(back), "--submissions", str(zipped)),
    )
    files = contents(back)
    folders = {name.split("/")[0] for name in MOODLE.values()}
    assert {name.split("/")[0] for name in files} == folders
    assert {moodle_takes(name)[0] for name in files} == set(MOODLE)
    for name, page in files.items():
        student, shown = moodle_takes(name)
        assert shown.strip("/") == f"{NAME}.html"
        assert f"({student})" in page
        assert page.rstrip().endswith(" -->")
    with out.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert {row["Identifier"]: row["Grade"] for row in rows} == {
        f"Participant {id}": "0.00" if id == "4714" else "5.00" for id in MOODLE
    }
    by_id = {row["Identifier"]: row for row in rows}
    assert by_id["Participant 4712"]["Full name"] == "Ünal Özge 曉"
    assert by_id["Participant 4713"]["Full name"] == "'=1+1, Inc"
    assert "1.2" in by_id["Participant 4711"]["Feedback comments"]
    assert "not a notebook" in by_id["Participant 4714"]["Feedback comments"]


def test_a_download_of_moodle_without_folders_goes_back_without_folders(course: SmallCourse, tmp_path: Path) -> None:
    zipped, url = graded(course, "flat", MOODLE_WITHOUT_FOLDERS)
    back = tmp_path / "back.zip"
    course.grader(
        *("export", "moodle", "--gradebook", url, "--out", str(tmp_path / "m.csv")),
        *("--feedback", str(back), "--submissions", str(zipped)),
    )
    assert {moodle_takes(name) for name in contents(back)} == {("4711", f"{NAME}.html"), ("4713", f"{NAME}.html")}


def test_the_names_of_the_download_are_in_the_gradebook(moodle: tuple[Path, str], canvas: tuple[Path, str]) -> None:
    with Gradebook(moodle[1], COURSE) as gradebook:
        names = {one.id: f"{one.first_name or ''} {one.last_name or ''}".strip() for one in gradebook.students}
        assert {one.id: one.lms_user_id for one in gradebook.students} == {id: id for id in MOODLE}
    assert names == {"4711": "Ada Lovelace", "4712": "Ünal Özge 曉", "4713": "=1+1, Inc", "4714": "Gauß Carl"}


def test_a_newer_file_and_one_that_is_not_graded_are_named(
    course: SmallCourse, canvas: tuple[Path, str], tmp_path: Path
) -> None:
    newer = download(
        tmp_path / "newer.zip",
        {"12": CANVAS["12"], "77": "new_77_999_1-attention.ipynb"},
        course.submit("template", "1.1", "1.2").read_bytes(),
    )
    said = course.grader(
        *("export", "canvas", "--gradebook", canvas[1], "--out", str(tmp_path / "c.csv")),
        *("--feedback", str(tmp_path / "back.zip"), "--submissions", str(newer)),
    )
    assert "differs from the graded submission. Grade these again: 12" in said
    assert "these students have no grade yet, so the zip contains no feedback for them: 77" in said
    assert set(contents(tmp_path / "back.zip")) == {CANVAS["12"]}


def test_the_same_feedback_gives_the_same_bytes(course: SmallCourse, moodle: tuple[Path, str], tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        course.grader(
            *("export", "moodle", "--gradebook", moodle[1], "--out", str(tmp_path / "m.csv"), "--force"),
            *("--feedback", str(tmp_path / name), "--submissions", str(moodle[0])),
        )
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


BRIGHTSPACE = {
    "397063": "397063-2557369 - Ada Lovelace - Sep 24, 2026 926 PM/a.ipynb",
    "397064": "397064-2557369 - Grace Hopper - Sep 24, 2026 1205 AM/work/a.ipynb",
}
SAKAI = {
    "al": "Lab/Lovelace, Ada(al)/Submission attachment(s)/a.ipynb",
    "gh": "Lab/Hopper, Grace(gh)/Submission attachment(s)/b.ipynb",
}
OPENOLAT = {"al": "Lovelace_Ada_al/2_submissions/a.ipynb", "gh": "Hopper_Grace_gh/2_submissions/b.ipynb"}
PAGE = f"{NAME}.html"


@pytest.mark.parametrize(
    ("service", "names", "pages", "words"),
    [
        (
            "brightspace",
            BRIGHTSPACE,
            {f"{name.partition('/')[0]}/{PAGE}" for name in BRIGHTSPACE.values()},
            ("--fill", "{own}"),
        ),
        (
            "sakai",
            SAKAI,
            {f"Lab/{who}/Feedback Attachment(s)/{PAGE}" for who in ("Lovelace, Ada(al)", "Hopper, Grace(gh)")},
            (),
        ),
        ("openolat", OPENOLAT, {f"al/{PAGE}", f"gh/{PAGE}"}, ()),
    ],
)
def test_platforms_that_take_folders_get_each_page_in_the_students_own(
    course: SmallCourse, tmp_path: Path, service: str, names: dict[str, str], pages: set[str], words: tuple[str, ...]
) -> None:
    zipped, url = graded(course, service, names)
    own, out, back = tmp_path / "own.csv", tmp_path / "scores.csv", tmp_path / "back.zip"
    own.write_text(
        "OrgDefinedId,Username,Last Name,First Name,End-of-Line Indicator\n#1,#ada,Lovelace,Ada,#\n#2,#grace,Hopper,Grace,#\n"
    )
    arguments = ("export", service, "--gradebook", url, "--out", str(out), *(word.format(own=own) for word in words))
    course.grader(*arguments, "--feedback", str(back), "--submissions", str(zipped))
    assert set(contents(back)) == pages
    assert [score_on(page) for page in contents(back).values()] == ["5", "5"]
    assert out.read_text().count("5") >= 2
    before = out.read_bytes()
    assert "already there" in course.grader(*arguments, status=2)
    assert out.read_bytes() == before
    course.grader(*arguments, "--force")


def test_a_download_of_blackboard_goes_back_in_its_own_columns(course: SmallCourse, tmp_path: Path) -> None:
    names = {who: f"My_lab_{who}_attempt_2026-11-20-10-15-33_a.ipynb" for who in ("ada", "bob")}
    _, url = graded(course, "blackboard", names)
    own, out, column = tmp_path / "own.xls", tmp_path / "scores.xls", "Lab 1 [Total Pts: 100 Score] |664617"
    lines = [
        ["Last Name", "Username", "Lab 0 [Total Pts: 5 Score] |664616", column],
        *(["", who, "", ""] for who in names),
    ]
    own.write_text("".join("\t".join(f'"{cell}"' for cell in line) + "\n" for line in lines), encoding="utf-16")
    course.grader(
        *("export", "blackboard", "--gradebook", url, "--out", str(out)), *("--column", "664617", "--fill", str(own))
    )
    assert out.read_bytes()[:2] in (b"\xff\xfe", b"\xfe\xff")
    expected = [["Username", column], ["ada", "5"], ["bob", "5"]]
    assert list(csv.reader(out.read_text("utf-16").splitlines(), delimiter="\t")) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("moodle", "--feedback", "{tmp}/f.zip", "--submissions", "{canvas}"), "is a name of Canvas"),
        (("canvas", "--feedback", "{tmp}/f.zip", "--submissions", "{moodle}"), "is a name of Moodle"),
        (("canvas", "--feedback", "{tmp}/f.zip", "--submissions", "submitted"), "is no name of Canvas"),
        (("canvas", "--feedback", "{tmp}/f.zip"), "--feedback and --submissions need each other"),
        (("csv", "--feedback", "{tmp}/f.zip", "--submissions", "{canvas}"), "--feedback works only with canvas, moodle, brightspace"),
        (("moodle", "--column", "1"), "--column works only with canvas, blackboard, brightspace, sakai, not with moodle"),
        (("gradescope", "--fill", "{canvas}"), "not with gradescope"),
        (("canvas", "--fill", "{canvas}"), "submissions.zip: it is neither UTF-8 nor UTF-16"),
        (("canvas", "--fill", "{tmp}/nowhere.csv"), "nowhere.csv: cannot read this file: No such file"),
        (("canvas", "--feedback", "{tmp}/f.zip", "--submissions", "{tmp}/nowhere.zip"), "nowhere.zip does not exist"),
    ],
)  # fmt: skip
def test_a_wrong_use_is_one_line_and_writes_nothing(
    course: SmallCourse,
    canvas: tuple[Path, str],
    moodle: tuple[Path, str],
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    course.submit("template", "1.1")
    places = {"tmp": tmp_path, "canvas": canvas[0], "moodle": moodle[0]}
    words = [word.format_map(places) for word in arguments]
    out = tmp_path / "out.csv"
    url = moodle[1] if words[0] == "moodle" else canvas[1]
    said = course.grader("export", *words, "--gradebook", url, "--out", str(out), status=2)
    assert said.count("\n") == 1
    assert message in said
    assert list(tmp_path.iterdir()) == []
