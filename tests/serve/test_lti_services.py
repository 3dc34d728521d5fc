"""What else a platform and this server do for each other: registration, the choice of a task, the roster; and who abuses it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response

from grader.serve.lti_scores import Sender
from grader.serve.settings import read_settings
from grader.serve.sign_in import PLATFORM_ROLE, links_for, revoke
from grader.serve.site import Site, open_site
from tests.classes.gradebook.small_course import NAME, SmallCourse
from tests.serve.people import URL, Person, grade, instructor, open_course, solved, student
from tests.serve.school import (
    CLAIM,
    CLIENT,
    DEPLOYMENT,
    ITEM,
    MEMBERS,
    MEMBERSHIP,
    SCORE,
    TOOL,
    School,
    asked,
    open_school,
    sent,
    signed_in,
)

LEARNER = f"{MEMBERSHIP}#Learner"

# ---------------------------------------------------------------- registration


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A course without a platform."""
    monkeypatch.setenv("GRADER_SECRET", "test")
    return open_course(tmp_path / "course")


@pytest.fixture
def platform() -> Iterator[School]:
    """A platform that does not know the tool."""
    with open_school(URL) as made:
        yield made


def registers(site: Site, address: str, query: str, link: str = "") -> Response:
    """Open the address of the registration, as the platform does for its administrator."""
    link = link or links_for(site.store, site.key, [address], PLATFORM_ROLE, 1)[address]
    return Person.of(site).get(f"/lti/register/{link}?{query}")


def right(platform: School) -> str:
    return f"openid_configuration={platform.url}/configuration&registration_token=ticket-1"


def test_a_platform_and_the_tool_register_each_other(fresh: Site, platform: School) -> None:
    (fresh.root / "serve.toml").write_text("# mine\n[every]\ncounts = 'best'\n")
    page = registers(fresh, platform.url, right(platform))
    assert page.status_code == 200, page.text
    assert f"frame-ancestors {platform.url}" in page.headers["content-security-policy"]
    ((name, told),) = read_settings(fresh.root).lti.items()
    assert (told.issuer, told.client_id, told.deployments) == (platform.url, CLIENT, [DEPLOYMENT])
    assert (told.login_url, told.token_url, told.keys_url) == tuple(
        f"{platform.url}/{one}" for one in ("auth", "token", "keys")
    )
    assert f"[lti.{name}]" in page.text
    assert (fresh.root / "serve.toml").read_text().startswith("# mine\n[every]\ncounts = 'best'\n")
    (tool,) = platform.registered
    assert (tool["initiate_login_uri"], tool["redirect_uris"]) == (f"{URL}/lti/login", [f"{URL}/lti/launch"])
    assert (tool["jwks_uri"], tool["token_endpoint_auth_method"]) == (f"{URL}/lti/keys", "private_key_jwt")
    assert set(tool["scope"].split()) == {SCORE, ITEM, MEMBERS}
    assert [one["type"] for one in tool[TOOL]["messages"]] == ["LtiResourceLinkRequest", "LtiDeepLinkingRequest"]
    _, answer = signed_in(fresh, platform, "ada", assignment=NAME)
    assert answer.headers["location"] == f"/a/{NAME}"


def test_the_link_to_register_works_once_and_is_not_in_the_log(
    fresh: Site, platform: School, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    link = links_for(fresh.store, fresh.key, [platform.url], PLATFORM_ROLE, 1)[platform.url]
    assert registers(fresh, platform.url, right(platform), link).status_code == 200
    told = [record.getMessage() for record in caplog.records if record.name == "grader.serve"]
    assert any("GET '/lti/register/…' 200" in line for line in told)
    assert not any(link in line for line in told)
    (fresh.root / "serve.toml").unlink()
    assert registers(fresh, platform.url, right(platform), link).status_code == 403
    assert read_settings(fresh.root).lti == {}


def test_a_platform_that_is_there_is_not_replaced(fresh: Site, platform: School) -> None:
    assert registers(fresh, platform.url, right(platform)).status_code == 200
    before = (fresh.root / "serve.toml").read_text()
    answer = registers(fresh, platform.url, right(platform))
    assert (answer.status_code, "exists already" in answer.text) == (403, True)
    assert (fresh.root / "serve.toml").read_text() == before


@pytest.mark.parametrize("link", ["forged", "a student's", "an instructor's", "revoked"])
def test_a_registration_without_the_operators_link(fresh: Site, platform: School, link: str) -> None:
    """Or anybody could register a platform of the own, and sign in by it as anybody."""
    tokens = {
        "forged": links_for(fresh.store, b"another key", [platform.url], PLATFORM_ROLE, 1)[platform.url],
        "a student's": Person.of(fresh).link("ada"),
        "an instructor's": Person.of(fresh).link("eva", "instructor"),
        "revoked": links_for(fresh.store, fresh.key, [platform.url], PLATFORM_ROLE, 1)[platform.url],
    }
    if link == "revoked":
        revoke(fresh.store, platform.url, PLATFORM_ROLE)
    answer = registers(fresh, platform.url, right(platform), tokens[link])
    assert (answer.status_code, platform.registered, read_settings(fresh.root).lti) == (403, [], {})


def test_a_link_to_register_signs_nobody_in(fresh: Site) -> None:
    link = links_for(fresh.store, fresh.key, ["ada"], PLATFORM_ROLE, 1)["ada"]
    assert Person.of(fresh).opens_link(link).status_code == 403


@pytest.mark.parametrize("where", ["file:///etc/passwd", "http://169.254.169.254/latest", "https://evil.example/c", ""])
def test_a_registration_fetches_nothing_from_elsewhere(fresh: Site, platform: School, where: str) -> None:
    answer = registers(fresh, platform.url, f"openid_configuration={where}&registration_token=ticket-1")
    assert (answer.status_code, "not an address of a registered platform" in answer.text) == (403, True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"registration_endpoint": "https://evil.example/register"}, "not an address of a registered platform"),
        ({"registration_endpoint": None}, "not an address of a registered platform"),
        ({"token_endpoint": "http://school.example/token"}, "token_url: is not protected"),
        ({"issuer": None}, "another issuer"),
        ({"issuer": "https://other.example"}, "another issuer"),
        ({"issuer": 'x"\nurl = "https://evil.example'}, "another issuer"),
    ],
    ids=str,
)
def test_a_configuration_that_is_not_right(fresh: Site, platform: School, change: dict[str, Any], said: str) -> None:
    platform.configuration.update(change)
    answer = registers(fresh, platform.url, right(platform))
    assert (answer.status_code, said in unescape(answer.text)) == (403, True), answer.text
    assert not (fresh.root / "serve.toml").exists()


def test_a_configuration_writes_no_other_rule(fresh: Site, platform: School) -> None:
    address = f'{platform.url}/keys"\n[every]\nopen = false\n#'
    platform.configuration["jwks_uri"] = address
    assert registers(fresh, platform.url, right(platform)).status_code == 200
    told = tomllib.loads((fresh.root / "serve.toml").read_text())
    assert [(*told, *(one["keys_url"] for one in told["lti"].values()))] == [("lti", address)]


def test_a_registration_that_the_platform_refuses(fresh: Site, platform: School) -> None:
    platform.tickets.clear()
    answer = registers(fresh, platform.url, right(platform))
    assert (answer.status_code, "does not answer as it should" in answer.text) == (403, True)
    assert "ticket-1" not in answer.text
    platform.tickets.add("ticket-1")  # the link was not used up
    assert registers(fresh, platform.url, right(platform)).status_code == 200


def test_the_operator_gets_the_address_to_register(tmp_path: Path) -> None:
    course = SmallCourse.make(tmp_path / "course")
    with open_school(URL) as platform:
        said = course.grader("roster", "--platform", f"{platform.url}/course/view.php?id=2").strip()
        assert said.startswith(f"{URL}/lti/register/")
        site = open_site(course.root, None)
        assert registers(site, platform.url, right(platform), said.rpartition("/")[2]).status_code == 200
    assert "is neither the address of a platform" in course.grader(
        "roster", "--platform", "http://school.example", status=2
    )


# ---------------------------------------------------------------- an instructor chooses a task


def choosing(site: Site, school: School, role: str = "Instructor", back: str = "", **told: Any) -> Response:
    """Open the choice of a task, as the platform does when an instructor adds one."""
    eva = Person.of(site)
    back = back or f"{school.url}/chosen?course=7"
    return sent(eva, school.launch(asked(eva, school, "eva"), "eva", role=role, choose=back, **told))


def test_an_instructor_chooses_a_task_for_the_course(site: Site, school: School) -> None:
    page = choosing(site, school)
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert f"form-action 'self' {school.url};" in policy
    assert f"frame-ancestors {school.url}" in policy
    assert re.findall(r'action="([^"]+)"', page.text)[0] == f"{school.url}/chosen?course=7"
    answers = re.findall(r'name="JWT" value="([^"]+)"', page.text)
    items = [school.config.validate_deeplinking_resp({"JWT": one}) for one in answers]
    assert [item["custom"]["assignment"] for (item,) in items] == list(site.open_assignments())
    (first,) = items[0]
    assert (first["type"], first["url"]) == ("ltiResourceLink", f"{URL}/a/{NAME}")
    assert first["lineItem"] == {"scoreMaximum": 100.0, "label": NAME, "resourceId": NAME}
    claims = school.config.tool_validate_and_decode(answers[0])
    assert (claims["iss"], claims["aud"]) == (CLIENT, school.url)
    assert claims["https://purl.imsglobal.org/spec/lti-dl/claim/data"] == {"csrf": "of the platform"}
    assert claims[f"{CLAIM}deployment_id"] == DEPLOYMENT
    assert "set-cookie" not in page.headers


def test_a_platform_may_send_no_data_of_its_own(site: Site, school: School) -> None:
    page = choosing(site, school, data=False)
    answers = re.findall(r'name="JWT" value="([^"]+)"', page.text)
    assert "https://purl.imsglobal.org/spec/lti-dl/claim/data" not in school.config.tool_validate_and_decode(answers[0])


def test_the_address_of_a_chosen_task_names_its_assignment(site: Site, school: School) -> None:
    _, answer = signed_in(site, school, "lti-bea", **{f"{CLAIM}target_link_uri": f"{URL}/a/2-heads"})
    assert answer.headers["location"] == "/a/2-heads"


def test_a_student_chooses_no_task(site: Site, school: School) -> None:
    answer = choosing(site, school, role="Learner")
    assert (answer.status_code, "JWT" in answer.text) == (403, False)


@pytest.mark.parametrize(
    "back", ["https://evil.example/", "javascript:alert(1)", "//evil.example", "http://127.0.0.1:1/"]
)
def test_a_choice_that_would_go_elsewhere(site: Site, school: School, back: str) -> None:
    answer = choosing(site, school, back=back)
    assert (answer.status_code, "JWT" in answer.text) == (403, False)


def test_a_choice_is_no_sign_in(site: Site, school: School) -> None:
    assert "/in/" not in choosing(site, school).text


def test_a_choice_that_is_sent_twice(site: Site, school: School) -> None:
    eva = Person.of(site)
    form = school.launch(asked(eva, school, "eva"), "eva", role="Instructor", choose=f"{school.url}/chosen")
    assert [sent(eva, form).status_code for _ in range(2)] == [200, 403]


# ---------------------------------------------------------------- the roster


def member(user: str, **told: Any) -> dict[str, Any]:
    return {"user_id": user, "status": "Active", "roles": [LEARNER], **told}


def test_the_roster_is_in_the_gradebook_before_anybody_comes(site: Site, school: School) -> None:
    school.members = [
        [member("r1", given_name="Rosa", family_name="Núñez", email="rosa@example.org"), member("r2", roles=["Learner"])],
        [member("r3"), member("gone", status="Inactive"), member("boss", roles=[f"{MEMBERSHIP}#Instructor"])],
        [member("../../root"), member(".attempts"), member(""), member("x" * 200), {}, "nonsense", member("r4")],
    ]  # fmt: skip
    sender = Sender(site)
    sender.take_rosters()
    assert "r1" not in site.students()
    signed_in(site, school, "lti-eva", role="Instructor")
    sender.take_rosters()
    listed = site.students()
    assert {"r1", "r2", "r3", "r4"} <= set(listed)
    assert not {"gone", "boss", "", ".attempts", "../../root"} & set(listed)
    assert (listed["r1"].name, listed["r1"].email) == ("Rosa Núñez", "rosa@example.org")
    assert "Rosa Núñez" in instructor(site).get("/class").text
    school.members = [[member("later")]]
    sender.take_rosters()
    assert "later" not in site.students()  # not asked again at once
    signed_in(site, school, "lti-eva", role="Instructor")
    sender.take_rosters()
    assert "later" in site.students()
    assert "r1" in site.students()  # nobody is taken away: their work is here


def test_a_roster_goes_by_the_same_ids_as_a_launch(site: Site, school: School) -> None:
    text = (site.root / "serve.toml").read_text()
    (site.root / "serve.toml").write_text(text + 'student = "ext.user_username"\nprefix = "p-"\n')
    school.members = [[member("77", ext_user_username="kim"), member("78")]]
    try:
        signed_in(site, school, "eva", role="Instructor", **{f"{CLAIM}ext": {"user_username": "eva"}})
        Sender(site).take_rosters()
    finally:
        (site.root / "serve.toml").write_text(text)
    assert "p-kim" in site.students()
    assert not {"p-77", "p-78", "78"} & set(site.students())


def test_a_roster_that_fails_stops_nothing(site: Site, school: School, monkeypatch: pytest.MonkeyPatch) -> None:
    signed_in(site, school, "lti-eva", role="Instructor")
    monkeypatch.setattr(school, "answer", lambda *told: (500, {}))
    Sender(site).take_rosters()
    monkeypatch.undo()
    assert Sender(site).send_all() >= 0


@pytest.mark.parametrize("url", ["https://evil.example/members", "http://169.254.169.254/", "file:///etc/passwd", 7])
def test_an_address_of_a_roster_that_is_not_the_platforms(site: Site, school: School, url: object) -> None:
    claims = {"https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice": {"context_memberships_url": url}}
    signed_in(site, school, "lti-eva", role="Instructor", **claims)
    assert {row["url"] for row in site.store.rows("SELECT url FROM lti_roster")} <= {f"{school.url}/members"}


def test_the_next_page_of_a_roster_is_the_platforms_or_none(
    site: Site, school: School, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "grader.serve.lti_services.NEXT", re.compile("<([^>]+/other)>")
    )  # the first address of the header
    monkeypatch.setattr("grader.serve.lti_services.urljoin", lambda base, url: "https://evil.example/members")
    school.members = [[member("n1")], [member("n2")]]
    signed_in(site, school, "lti-eva", role="Instructor")
    Sender(site).take_rosters()
    assert not {"n1", "n2"} & set(site.students())


def test_a_roster_without_an_end(site: Site, school: School, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.serve.lti_services.MOST_PAGES", 2)
    school.members = [[member("e1")], [member("e2")], [member("e3")]]
    signed_in(site, school, "lti-eva", role="Instructor")
    Sender(site).take_rosters()
    assert ({"e1", "e2"} <= set(site.students()), "e3" in site.students()) == (True, False)


# ---------------------------------------------------------------- scores that the platform has not


def test_the_class_page_names_the_scores_that_are_not_sent(site: Site, school: School) -> None:
    otto, _ = signed_in(site, school, "lti-otto", assignment=NAME)
    otto.hands_in(solved(site, "1.1", remark="otto"))
    grade(site)
    school.broken = 1
    sender = Sender(site)
    assert sender.send_all() == 0
    page = instructor(site).get("/class").text
    assert "1 score has not arrived yet" in page
    assert f"lti-otto, {NAME}: 5 of 100" in page
    Sender(site).send_all()
    page = instructor(site).get("/class").text
    assert ("The server has sent 1 score." in page, "not arrived yet" in page) == (True, False)
    assert "Scores for your platform" not in student(site).get("/").text
