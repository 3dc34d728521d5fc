"""`grader roster`: a platform's own list of the class gives the gradebook names, and who handed in nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.classes.gradebook.writer import add_students
from grader.records import Student
from grader.report.export import WrongOwnFile
from grader.report.services.roster import read_roster
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse
from tests.commands.platforms import CANVAS, download
from tests.commands.test_handback import CANVAS_EXPORT
from tests.report.test_moodle import OWN as WORKSHEET

TWO_COLUMNS = 'LastName,FirstName,ID,SIS Login ID,Section\n"=""=1+1""",Özge,12,oez,Mon\n'


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    return SmallCourse.make(tmp_path_factory.mktemp("roster") / "course")


def started(course: SmallCourse, folder: Path, ids: Iterable[str], *, lms: bool) -> str:
    """Make a gradebook with these students; return its URL."""
    url = f"sqlite:///{folder / 'gradebook.db'}"
    # As Canvas's zip tells names: in one word.
    people = [Student(id=id, last_name="lovelaceada", lms_id=id if lms else "") for id in ids]
    add_students(url, COURSE, people)
    return url


def stored(url: str) -> dict[str, tuple[str, str, str, str]]:
    with Gradebook(url, COURSE) as gradebook:
        return {
            one.id: (one.first_name or "", one.last_name or "", one.email or "", one.lms_user_id or "")
            for one in gradebook.students
        }


def named(course: SmallCourse, folder: Path, text: str, url: str, status: int = 0) -> str:
    (folder / "list.csv").write_text(text, encoding="utf-8")
    return course.grader("roster", str(folder / "list.csv"), "--gradebook", url, status=status)


def test_canvas_gives_the_names_that_its_zip_does_not_tell(course: SmallCourse, tmp_path: Path) -> None:
    url = started(course, tmp_path, ["12", "15", "77"], lms=True)
    said = named(course, tmp_path, CANVAS_EXPORT, url)
    assert said.startswith("updated the names of 2 students from list.csv, and added 3\n")
    assert "in the gradebook, but not in list.csv: 77" in said
    assert stored(url) == {
        "12": ("Ada", "Lovelace", "", "12"),
        "13": ("Grace", "Hopper", "", "13"),
        "14": ("Özge", "Ünal", "", "14"),
        "15": ("", "=1+1", "", "15"),
        "16": ("Carl", "Gauss", "", "16"),
        "77": ("", "lovelaceada", "", "77"),
    }
    before = stored(url)
    assert named(course, tmp_path, CANVAS_EXPORT, url).startswith("updated the names of 5 students")
    assert stored(url) == before


def test_where_the_gradebook_goes_by_logins_so_do_those_who_are_added(course: SmallCourse, tmp_path: Path) -> None:
    # 16 is a number of the school's here, and nobody's in Canvas.
    url = started(course, tmp_path, ["ada", "s-13", "16"], lms=False)
    said = named(course, tmp_path, CANVAS_EXPORT, url)
    assert "in the gradebook, but not in list.csv: 16" in said
    found = stored(url)
    assert {id: names[:2] for id, names in found.items()} == {
        "ada": ("Ada", "Lovelace"),
        "s-13": ("Grace", "Hopper"),
        "16": ("", "lovelaceada"),
        "ünal": ("Özge", "Ünal"),
        "plus": ("", "=1+1"),
        "carl": ("Carl", "Gauss"),
    }
    assert {names[3] for names in found.values()} == {""}


def test_moodle_s_worksheet_tells_addresses_too(course: SmallCourse, tmp_path: Path) -> None:
    url = started(course, tmp_path, ["4711"], lms=True)
    named(course, tmp_path, WORKSHEET, url)
    assert stored(url) == {
        "4711": ("Lovelace_Ada,", "=1+1", "ada@example.org", "4711"),
        "4712": ("Ünal", "Ö.", "b@example.org", "4712"),
        "4790": ("Handed in", "nothing", "c@example.org", "4790"),
    }


def test_who_handed_in_nothing_is_on_the_page_of_the_class(course: SmallCourse, tmp_path: Path) -> None:
    zipped = download(tmp_path / "c.zip", {"12": CANVAS["12"]}, course.submit("t", "1.1").read_bytes())
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    course.grader("grade", str(zipped), "--assignment", NAME, "--gradebook", url)
    named(course, tmp_path, CANVAS_EXPORT, url)
    assert "4 submitted nothing" in course.grader("report", "--gradebook", url)
    exported = course.grader("export", "canvas", "--gradebook", url)
    assert '"Lovelace, Ada",12' in exported
    assert ",13," not in exported


def test_a_name_in_two_columns_is_read() -> None:
    assert read_roster(TWO_COLUMNS) == {Student(id="12", first_name="Özge", last_name="=1+1", lms_id="12"): ("oez",)}


@pytest.mark.parametrize(
    ("person", "kept"),
    [
        ('"Student, Test",99,,1b6453892473a467d07372d45eb05abc2031647a,"Monday, 8:00 and Tuesday_2"', False),
        ('"Estudiante, Prueba",99,,e5e9fa1ba31ecd1ae84f75caaa474f3a663f05f4,Tuesday_2', False),
        ('"Student, Test",99,,,Tuesday_2', False),
        ('"Student, Test",99,s-99,,Tuesday_2', True),
        ('"Student, Test",99,,tstudent,Tuesday_2', True),
        ('"Weiß, Ada",99,s-99,1b6453892473a467d07372d45eb05abc2031647a,Tuesday_2', True),
        ('"Weiß, Ada",99,,,Tuesday_2', True),
    ],
)
def test_canvas_s_test_student_is_nobody(person: str, kept: bool) -> None:
    # Canvas writes its row among the others, with a login that it made up and no number of the school's.
    listed = read_roster(f"{CANVAS_EXPORT}{person},,\n")
    assert [one.id for one in listed] == ["12", "13", "14", "15", "16", *["99"] * kept]


@pytest.mark.parametrize(("text", "message"), [("a,b\n1,2\n", "it is not a list of a class"), ("\n", "it is empty")])
def test_another_file_is_refused(course: SmallCourse, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(WrongOwnFile, match=message):
        read_roster(text)
    said = named(course, tmp_path, text, f"sqlite:///{tmp_path / 'g.db'}", status=2)
    assert said.startswith(f"grader: {tmp_path / 'list.csv'}: {message}")
    assert not (tmp_path / "g.db").exists()


def test_a_list_of_ones_own_goes_in_as_the_refusal_says(course: SmallCourse, tmp_path: Path) -> None:
    url, text = f"sqlite:///{tmp_path / 'g.db'}", "id,first_name,last_name,email\nada,Ada,Weiß,ada@example.org\n"
    with pytest.raises(
        WrongOwnFile, match="run nbgrader db student import FILE: a CSV file with the columns id, first"
    ):
        read_roster(text)
    (tmp_path / "own.csv").write_text(text, "utf-8")
    course.nbgrader(("db", "student", "import", str(tmp_path / "own.csv"), f"--CourseDirectory.db_url={url}"))
    assert stored(url)["ada"][:3] == ("Ada", "Weiß", "ada@example.org")


def test_a_list_without_students_and_one_that_is_not_there(course: SmallCourse, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'g.db'}"
    assert "contains no students" in named(course, tmp_path, "ID,Section\n", url, status=2)
    said = course.grader("roster", str(tmp_path / "nowhere.csv"), status=2)
    assert "nowhere.csv: cannot read this file: No such file or directory" in said
