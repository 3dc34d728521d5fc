"""The pages that a platform shows in a frame, in a real browser: none is refused, and nothing is cut off.

Three sites are in each other, as in Open edX: a school's page, the platform's page, and the server's. Pictures: artefacts/.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from grader.serve.lti_calls import own_key
from grader.serve.settings import read_settings
from tests.browser.chromium import chromium_or_skip
from tests.browser.test_serve import ARTEFACTS, PATIENCE
from tests.classes.gradebook.small_course import NAME, SmallCourse
from tests.serve.running import course_on_free_port, running
from tests.serve.school import School, open_school

CHROMIUM = chromium_or_skip()
WIDTHS = (1200, 400)
# The texts and buttons of a page that end outside of it.
CUT_OFF = """html => [...html.querySelectorAll("h1, p, b, a, button")].filter(each => {
    const { left, right } = each.getBoundingClientRect();
    return left < 0 || right > innerWidth || each.scrollWidth > Math.max(each.clientWidth, 1) && each.clientWidth;
}).map(each => each.textContent)"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCourse]:
    made = course_on_free_port(tmp_path_factory.mktemp("frames") / "course", ())
    with running(made):
        yield made


@pytest.fixture
def school(course: SmallCourse) -> Iterator[School]:
    """A platform on another site than the server, not registered yet."""
    rules = course.root / "serve.toml"
    before = rules.read_text()
    with open_school(read_settings(course.root).url, "localhost") as made:
        made.registration.set_tool_key_set({"keys": [own_key(course.root).as_dict(private=False)]})
        yield made
    rules.write_text(before)


@pytest.fixture(scope="module")
def outer(course: SmallCourse) -> Iterator[School]:
    """Another host of the school."""
    with open_school(read_settings(course.root).url, "127.0.0.3") as made:
        yield made


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    made = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


def shows(page: Page, at: School, url: str) -> FrameLocator:
    """Open a page of a host that shows another page in a frame; return that frame."""
    page.goto(f"{at.url}/frame?url={quote(url, safe='')}")
    return page.frame_locator("iframe")


def look(page: Page, frame: FrameLocator, name: str) -> None:
    """Take a picture of a frame at each width, and find nothing that is cut off."""
    ARTEFACTS.mkdir(exist_ok=True)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.screenshot(path=str(ARTEFACTS / f"serve-{name}-frame-{width}.png"))
        html = frame.locator("html")
        assert html.evaluate("html => html.scrollWidth <= innerWidth"), f"{name} is too wide at {width}"
        assert html.evaluate(CUT_OFF) == [], f"{name} at {width}"


@pytest.mark.slow(held_by="tests/serve/test_platforms.py::test_a_student_launches")
@pytest.mark.parametrize(
    ("clicks", "heading", "name"),
    [
        ({"user": "17", "assignment": NAME}, "Submit here", "student"),
        ({"user": "eva", "role": "Instructor", "choose": "{url}/chosen"}, "Which assignment", "choice"),
    ],
)
def test_a_launch_is_shown_in_the_frames_of_the_hosts_that_serve_toml_names(
    course: SmallCourse, school: School, outer: School, page: Page, clicks: dict[str, str], heading: str, name: str
) -> None:
    school.clicks = {key: value.format(url=school.url) for key, value in clicks.items()}
    rules = course.root / "serve.toml"
    alone = f"{rules.read_text()}\n{school.toml}"
    rules.write_text(alone)
    shows(page, outer, f"{school.url}/course")
    for _ in range(100):  # Chromium shows a page of its own
        if any(frame.url.startswith("chrome-error:") for frame in page.frames):
            break
        page.wait_for_timeout(100)
    else:
        pytest.fail("a site that serve.toml does not name shows the page in a frame")
    rules.write_text(f'{alone}services = ["{outer.url}"]\n')
    frame = shows(page, outer, f"{school.url}/course").frame_locator("iframe")
    expect(frame.get_by_role("heading", name=heading)).to_be_visible()
    look(page, frame, name)


@pytest.mark.slow(held_by="tests/serve/test_lti_services.py::test_a_platform_and_the_tool_register_each_other")
def test_the_registered_page_is_shown_in_the_platforms_frame(course: SmallCourse, school: School, page: Page) -> None:
    address = course.grader("roster", "--platform", school.url).strip()
    asked = f"{address}?openid_configuration={school.url}/configuration&registration_token=ticket-1"
    frame = shows(page, school, asked)
    expect(frame.get_by_role("heading", name="Registered")).to_be_visible()
    look(page, frame, "registered")
    page.evaluate("window.told = []; addEventListener('message', (event) => told.push(event.data.subject))")
    frame.get_by_role("button", name="Close").click()
    page.wait_for_function("told[0] === 'org.imsglobal.lti.close'")
