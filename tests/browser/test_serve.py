"""A student hands in, in a real browser against the real server: wrong, told why, mended, full marks. Pictures: artefacts/."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from examples.make import ROOT
from grader.records import Student
from grader.serve.lti_calls import own_key
from grader.serve.settings import read_settings
from tests.browser.chromium import chromium_or_skip
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse
from tests.serve.running import course_on_free_port, running
from tests.serve.school import open_school
from tests.serve.test_hub import SECRET, real_hub

CHROMIUM = chromium_or_skip()
ARTEFACTS = ROOT / "artefacts"
PATIENCE = 120_000  # milliseconds
DESK, PHONE = ViewportSize(width=1200, height=900), ViewportSize(width=375, height=812)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SOLUTION = ROOT / "solutions" / NAME / f"{NAME}.ipynb"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    """A course with two students and a due date."""
    people = [Student(id="s1", first_name="Ada", last_name="Lovelace"), Student(id="s2")]
    made = course_on_free_port(tmp_path_factory.mktemp("serve") / "course", people)
    with Gradebook(made.url, COURSE) as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=datetime(2036, 1, 31, 18))
    return made


@pytest.fixture(scope="module")
def address(course: SmallCourse) -> Iterator[str]:
    with running(course) as url:
        yield url


@pytest.fixture(scope="module")
def links(course: SmallCourse) -> dict[str, str]:
    """The link of each person, as `grader roster` writes them."""
    said = course.grader("roster", "--links", "links.csv", "--instructor", "eva")
    rows = (course.root / "links.csv").read_text("utf-8").splitlines()[1:]
    return {"eva": said.split("eva: ")[1].split()[0]} | {row.split(",")[0]: row.split(",")[-1] for row in rows}


def opened(
    browser: Browser, link: str, *, scripts: bool = True, size: ViewportSize = DESK
) -> tuple[BrowserContext, Page]:
    """Sign in by a link, in a browser of one's own."""
    context = browser.new_context(viewport=size, java_script_enabled=scripts)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Yes, that is me").click()
    return context, page


def look(page: Page, name: str, *, axe: bool = True) -> None:
    """Take pictures on a desk and on a phone; axe finds nothing in light and dark, and nothing is wider than the page."""
    ARTEFACTS.mkdir(exist_ok=True)
    for size, where in ((DESK, "desk"), (PHONE, "phone")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme="light")
        page.screenshot(path=str(ARTEFACTS / f"serve-{name}-{where}.png"), full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide on a {where}"
        for scheme in SCHEMES if axe else ():
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.violations_count == 0, f"{name}, {where}, {scheme}: {found.generate_report()}"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(DESK)


def hand_in(page: Page, notebook: Path) -> None:
    page.get_by_label("Your notebook").set_input_files(str(notebook))
    page.get_by_role("button", name="Submit").click()


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two notebooks: all is right, and all but 1.4."""
    text, made = SOLUTION.read_text("utf-8"), {}
    for name, content in (("wrong", without_scaling(text)), ("right", text)):
        made[name] = tmp_path_factory.mktemp(name) / f"{NAME}.ipynb"
        made[name].write_text(content, "utf-8")
    return made


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.pdf", b"%PDF", "This file is not a notebook."),
        (
            "a.ipynb",
            b'{"cells": [{"source": ["# @exercise 2.1\\n", "x = 1"]}]}',
            "another assignment: it has the exercise 2.1",
        ),
        ("a.ipynb", b'{"cells": [{"source": "# @exercise 1.1"}]}', ""),
        ("large.ipynb", b" " * (49 << 20), "larger than 48 MiB"),
    ],
    ids=["no notebook", "of another lesson", "right", "too large"],
)
def test_a_notebook_is_looked_at_before_it_is_sent(
    browser: Browser, address: str, links: dict[str, str], tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    context, page = opened(browser, links["s2"])
    page.goto(f"{address}/a/{NAME}")
    (tmp_path / name).write_bytes(content)
    field = page.get_by_label("Your notebook")
    field.set_input_files(str(tmp_path / name))
    page.wait_for_timeout(300)
    assert says in field.evaluate("field => field.validationMessage")
    assert bool(says) is not field.evaluate("field => field.checkValidity()")
    context.close()


def test_a_time_names_its_zone(browser: Browser) -> None:
    """The instructor sets a due date in UTC and reads it in local time, so a time without a zone is ambiguous."""
    context = browser.new_context(timezone_id="Europe/Berlin", locale="en-US")
    page = context.new_page()
    moment = '<time datetime="2036-01-31T18:00:00+00:00">31 Jan 2036, 18:00 UTC</time>'
    page.set_content(f"<p>{moment}</p><table><tr><td>{moment}</td></tr></table>")
    page.add_script_tag(path=ROOT / "grader" / "serve" / "templates" / "live.js")
    expect(page.locator("p")).to_have_text("Jan 31, 2036, 7:00 PM GMT+1")
    expect(page.locator("td")).to_have_text("Jan 31, 7:00 PM")  # no room; the due date above the table names the zone
    context.close()


def mends(page: Page, answers: dict[str, Path]) -> None:
    """On the page of the assignment: hand in a wrong 1.4, read its cause, hand in a right one, have full marks."""
    hand_in(page, answers["wrong"])
    page.get_by_role("link", name="Read the feedback").click()  # it appears by itself
    expect(page.locator("body")).to_contain_text("does not divide the scores by √d_k")
    page.go_back()
    hand_in(page, answers["right"])
    expect(page.get_by_role("heading", name="Attempt 2")).to_be_visible()
    expect(page.locator(".score")).to_contain_text("100 of 100 points", timeout=PATIENCE)


@pytest.mark.slow(
    held_by="tests/serve/test_student_pages.py::test_the_verdict_is_shown_and_the_feedback_page_is_the_gradebooks"
)
def test_a_student_hands_in_reads_the_cause_mends_it_and_has_full_marks(
    browser: Browser, address: str, links: dict[str, str], answers: dict[str, Path]
) -> None:
    guest = browser.new_page(viewport=DESK)
    guest.goto(address)
    look(guest, "welcome")
    guest.goto(f"{address}/in/made-up")
    look(guest, "refused-link")
    guest.goto(links["s1"])
    look(guest, "sign-in")
    guest.close()

    context, page = opened(browser, links["s1"])
    look(page, "assignments")
    expect(page.get_by_text("Ada Lovelace")).to_be_visible()
    page.get_by_role("link", name=NAME).click()
    look(page, "assignment")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the notebook").click()
    assert download.value.suggested_filename == f"{NAME}.ipynb"

    page.route("**/events", lambda route: route.abort())  # or the page might change while axe looks at it
    hand_in(page, answers["wrong"])
    expect(page.get_by_role("heading", name="Attempt 1")).to_be_visible()
    look(page, "waiting")
    page.unroute("**/events")
    page.reload()
    page.get_by_role("link", name="Read the feedback").click()  # it appears by itself
    expect(page.locator("body")).to_contain_text("does not divide the scores by √d_k")
    look(page, "feedback", axe=False)  # its sandbox lets axe not run; tests/browser/test_axe.py looks at these pages
    page.go_back()

    hand_in(page, answers["right"])
    expect(page.get_by_role("heading", name="Attempt 2")).to_be_visible()
    expect(page.locator(".score")).to_contain_text("100 of 100 points", timeout=PATIENCE)
    look(page, "graded")
    page.set_viewport_size(PHONE)
    table = page.get_by_role("group", name="Table of your attempts")
    assert table.evaluate("box => box.scrollWidth <= box.clientWidth"), "a student on a phone does not see all links"
    page.set_viewport_size(DESK)

    page.goto(f"{address}/a/nowhere")
    look(page, "not-found")
    page.goto(f"{address}/a/{NAME}")
    page.get_by_text("Appeal the points of an exercise").click()
    page.get_by_label("What should your instructor check?").fill("I think that my mask is right,\nsee the second cell.")
    look(page, "appeal")
    page.get_by_role("button", name="Send the appeal").click()
    expect(page.get_by_text("Your instructor has not decided yet")).to_be_visible()
    context.close()

    context, page = opened(browser, links["eva"])
    expect(page.get_by_text("I think that my mask is right")).to_be_visible()
    look(page, "class")
    page.get_by_role("link", name="decide appeal 1").click()
    look(page, "submission")
    page.get_by_label("What the student reads").fill("It is right, and has its points.")
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_text("you kept the points on")).to_be_visible()
    page.get_by_role("link", name="Back to the class").click()
    expect(page.get_by_text("No appeal is open.")).to_be_visible()
    page.get_by_label("Find a student").fill("lovelace")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("table", name="Scores of all students").get_by_role("rowheader")).to_have_text(["s1"])
    page.get_by_role("columnheader", name=NAME).get_by_role("link").click()
    expect(page.get_by_role("columnheader", name=NAME)).to_have_attribute("aria-sort", "ascending")
    page.get_by_label(NAME, exact=True).fill("2036-02-01T18:00")
    page.get_by_role("button", name=f"the due date of {NAME}").click()
    expect(page.get_by_label(NAME, exact=True)).to_have_value("2036-02-01T18:00")
    page.get_by_role("link", name="The class report").click()
    expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    context.close()


@pytest.mark.slow(
    held_by="tests/serve/test_student_pages.py::test_an_upload_is_on_the_disk_and_in_the_queue_when_it_is_acknowledged"
)
def test_without_javascript_the_page_looks_again_by_itself(
    browser: Browser, address: str, course: SmallCourse, links: dict[str, str]
) -> None:
    context, page = opened(browser, links["s2"], scripts=False, size=PHONE)
    page.get_by_role("link", name=NAME).click()
    hand_in(page, course.submit("s2", "1.1", to="mine"))
    expect(page.get_by_text("5 of 100 points")).to_be_visible(timeout=PATIENCE)
    context.close()


@pytest.mark.slow(held_by="tests/serve/test_lti.py::test_a_score_arrives_once_and_again_until_the_platform_has_it")
def test_from_a_platforms_frame_to_a_tab_of_its_own_and_the_score_back(
    browser: Browser, tmp_path: Path, answers: dict[str, Path]
) -> None:
    course = course_on_free_port(tmp_path / "course", ())
    tool = read_settings(course.root).url
    with open_school(tool, "localhost") as school:
        with (course.root / "serve.toml").open("a") as file:
            file.write(school.toml)
        school.registration.set_tool_key_set({"keys": [own_key(course.root).as_dict(private=False)]})
        school.clicks = {"user": "17", "assignment": NAME, "name": "Ada Lovelace"}
        with running(course):
            context = browser.new_context(viewport=DESK)
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.goto(f"{school.url}/course")
            button = page.frame_locator("iframe").get_by_role("link", name="Open the submission page")
            expect(button).to_be_visible()
            page.screenshot(path=str(ARTEFACTS / "serve-platform-desk.png"))
            assert context.cookies(tool) == []  # in the frame there is no cookie to block
            with context.expect_page() as opened:
                button.click()
            tab = opened.value
            tab.get_by_role("button", name="Yes, that is me").click()
            expect(tab.get_by_text("Ada Lovelace")).to_be_visible()
            mends(tab, answers)
            for _ in range(100):
                if school.scores[-1:] and school.scores[-1]["scoreGiven"] == 100.0:
                    break
                tab.wait_for_timeout(200)
            tab.wait_for_timeout(6000)  # another round of the sender
            school.clicks["role"] = "Mentor"  # who is refused reads why, in the frame
            page.goto(f"{school.url}/course")
            expect(page.frame_locator("iframe").get_by_text("neither a student nor an instructor")).to_be_visible()
            school.clicks["role"] = "Learner"
            page.goto(school.login_address("17"))
            look(page, "platform")
            context.close()
    full = [one for one in school.scores if one["scoreGiven"] == 100.0]
    assert [(one["userId"], one["comment"]) for one in full] == [("17", f"Feedback: {tool}/a/{NAME}")]
    assert len(school.scores) <= 2  # the wrong attempt's, if it was graded before the right one came; each once


@pytest.mark.slow(held_by="tests/serve/test_lti_services.py::test_an_instructor_chooses_a_task_for_the_course")
def test_a_platform_registers_itself_and_an_instructor_chooses_a_task(browser: Browser, tmp_path: Path) -> None:
    course = course_on_free_port(tmp_path / "course", ())
    with open_school(read_settings(course.root).url, "localhost") as school, running(course):
        address = course.grader("roster", "--platform", school.url).strip()
        context = browser.new_context(viewport=DESK)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        asked = f"{address}?openid_configuration={school.url}/configuration&registration_token=ticket-1"
        page.goto(asked)
        expect(page.get_by_role("heading", name="Registered")).to_be_visible()
        look(page, "registered")
        page.evaluate(
            "() => { window.told = []; addEventListener('message', (event) => told.push(event.data.subject)); }"
        )
        page.get_by_role("button", name="Close").click()
        page.wait_for_function("() => told[0] === 'org.imsglobal.lti.close'")
        page.goto(asked)
        expect(page.get_by_text("This address registers no platform.")).to_be_visible()
        look(page, "registered-twice")
        school.registration.set_tool_key_set({"keys": [own_key(course.root).as_dict(private=False)]})
        school.clicks = {"user": "eva", "role": "Instructor", "choose": f"{school.url}/chosen"}
        page.goto(school.login_address("eva"))
        look(page, "choose")
        page.goto(f"{school.url}/course")
        page.screenshot(path=str(ARTEFACTS / "serve-choose-frame-desk.png"))
        frame = page.frame_locator("iframe")
        frame.get_by_role("button", name=f"Choose {NAME}").click()
        expect(frame.get_by_role("heading", name="Chosen")).to_be_visible()
        context.close()
    assert len(school.chosen) == 1


@pytest.mark.slow(held_by="tests/serve/test_hub.py::test_a_student_of_the_hub_signs_in")
def test_from_a_real_jupyterhub(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: dict[str, Path]
) -> None:
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", SECRET * 4)
    course = course_on_free_port(tmp_path / "course", ())
    tool = read_settings(course.root).url
    (tmp_path / "hub").mkdir()
    with real_hub(tmp_path / "hub", tool=tool) as hub:
        with (course.root / "serve.toml").open("a") as file:
            file.write(f'[hub]\nurl = "{hub}"\n')
        with running(course):
            context = browser.new_context(viewport=DESK)
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.goto(tool)
            look(page, "welcome-hub")
            page.get_by_role("link", name="Sign in with JupyterHub").click()
            page.get_by_label("Username").fill("ada")
            page.get_by_label("Password").fill("any")
            page.get_by_role("button", name="Sign in").click()
            page.get_by_role("button", name="Yes, that is me").click()
            page.get_by_role("link", name=NAME).click()
            mends(page, answers)
            context.close()


def without_scaling(text: str) -> str:
    """Return the solution with a wrong answer to 1.4: the scores are not divided by √d_k."""
    notebook = nbformat.reads(text, as_version=4)
    (cell,) = [one for one in notebook.cells if one.id == "exercise-1-4"]
    right, wrong = "scaled_scores(query, key)", "query @ key.transpose(-2, -1)"
    assert right in cell.source
    cell.source = cell.source.replace(right, wrong)
    return nbformat.writes(notebook)
