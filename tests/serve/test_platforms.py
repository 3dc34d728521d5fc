"""The nine platforms of serve.toml: sign in, choose a task, enrol, score, score again, be refused.

Each is simulated with its own hosts and quirks (simulated.py); no real one is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from httpx2 import Response
from joserfc import jwt
from nbgrader.api import Gradebook

from grader.serve import guard, lti_calls
from grader.serve.lti_calls import own_key
from grader.serve.lti_people import student_of
from grader.serve.lti_scores import Sender
from grader.serve.platforms import PRESETS
from grader.serve.settings import Platform
from grader.serve.site import Site
from tests.classes.gradebook.small_course import COURSE, NAME
from tests.serve.people import URL, Person, grade, instructor, open_course, solved
from tests.serve.school import CLAIM, CLIENT, DEEP_LINK, sent
from tests.serve.simulated import (
    CANVAS_SUBMISSION,
    INSTITUTION,
    INSTRUCTOR,
    KINDS,
    LEARNER,
    SYSTEM,
    Internet,
    Simulated,
)

MILLISECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00")
each_platform = pytest.mark.parametrize("name", KINDS)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADER_SECRET", "test")
        patched.setattr(guard, "REQUESTS_A_MINUTE", 100_000)
        yield open_course(tmp_path_factory.mktemp("platforms") / "course")


@pytest.fixture(scope="module")
def internet(site: Site) -> Iterator[Internet]:
    """All nine platforms, registered in one course."""
    key = own_key(site.folder)
    made = Internet({name: Simulated(name, key) for name in KINDS})
    (site.root / "serve.toml").write_text("\n".join(one.entry for one in made.platforms.values()))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lti_calls, "_opener", made)
        lti_calls._keys.clear()
        yield made
    lti_calls._keys.clear()


@pytest.fixture(scope="module")
def graded(site: Site, internet: Internet) -> Internet:
    """Let each platform's student hand in. Canvas's is graded; the gradebook gives the others its points."""
    for platform in internet.platforms.values():
        ada, _ = signed_in(site, platform)
        if platform.name == "canvas":
            ada.hands_in(solved(site, "1.1"))
            grade(site)
    copied = "assignment, nth, received, sha256, place, state, tries, counts"
    with Gradebook(site.gradebook, COURSE) as gradebook:
        graded_by_us = gradebook.find_submission(NAME, person_of("canvas")).notebooks[0].grades
        right = {one.name for one in graded_by_us if one.auto_score}
        for name in KINDS.keys() - {"canvas"}:
            with gradebook.db.no_autoflush:  # nbgrader adds it in parts
                submission = gradebook.add_submission(NAME, person_of(name))
            for one in submission.notebooks[0].grades:
                one.auto_score = 5.0 if one.name in right else 0.0
            insert = f"INSERT INTO attempt (student, {copied}) SELECT ?, {copied} FROM attempt WHERE student = ?"
            site.store.change(insert, person_of(name), person_of("canvas"))
        gradebook.db.commit()
    return internet


@pytest.fixture
def fresh(site: Site, graded: Internet) -> Iterator[Internet]:
    """The platforms as they are before they have a score."""
    yield graded
    site.store.change("UPDATE lti_place SET sent = '', sending = '', refused = '', problem = '', attempt = ''")
    for name, platform in graded.platforms.items():
        platform.forget()
        if not platform.kind.has_item:
            site.store.change("UPDATE lti_place SET lineitem = '' WHERE platform = ?", name)
    points(site, dict.fromkeys(KINDS))


def only(site: Site, *names: str) -> None:
    """Let all platforms have their scores but some."""
    site.store.change(
        f"UPDATE lti_place SET sent = '5/100' WHERE platform NOT IN ({','.join('?' * len(names))})", *names
    )


def points(site: Site, given: dict[str, float | None]) -> None:
    """Give the students of some platforms points by hand for one exercise; None takes them back."""
    with Gradebook(site.gradebook, COURSE) as gradebook:
        for name, manual in given.items():
            grades = gradebook.find_submission(NAME, person_of(name)).notebooks[0].grades
            next(one for one in grades if one.auto_score == 5.0).manual_score = manual
        gradebook.db.commit()


def person_of(name: str) -> str:
    return f"{name}-{KINDS[name].student}"


def launched(
    site: Site, platform: Simulated, person: Person, user: Any = "", *, teaches: bool = False, **claims: Any
) -> Response:
    """Open the task on a platform; return the page of ours in its frame."""
    kind = platform.kind
    started = person.browser.get(f"/lti/login?iss={kind.issuer}&client_id={CLIENT}&login_hint=h&target_link_uri={URL}/")
    assert started.status_code == 302, started.text
    assert started.headers["location"].startswith(f"{kind.login}?")
    told = dict(parse_qsl(urlsplit(started.headers["location"]).query))
    roles = kind.instructor if teaches else kind.learner
    token = platform.signed(told, user or kind.user, roles, **claims)
    return sent(person, {"id_token": token, "state": told["state"]})


def signed_in(site: Site, platform: Simulated, **told: Any) -> tuple[Person, Response]:
    """Open the task, and the tab."""
    person = Person.of(site)
    page = launched(site, platform, person, custom={"assignment": NAME}, **told)
    assert page.status_code == 200, page.text
    (token,) = re.findall(r'href="/in/([^"]+)" target="_blank"', page.text)
    return person, person.opens_link(token)


# ---------------------------------------------------------------- on each platform


@each_platform
def test_a_student_launches(site: Site, internet: Internet, name: str) -> None:
    platform = internet.platforms[name]
    page = launched(site, platform, Person.of(site), custom={"assignment": NAME})
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    frames = policy.partition("frame-ancestors ")[2].split()
    parts = urlsplit(platform.kind.services)
    assert {platform.kind.frames, f"{parts.scheme}://{parts.netloc}"} <= set(frames)
    assert "x-frame-options" not in page.headers
    _, answer = signed_in(site, platform)
    assert answer.headers["location"] == f"/a/{NAME}"
    assert person_of(name) in site.students()


@each_platform
def test_an_instructor_chooses_a_task(site: Site, internet: Internet, name: str) -> None:
    platform = internet.platforms[name]
    page = launched(site, platform, Person.of(site), "eva", teaches=True, **platform.choice())
    assert page.status_code == 200, page.text
    assert re.findall(r'action="([^"]+)"', page.text)[0] == f"{platform.kind.services}/chosen"
    parts = urlsplit(platform.kind.services)
    forms = page.headers["content-security-policy"].partition("form-action ")[2].partition(";")[0].split()
    assert f"{parts.scheme}://{parts.netloc}" in forms
    token = re.findall(r'name="JWT" value="([^"]+)"', page.text)[0]
    decoded = jwt.decode(token, own_key(site.folder), algorithms=["RS256"])
    told = decoded.claims
    assert decoded.header["kid"] == own_key(site.folder).kid
    assert (told["iss"], told["sub"], told["aud"]) == (CLIENT, CLIENT, platform.kind.issuer)
    assert told[f"{CLAIM}deployment_id"] == platform.kind.deployment
    assert (told[f"{DEEP_LINK}data"], told["exp"] - told["iat"]) == ("d", 300)
    (item,) = told[f"{DEEP_LINK}content_items"]
    assert (item["url"], item["lineItem"]["scoreMaximum"]) == (f"{URL}/a/{NAME}", 100)
    assert isinstance(item["lineItem"]["scoreMaximum"], int)


@each_platform
def test_the_roster_arrives(site: Site, internet: Internet, name: str) -> None:
    platform = internet.platforms[name]
    before = set(site.students())
    site.store.change("DELETE FROM lti_roster")
    custom = {"assignment": NAME, "login": "eva", "username": "eva"}
    about = {f"{CLAIM}lis": {"person_sourcedid": "eva"}, "http://www.brightspace.com": {"org_defined_id": "eva"}}
    page = launched(site, platform, Person.of(site), "eva", teaches=True, custom=custom, **about)
    assert page.status_code == 200, page.text
    Sender(site).take_rosters()
    enrolled = {f"{name}-{one}" for one in platform.kind.enrolled}
    assert set(site.students()) - before == enrolled - before
    assert enrolled <= set(site.students())


@each_platform
def test_a_score_arrives_and_follows_a_change_of_points(site: Site, fresh: Internet, name: str) -> None:
    platform, kind = fresh.platforms[name], KINDS[name]
    only(site, name)
    sender = Sender(site)
    assert [sender.send_all() for _ in range(2)] == [1, 0]
    points(site, {name: 2.0})
    sender.send_all()
    first, second = platform.scores
    assert (first["userId"], second["userId"]) == (str(kind.user), str(kind.user))
    of_item = kind.item_maximum / 100
    assert (first["stored"], second["stored"]) == (pytest.approx(5 * of_item), pytest.approx(2 * of_item))
    assert (first["activityProgress"], first["gradingProgress"]) == ("Completed", "FullyGraded")
    assert first["comment"] == f"Feedback: {URL}/a/{NAME}"
    assert MILLISECONDS.fullmatch(first["timestamp"])
    assert first["timestamp"] < second["timestamp"]
    assert ("submission" in first) == ("submission" in kind.extra_fields)
    if "submission" in first:
        assert MILLISECONDS.fullmatch(first["submission"]["submittedAt"])
        assert first["submission"] == second["submission"]
        assert first["submission"]["submittedAt"] < first["timestamp"]
    assert [one["tag"] for one in platform.created] == ([] if kind.has_item else [NAME])


@each_platform
def test_a_refused_score_is_shown_and_not_repeated(site: Site, fresh: Internet, name: str) -> None:
    platform, (status, reason) = fresh.platforms[name], KINDS[name].refusal
    only(site, name)
    platform.unknown.add(str(platform.kind.user))
    sender = Sender(site)
    assert sender.send_all() == 0
    asked = len(platform.asked)
    page = unescape(instructor(site).get("/class").text)
    assert f"{person_of(name)}, {NAME}: 5 of 100; refused: {status} refused: {reason}" in page
    sender._pauses.clear()
    assert sender.send_all() == 0
    assert len(platform.asked) == asked
    platform.unknown.clear()
    assert instructor(site).posts("/class/scores").status_code == 303
    sender._pauses.clear()
    assert (sender.send_all(), len(platform.scores)) == (1, 1)
    assert reason not in instructor(site).get("/class").text


def test_a_score_without_a_place_is_named_until_the_student_opens_the_link(site: Site, fresh: Internet) -> None:
    """A link in the menu of a course names no assignment: then no score is sent, and somebody has to know."""
    assert "cannot send" not in instructor(site).get("/class").text
    site.store.change("DELETE FROM lti_place WHERE platform = 'canvas'")
    page = instructor(site).get("/class").text
    assert "The server cannot send 1 score:" in page
    assert f"<li>{person_of('canvas')}, {NAME}</li>" in page
    signed_in(site, fresh.platforms["canvas"])
    assert "cannot send" not in instructor(site).get("/class").text


def test_the_table_has_the_platforms_that_are_simulated() -> None:
    assert PRESETS.keys() == KINDS.keys()


# ---------------------------------------------------------------- Canvas


def test_canvas_alone_is_told_about_the_attempt(site: Site, fresh: Internet) -> None:
    """SpeedGrader shows our page; a change of points is no new attempt, and a new upload is one."""
    canvas = fresh.platforms["canvas"]
    sender = Sender(site)
    sender.send_all()
    points(site, {"canvas": 2.0})
    sender.send_all()
    first, second = (one[CANVAS_SUBMISSION] for one in canvas.scores)
    page = f"{URL}/class/feedback/canvas-al123/{NAME}"
    assert first == {"new_submission": True, "submission_type": "online_url", "submission_data": page}
    assert second == {"new_submission": False}
    assert instructor(site).get(page.removeprefix(URL)).status_code == 200
    site.store.change("UPDATE attempt SET received = '2035-01-01T00:00:00.123456+00:00' WHERE student = 'canvas-al123'")
    points(site, {"canvas": 3.0})
    sender.send_all()
    third = canvas.scores[2]
    assert third[CANVAS_SUBMISSION]["new_submission"] is True
    assert third["submission"] == {"submittedAt": "2035-01-01T00:00:00.123+00:00"}
    others = [one for name, platform in fresh.platforms.items() if name != "canvas" for one in platform.scores]
    assert len(others) == 8  # one each
    assert not any(CANVAS_SUBMISSION in one for one in others)


def test_the_test_student_is_not_enrolled(site: Site, internet: Internet) -> None:
    canvas = internet.platforms["canvas"]
    roles = {f"{CLAIM}roles": [LEARNER, f"{SYSTEM}#TestUser"]}
    person = Person.of(site)
    page = launched(site, canvas, person, custom={"assignment": NAME, "login": "tess"}, **roles)
    assert page.status_code == 200
    assert "canvas-tess" not in site.students()
    assert site.store.rows("SELECT 1 FROM lti_place WHERE person = 'canvas-tess'") == []


# ---------------------------------------------------------------- roles, ids and courses


@pytest.mark.parametrize(
    ("name", "roles", "leads_to"),
    [
        ("canvas", [INSTRUCTOR, f"{INSTITUTION}#Administrator"], "/class"),
        ("canvas", ["http://purl.imsglobal.org/vocab/lis/v2/membership/Instructor#TeachingAssistant"], "/class"),
        ("sakai", ["Instructor"], "/class"),
        ("openolat", ["INSTRUCTOR"], "/class"),
        ("openolat", ["LEARNER"], f"/a/{NAME}"),
        ("openedx", [f"{INSTITUTION}#Instructor"], "/class"),
        ("openedx", [f"{INSTITUTION}#Student"], f"/a/{NAME}"),
        ("openedx", [f"{INSTITUTION}#Instructor", LEARNER], f"/a/{NAME}"),  # the role in the course counts
        ("canvas", [f"{INSTITUTION}#Instructor"], None),  # teaches another course of the school
        ("canvas", [f"{INSTITUTION}#Student"], None),
        ("canvas", ["http://purl.imsglobal.org/vocab/lis/v2/membership#Mentor"], None),
        ("canvas", ["http://purl.imsglobal.org/vocab/lis/v2/membership#ContentDeveloper"], None),
        ("canvas", ["Instructors", "x#Instructor"], None),
    ],
)
def test_roles_in_the_ways_of_platforms(
    site: Site, internet: Internet, name: str, roles: list[str], leads_to: str | None
) -> None:
    person = Person.of(site)
    page = launched(site, internet.platforms[name], person, custom={"assignment": NAME}, **{f"{CLAIM}roles": roles})
    if leads_to is None:
        assert (page.status_code, "neither a student nor an instructor" in page.text) == (403, True)
    else:
        (token,) = re.findall(r'href="/in/([^"]+)"', page.text)
        assert person.opens_link(token).headers["location"] == leads_to


@pytest.mark.parametrize(
    ("name", "claims", "said"),
    [
        ("brightspace", {"http://www.brightspace.com": {"org_defined_id": "$Person.sourcedId"}}, "name of a variable"),
        ("brightspace", {"http://www.brightspace.com": {"username": "ada"}}, "does not say who you are"),
        ("brightspace", {"http://www.brightspace.com": "s0417"}, "does not say who you are"),
        ("sakai", {f"{CLAIM}lis": {"person_sourcedid": True}}, "does not say who you are"),
        ("openolat", {"custom": {"username": "$userprops_username"}}, "name of a variable"),
        ("moodle", {"sub": 10**30}, "does not say who you are"),
    ],
)
def test_an_id_that_is_none(site: Site, internet: Internet, name: str, claims: dict[str, Any], said: str) -> None:
    page = launched(site, internet.platforms[name], Person.of(site), **claims)
    assert (page.status_code, said in page.text) == (403, True)
    assert not any("$" in one for one in site.students())


@pytest.mark.parametrize(
    ("name", "claim", "told", "expected"),
    [
        ("openolat", "sub", {"user_id": "17"}, None),  # another id than that of a launch
        ("openolat", "email", {"user_id": "17", "email": "ada@uni.edu"}, "ada@uni.edu"),
        ("moodle", "sub", {"user_id": 17}, "17"),
        ("moodle", "sub", {"user_id": "17", "status": "Inactive"}, None),
        ("moodle", "ext.user_username", {"user_id": "17", "ext_user_username": "ada"}, "ada"),
        ("moodle", "ext.user_username", {"user_id": "17", "ext_user_username": "$User.username"}, None),
        ("canvas", "custom.login", {"user_id": "17", "message": ["nonsense"]}, None),
        ("canvas", "custom.login", {"user_id": "17", "message": [{f"{CLAIM}custom": {"login": "ada"}}]}, "ada"),
    ],
)
def test_the_id_of_a_member_is_that_of_a_launch(
    name: str, claim: str, told: dict[str, Any], expected: str | None
) -> None:
    table = {"platform": name, "school": "https://uni.edu", "client_id": "7", "student": claim}
    found = student_of(Platform.model_validate(table), {"roles": [LEARNER], **told})
    assert (found.id if found else None) == expected


def test_a_launch_without_a_course_is_no_course_called_none(site: Site, internet: Internet) -> None:
    moodle, context = internet.platforms["moodle"], f"{CLAIM}context"
    try:
        assert launched(site, moodle, Person.of(site), "eva", teaches=True).status_code == 200
        assert site.store.rows("SELECT * FROM lti_course") == []
        assert launched(site, moodle, Person.of(site), "eva", teaches=True, **{context: {"id": 42}}).status_code == 200
        assert [row["course"] for row in site.store.rows("SELECT * FROM lti_course")] == ["42"]
        for told in ({}, {context: {}}, {context: {"id": None}}):
            page = launched(site, moodle, Person.of(site), **told)
            assert (page.status_code, "does not say which course this is" in page.text) == (403, True)
    finally:
        site.store.change("DELETE FROM lti_course")


def test_a_roster_of_many_pages(site: Site, internet: Internet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Canvas has at most 50 people on a page; and each header `Link` is read."""
    schoology = internet.platforms["schoology"]
    pages = tuple(({"user_id": f"many-{n}", "roles": ["Learner"]},) for n in range(60))
    monkeypatch.setattr(schoology, "kind", replace(schoology.kind, roster=pages))
    site.store.change("DELETE FROM lti_roster")
    launched(site, schoology, Person.of(site), "eva", teaches=True)
    Sender(site).take_rosters()
    assert {f"schoology-many-{n}" for n in range(60)} <= set(site.students())
