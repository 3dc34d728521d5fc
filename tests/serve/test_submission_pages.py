"""The instructor's page of a student at an assignment: code, attempts, appeals, extension; due dates; and downloads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from nbgrader.api import Gradebook

from grader.classes.gradebook.reader import read_due_dates, read_entry
from grader.records import GradebookEntry
from grader.serve import attempts
from grader.serve.site import Site, open_site
from tests.classes.gradebook.small_course import COURSE, NAME
from tests.serve.people import Person, grade, instructor, open_course, set_due, solved, student

HERE = f"/class/students/ada/{NAME}"
POINTS_PER_DAY = "c.AssignLatePenalties.plugin_class = 'grader.classes.nbgrader_plugins.late.PointsPerDay'\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A course in which a day late costs 6 points, and Ada has submitted twice and appealed."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADER_SECRET", "test")
        root = open_course(tmp_path_factory.mktemp("pages") / "course").root
        with (root / "nbgrader_config.py").open("a") as file:
            file.write(f"{POINTS_PER_DAY}c.PointsPerDay.points = 6.0\n")
        site = open_site(root, None)
        patched.setenv("GRADER_COURSE", str(root))
        ada = student(site)
        for content in (solved(site, "1.1"), uploads(site)):
            assert ada.hands_in(content).status_code == 303
            grade(site)
        assert ada.posts(f"/a/{NAME}/appeals", exercise="1.2", text="Please look <b>again</b>.").status_code == 303
        yield site


def uploads(site: Site) -> bytes:
    """Return Ada's second upload: 1.1 and 1.3 are right, and 1.2 has a student's remark in it and is wrong."""
    return solved(
        site,
        "1.1",
        "1.2",
        "1.3",
        **{"return attention_scores": "# <script>mine</script>\n    return 1 + attention_scores"},
    )


def entry(site: Site, person: str = "ada") -> GradebookEntry:
    found = read_entry(site.gradebook, COURSE, person, NAME)
    assert found is not None
    return found


def test_the_report_of_the_class_links_to_the_page(course: Site) -> None:
    eva = instructor(course)
    links = set(re.findall(r'href="(/class/students/[^"#]+)(#[^"]+)?"', eva.get("/class/report").text))
    assert (HERE, "") in links
    assert (HERE, "#1.2") in links
    assert 'id="1.2"' in eva.get(HERE).text


def section(page: str, id: str) -> str:
    """Return the part of the page about one exercise."""
    (found,) = [part for part in page.split('<section class="card">') if f"<h2>{id} ·" in part]
    return found


def test_the_page_shows_points_code_and_message_of_each_exercise(course: Site) -> None:
    page = instructor(course).get(HERE).text
    assert "<h1>Ada Lovelace (ada)</h1>" in page
    verdicts = {verdict.id: verdict for verdict in entry(course).grade.verdicts}
    assert re.findall(r"<h2>([\dP.]+) ·", page)[: len(verdicts)] == list(verdicts)
    wrong = section(page, "1.2")
    assert "0 of 5" in wrong
    assert "# &lt;script&gt;mine&lt;/script&gt;\n    return 1 + attention_scores(query, key)" in wrong  # with its lines
    told = verdicts["1.2"].hint or verdicts["1.2"].message
    assert told.split("`")[0].split(".")[0] in unescape(wrong)
    assert "<script>mine" not in page


def test_points_that_a_person_gave_for_a_question_replace_no_points(course: Site) -> None:
    eva = instructor(course)
    assert '<span class="points">no points</span>' in section(eva.get(HERE).text, "1.Q1")
    for points, says in ((2.0, "2 points"), (None, "no points")):
        with Gradebook(course.gradebook, COURSE) as gradebook:
            (notebook,) = gradebook.find_submission(NAME, "ada").notebooks
            (own,) = [grade for grade in notebook.grades if grade.name == "written-1-Q1"]
            own.manual_score = points
            gradebook.db.commit()
        assert f'<span class="points">{says}</span>' in section(eva.get(HERE).text, "1.Q1")


def test_the_page_lists_all_attempts(course: Site) -> None:
    page = instructor(course).get(HERE).text
    rows = re.findall(r'<tr>\s*<th scope="row">(\d)</th>(.*?)</tr>', page, re.DOTALL)
    assert [nth for nth, _ in rows] == ["2", "1"]
    assert ["counts" in row for _, row in rows] == [True, False]
    for nth, row in rows:
        feedback, notebook = re.findall(r'href="([^"]+)"', row)
        assert (feedback, notebook) == (f"{HERE}/attempts/{nth}", f"{HERE}/attempts/{nth}/notebook")
        answer = instructor(course).get(feedback)
        assert "Feedback for" in answer.text
        assert "sandbox" in answer.headers["content-security-policy"]


def test_an_appeal_is_decided_beside_the_code(course: Site) -> None:
    eva = instructor(course)
    assert f'href="{HERE}#appeal-1"' in eva.get("/class").text
    asked = section(eva.get(HERE).text, "1.2")
    assert 'id="appeal-1"' in asked
    assert "Please look &lt;b&gt;again&lt;/b&gt;." in asked
    assert "no decision yet" in asked
    decided = eva.posts("/class/appeals/1", points="3", comment="Half of it.")
    assert (decided.status_code, decided.headers["location"]) == (303, HERE)
    after = section(eva.get(HERE).text, "1.2")
    assert "3 of 5" in after
    assert "you set the points on" in after
    assert "Half of it." in after
    assert 'action="/class/appeals/' not in after


def test_a_student_without_a_submission_has_a_page(course: Site) -> None:
    page = instructor(course).get(f"/class/students/bob/{NAME}").text
    assert "nothing submitted" in page
    assert "The feedback page" not in page


@pytest.mark.parametrize("path", [f"nobody/{NAME}", "ada/9-none", f"../{NAME}", f"ada/{NAME}/attempts/3", f"ada/{NAME}/attempts/1.0"])  # fmt: skip
def test_what_is_not_there_has_no_page(course: Site, path: str) -> None:
    assert instructor(course).browser.get(f"/class/students/{path}").status_code == 404


# ---------------------------------------------------------------- downloads


def test_a_student_downloads_what_was_uploaded(course: Site) -> None:
    ada = student(course)
    links = re.findall(rf'href="(/a/{NAME}/attempts/\d/notebook)" download', ada.get(f"/a/{NAME}").text)
    second, first = (ada.get(link) for link in links)
    assert second.content == uploads(course)
    assert first.content == solved(course, "1.1")
    assert second.headers["content-disposition"] == f'attachment; filename="ada-{NAME}-2.ipynb"'
    assert second.headers["content-type"] == "application/x-ipynb+json"
    assert second.headers["x-content-type-options"] == "nosniff"
    assert instructor(course).get(f"{HERE}/attempts/2/notebook").content == uploads(course)


def test_nobody_else_downloads_it(course: Site) -> None:
    bob, guest = student(course, "bob"), Person.of(course)
    for path in (f"/a/{NAME}/attempts/1/notebook", f"/a/{NAME}/attempts/2/notebook?student=ada"):
        assert bob.get(path).status_code == 404
        assert guest.get(path).status_code == 401
    for path in (HERE, f"{HERE}/attempts/1", f"{HERE}/attempts/1/notebook", "/class/table.csv"):
        assert student(course).get(path).status_code == 404  # not even the student's own
        assert bob.get(path).status_code == 404
        assert guest.get(path).status_code == 401


def test_an_attempt_whose_files_were_removed_says_so(course: Site) -> None:
    ada, (_, first) = student(course), attempts.attempts_of(course.store, "ada")
    course.store.change("UPDATE attempt SET removed = 1 WHERE id = ?", first.id)
    folder = attempts.folder_of(course.folder, "ada", NAME, first.place)
    hidden = folder.rename(folder.with_name("elsewhere"))
    try:
        assert ada.get(f"/a/{NAME}").text.count('/notebook" download>download') == 1
        answer = ada.get(f"/a/{NAME}/attempts/1/notebook")
        assert (answer.status_code, "removed to make room" in answer.text) == (404, True)
    finally:
        hidden.rename(folder)
        course.store.change("UPDATE attempt SET removed = 0 WHERE id = ?", first.id)


# ---------------------------------------------------------------- due dates and extensions


@pytest.fixture
def dated(course: Site) -> Iterator[Site]:
    """The course with a due date in January, without one afterwards."""
    set_due(course, datetime(2031, 1, 31, 18))
    yield course
    with Gradebook(course.gradebook, COURSE) as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=None)
        for submission in gradebook.assignment_submissions(NAME):
            submission.extension = None
        gradebook.db.commit()


def test_a_due_date_is_set_changed_and_removed(dated: Site) -> None:
    eva = instructor(dated)
    assert 'name="due" value="2031-01-31T18:00:00"' in eva.get("/class").text
    assert eva.posts("/class/due", assignment=NAME, due="2032-02-29T17:30").status_code == 303
    assert read_due_dates(dated.gradebook, COURSE, "ada") == {NAME: datetime(2032, 2, 29, 17, 30, tzinfo=UTC)}
    assert "29 Feb 2032, 17:30 UTC" in student(dated).get(f"/a/{NAME}").text
    assert eva.posts("/class/due", assignment=NAME, due="2032-02-29T23:59:59").status_code == 303
    assert 'name="due" value="2032-02-29T23:59:59"' in eva.get("/class").text  # saved again, it keeps its seconds
    assert eva.posts("/class/due", assignment=NAME, due="").status_code == 303
    assert read_due_dates(dated.gradebook, COURSE, "ada") == {}


@pytest.mark.parametrize(
    "due", ["soon", "2031-02-30T12:00", "2031-01-31", "31.01.2031 18:00", "1999-01-01T00:00", "9999-12-31T23:59", "2031-01-31T25:00",
            "2031-01-31T18:00+02:00", "٢٠٣١-01-31T18:00", "2031-W05-5T18:00"],
)  # fmt: skip
def test_a_date_that_is_none_is_refused(dated: Site, due: str) -> None:
    answer = instructor(dated).posts("/class/due", assignment=NAME, due=due)
    assert (answer.status_code, "is not a date with a time. Write it in UTC as in 2030-01-31T18:00" in answer.text) == (
        400,
        True,
    )
    assert read_due_dates(dated.gradebook, COURSE, "ada") == {NAME: datetime(2031, 1, 31, 18, tzinfo=UTC)}


def test_points_follow_a_due_date_and_an_extension(dated: Site) -> None:
    eva, ada = instructor(dated), student(dated)
    before = entry(dated).score
    past = datetime.now(UTC) - timedelta(hours=2)
    assert eva.posts("/class/due", assignment=NAME, due=f"{past:%Y-%m-%dT%H:%M}").status_code == 303
    assert entry(dated).score == (before or 0.0) - 6.0
    assert "The submission was late: 6 points were subtracted." in ada.get(f"/a/{NAME}/feedback").text
    assert "The submission was late: 6 points" in eva.get(HERE).text
    answer = eva.posts(f"{HERE}/extension", hours="30,5")
    assert (answer.status_code, answer.headers["location"]) == (303, HERE)
    assert entry(dated).score == before
    page = eva.get(HERE).text
    assert 'value="30.5"' in page
    assert f"{past + timedelta(hours=30.5):%d %b %Y, %H:%M} UTC" in page
    assert "The submission was late" not in ada.get(f"/a/{NAME}/feedback").text
    assert eva.posts(f"{HERE}/extension", hours="").status_code == 303
    assert entry(dated).score == (before or 0.0) - 6.0


def test_the_best_attempt_is_the_best_with_the_extension(dated: Site) -> None:
    """Without the extension Cleo's first attempt is worth 10 - 6 = 4 points, and the second one, in time, 5."""
    rules, cleo, eva = dated.root / "serve.toml", student(dated, "cleo"), instructor(dated)
    rules.write_text('[every]\ncounts = "best"\n')
    set_due(dated, (datetime.now(UTC) - timedelta(hours=2)).replace(tzinfo=None))
    cleo.hands_in(solved(dated, "1.1", "1.2", remark="cleo"))
    grade(dated)
    assert entry(dated, "cleo").score == 4.0
    assert eva.posts(f"/class/students/cleo/{NAME}/extension", hours="9").status_code == 303
    cleo.hands_in(solved(dated, "1.1", remark="cleo again"))
    grade(dated)
    rules.unlink()
    assert entry(dated, "cleo").score == 10.0


def test_an_extension_before_the_first_attempt(dated: Site) -> None:
    eva = instructor(dated)
    assert eva.posts(f"/class/students/bob/{NAME}/extension", hours="2").status_code == 303
    assert "31 Jan 2031, 20:00 UTC" in student(dated, "bob").get(f"/a/{NAME}").text
    assert "31 Jan 2031, 18:00 UTC" in student(dated, "ada").get(f"/a/{NAME}").text
    assert "nothing submitted" in eva.get(f"/class/students/bob/{NAME}").text


@pytest.mark.parametrize("hours", ["-1", "1e3", "nan", "inf", "10000", "soon", "٣", "1.234", "1:30"])
def test_hours_that_are_none_are_refused(dated: Site, hours: str) -> None:
    answer = instructor(dated).posts(f"{HERE}/extension", hours=hours)
    assert (answer.status_code, "is not a number of hours from 0 to 9999" in answer.text) == (400, True)
    assert read_due_dates(dated.gradebook, COURSE, "ada") == {NAME: datetime(2031, 1, 31, 18, tzinfo=UTC)}


def test_what_is_not_there_has_no_due_date_and_no_extension(course: Site) -> None:
    eva = instructor(course)
    assert "This assignment has no due date." in eva.get(HERE).text
    without = eva.posts(f"{HERE}/extension", hours="2")
    assert (without.status_code, "has no due date, so there is none to extend" in without.text) == (409, True)
    assert eva.posts("/class/due", assignment="9-none", due="2031-01-31T18:00").status_code == 404
    for path in (f"nobody/{NAME}", "ada/9-none"):
        assert eva.posts(f"/class/students/{path}/extension", hours="2").status_code == 404


def test_a_student_sets_no_date(dated: Site) -> None:
    ada = student(dated)
    for path, values in (("/class/due", {"assignment": NAME, "due": ""}), (f"{HERE}/extension", {"hours": "99"})):
        sent = {"form_token": ada.token(), **values}
        assert ada.browser.post(path, data=sent).status_code == 404
        assert Person.of(dated).browser.post(path, data=sent).status_code == 401
        assert instructor(dated).browser.post(path, data=values).status_code == 403  # without the form's token
    assert read_due_dates(dated.gradebook, COURSE, "ada") == {NAME: datetime(2031, 1, 31, 18, tzinfo=UTC)}
