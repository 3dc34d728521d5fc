"""What comes from outside: texts for the log, points that somebody types, and whoever is to be signed out."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from grader.classes.gradebook.appeals import appeals_of
from grader.serve.app import make_app
from grader.serve.guard import client_of
from grader.serve.log import OneLine, shown
from grader.serve.sign_in import INSTRUCTOR, STUDENT, Ticket, begin_session, end_sessions, make_ticket
from grader.serve.site import Site
from tests.classes.gradebook.small_course import NAME, SmallCourse
from tests.serve.people import URL, Person, grade, instructor, open_course, solved, student

CONTROL = {
    "escape": "\x1b[2J", "bell": "\a", "line": "\n", "return": "\r", "C1": "\x9b31m", "turned": "\u202e", "zero width": "\u200b",
    "line separator": "\u2028", "half": "\ud800", "null": "\0", "delete": "\x7f",
}  # fmt: skip


# ---------------------------------------------------------------- the log


def entries(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name.startswith("grader")]


@pytest.mark.parametrize("mark", CONTROL.values(), ids=CONTROL)
def test_an_address_of_a_client_is_printable_and_short(site: Site, caplog: pytest.LogCaptureFixture, mark: str) -> None:
    """uvicorn takes the address from X-Forwarded-For, which a client writes where no proxy replaces it."""
    caplog.set_level(logging.INFO)
    address = f"10.0.0.1{mark}signed in: 'eva'" + "x" * 64_000
    browser = TestClient(make_app(site), base_url=URL, client=(address, 1))
    browser.get("/")
    browser.get("/in/wrong")
    browser.post("/out", headers={"sec-fetch-site": "cross-site"})
    assert len(entries(caplog)) == 5
    assert all(one.isprintable() and len(one) < 300 for one in entries(caplog))


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "path", ["/a/%1b[2J", "/a/%0d%0ax", "/a/%e2%80%ae", "/a/%c2%9b", "/" + "x" * 64_000, "/in/" + "%1b" * 9000]
)
def test_a_path_in_the_log_is_printable_and_short(
    site: Site, caplog: pytest.LogCaptureFixture, path: str, method: str
) -> None:
    caplog.set_level(logging.INFO)
    Person.of(site).browser.request(method, path, headers={"sec-fetch-site": "cross-site"})
    assert entries(caplog)
    assert all(one.isprintable() and len(one) < 400 for one in entries(caplog))


def test_a_method_in_the_log_is_short(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    Person.of(site).browser.request("X" * 60_000, "/")
    assert all(len(one) < 400 for one in entries(caplog))


@pytest.mark.parametrize("mark", CONTROL.values(), ids=CONTROL)
def test_an_entry_is_one_line_whoever_writes_it(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform's answer, an exception of a library: each is escaped where it is written."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(OneLine("%(message)s"))
    log = logging.getLogger("of a library")
    monkeypatch.setattr(log, "propagate", False)  # pytest-xdist cannot send half a character in a report
    log.addHandler(handler)
    try:
        raise ValueError(f"before{mark}after")
    except ValueError:
        log.warning("said %s", f"a{mark}b" + "x" * 99_000, exc_info=True)
    finally:
        log.removeHandler(handler)
    first, second, *rest = written.getvalue().splitlines()
    assert first.startswith("said a\\")
    assert second == "Traceback (most recent call last):"
    assert all(line.isprintable() and len(line) < 5000 for line in (first, second, *rest))


def test_a_text_that_can_be_shown_stays_as_it_is() -> None:
    assert shown("/a/1-attention/é漢") == "/a/1-attention/é漢"
    assert client_of({"client": ("2001:db8::1%eth0", 1)}) == "2001:db8::1%eth0"
    assert client_of({"client": None}) == "unknown"


# ---------------------------------------------------------------- points


@pytest.fixture(scope="module")
def appealed(site: Site) -> Site:
    """The course with an appeal that waits."""
    bob = student(site, "bob")
    bob.hands_in(solved(site, "1.1", remark="appeals"))
    grade(site)
    assert bob.posts(f"/a/{NAME}/appeals", exercise="1.2", text="Please look.").status_code == 303
    return site


@pytest.mark.parametrize(
    "points", ["1_0", "1e1", "٣", "３", "0x3", "+3", "-3", "inf", "nan", "1,0,0", "1.0.0", "3 4", ".5", "5.", "९.५", "1" * 50, "1__0", "²"]
)  # fmt: skip
def test_points_are_plain_decimals(appealed: Site, points: str) -> None:
    ((_, appeal),) = appeals_of(appealed.entries())
    answer = instructor(appealed).posts(f"/class/appeals/{appeal.number}", points=points, comment="Well.")
    assert (answer.status_code, "is not a number of points" in answer.text) == (400, True)
    ((_, appeal),) = appeals_of(appealed.entries())
    assert not appeal.outcome


def test_points_with_a_comma_are_points(appealed: Site) -> None:
    ((_, appeal),) = appeals_of(appealed.entries())
    answer = instructor(appealed).posts(f"/class/appeals/{appeal.number}", points=" 2,5 ", comment="Well.")
    assert answer.status_code == 303
    assert "7.5 of 100" in student(appealed, "bob").get("/").text


# ---------------------------------------------------------------- signing somebody out


def signed_in(site: Site, person: str, via: str, role: str = STUDENT) -> Person:
    """Return a browser with a session that began in some way."""
    browser = Person.of(site)
    ticket = Ticket(person=person, role=role, name="", via=via)
    browser.browser.cookies.set("session", begin_session(site.store, ticket, ""))
    assert browser.get("/").status_code in (200, 303)
    return browser


@pytest.mark.parametrize("via", ["lti", "hub"])
@pytest.mark.parametrize("role", [STUDENT, INSTRUCTOR])
def test_a_session_that_came_by_a_platform_or_a_hub_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, via: str, role: str
) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    site = open_course(tmp_path / "course")
    course, path = SmallCourse(site.root), "/class" if role == INSTRUCTOR else f"/a/{NAME}"
    browsers = [signed_in(site, "mallory", via, role) for _ in range(2)]
    other = signed_in(site, "mallory2", via, role)
    ticket = make_ticket(site.store, Ticket(person="mallory", role=role, name="", via=via))
    assert "mallory is signed out" in course.grader("roster", "--revoke", "mallory")
    assert [each.get(path).status_code for each in browsers] == [401, 401]
    assert Person.of(site).opens_link(ticket).status_code == 403  # a tab that is open before the button
    assert other.get(path).status_code == 200
    assert "is not signed in" in course.grader("roster", "--revoke", "mallory", status=2)


def test_a_revoked_link_ends_the_sessions_of_all_ways(site: Site) -> None:
    by_link, by_hub = student(site, "carl", fresh=True), signed_in(site, "carl", "hub")
    assert end_sessions(site.store, "carl") == 2
    assert [each.get(f"/a/{NAME}").status_code for each in (by_link, by_hub)] == [401, 401]
    assert end_sessions(site.store, "carl") == 0


@pytest.mark.parametrize("person", ["%", "_", "car", "carl ", "CARL", '"carl"', "", "*"])
def test_no_pattern_signs_others_out(site: Site, person: str) -> None:
    carl = signed_in(site, "carl", "lti")
    assert end_sessions(site.store, person) == 0
    assert carl.get(f"/a/{NAME}").status_code == 200


@pytest.mark.parametrize("person", ["class.html", "notebooks", "a\u202eda", "ada "])
def test_a_session_from_before_of_a_name_that_is_refused_now(site: Site, person: str) -> None:
    browser = Person.of(site)
    ticket = Ticket(person=person, role=STUDENT, name="", via="lti")
    browser.browser.cookies.set("session", begin_session(site.store, ticket, ""))
    assert browser.get(f"/a/{NAME}").status_code == 401
