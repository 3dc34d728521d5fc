"""Platforms on several hosts: lines to add to serve.toml, deployments, items, scores after an error."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from urllib.request import Request

import pytest
from joserfc.jwk import RSAKey

from grader.records import Grade, GradebookEntry, Student
from grader.serve import lti_calls, lti_scores, settings
from grader.serve.lti_calls import LtiError, own_key
from grader.serve.lti_scores import Sender
from grader.serve.settings import Platform, SettingsError, is_within, origin, read_settings
from grader.serve.sign_in import PLATFORM_ROLE, links_for
from grader.serve.site import Site
from tests.classes.gradebook.small_course import NAME, SmallCourse
from tests.serve.people import Person, instructor, open_course
from tests.serve.school import CLAIM, CLIENT, SCORE, TOOL, sent
from tests.serve.simulated import AGS, INSTRUCTOR, KINDS, LEARNER, Fault, Internet, Simulated

CLOUD = "https://sso.canvaslms.com"
SERVICES = 'services = ["https://uni.instructure.com"]'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADER_SECRET", "test")
        yield open_course(tmp_path_factory.mktemp("faults") / "course")


@pytest.fixture
def internet(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Internet]:
    """Canvas and Blackboard, of which nothing is known yet."""
    key = own_key(site.folder)
    made = Internet({name: Simulated(name, key) for name in ("canvas", "blackboard")})
    monkeypatch.setattr(lti_calls, "_opener", made)
    monkeypatch.setattr(lti_calls, "breaker", lti_calls.Breaker())
    lti_calls._keys.clear()
    for table in ("lti_place", "lti_roster", "lti_course", "lti_elsewhere"):
        site.store.change(f"DELETE FROM {table}")
    yield made
    lti_calls._keys.clear()


def rules(site: Site, text: str) -> None:
    """Write serve.toml, and let it be read again within the second."""
    (site.root / "serve.toml").write_text(text)
    settings._read.clear()


def by_hand(*more: str, deployment: str = str(KINDS["canvas"].deployment)) -> str:
    """Return what serve.toml says of Canvas without a preset."""
    lines = [
        "[lti.cloud]", 'issuer = "https://canvas.instructure.com"', f'client_id = "{CLIENT}"',
        f'deployments = ["{deployment}"]', f'login_url = "{CLOUD}/api/lti/authorize_redirect"',
        f'token_url = "{CLOUD}/login/oauth2/token"', f'keys_url = "{CLOUD}/api/lti/security/jwks"',
    ]  # fmt: skip
    return "\n".join([*lines, *more, ""])


def launch(
    site: Site, platform: Simulated, user: str = "ada", role: str = LEARNER, query: str = "", **claims: Any
) -> Any:
    """Open the task on a platform; return the page of ours in its frame."""
    person = Person.of(site)
    start = f"/lti/login?iss={platform.kind.issuer}&client_id={CLIENT}&login_hint=h{query}"
    told = dict(parse_qsl(urlsplit(person.browser.get(start).headers["location"]).query))
    claims.setdefault("custom", {"assignment": NAME})
    return sent(person, {"id_token": platform.signed(told, user, (role,), **claims), "state": told["state"]})


@pytest.fixture
def five(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Let the gradebook say that students have points, by their ids."""
    given = {"ada": 5.0}

    def entries(site: Site) -> list[GradebookEntry]:
        return [
            GradebookEntry(
                student=Student(id=id),
                assignment=NAME,
                grade=Grade(student=id, assignment=NAME, status="graded", score=points, max_score=100.0),
                score=points,
                max_score=100.0,
            )
            for id, points in given.items()
        ]

    monkeypatch.setattr(Site, "entries", entries)
    return given


# ---------------------------------------------------------------- hosts


def test_services_on_other_hosts_are_named_and_not_asked(
    site: Site, internet: Internet, five: dict[str, float], caplog: pytest.LogCaptureFixture
) -> None:
    """Instructor's page, choice of a task and log say the line; with it, everything arrives."""
    caplog.set_level(logging.WARNING)
    canvas = internet.platforms["canvas"]
    rules(site, by_hand())
    assert launch(site, canvas).status_code == 200
    choice = launch(site, canvas, "eva", INSTRUCTOR, **canvas.choice())
    assert (choice.status_code, "<form" in choice.text) == (403, False)
    said = unescape(choice.text)
    assert SERVICES in said
    assert "[lti.cloud]" in said
    launch(site, canvas, "eva", INSTRUCTOR)
    sender = Sender(site)
    sender.take_rosters()
    assert (sender.send_all(), canvas.scores) == (0, [])
    assert not any(url.startswith(canvas.kind.services) for _, url in canvas.asked)
    page = unescape(instructor(site).get("/class").text)
    assert "under [lti.cloud] in serve.toml" in page
    assert SERVICES in page
    warnings = [record.getMessage() for record in caplog.records if SERVICES in record.getMessage()]
    assert len(warnings) == 1  # once, however many come
    rules(site, by_hand(SERVICES))
    assert "serve.toml" not in instructor(site).get("/class").text
    assert launch(site, canvas, "eva", INSTRUCTOR, **canvas.choice()).status_code == 200
    launch(site, canvas)
    assert (Sender(site).send_all(), len(canvas.scores)) == (1, 1)


def test_a_wildcard_lets_all_hosts_below_it_in(site: Site, internet: Internet, five: dict[str, float]) -> None:
    canvas = internet.platforms["canvas"]
    rules(site, by_hand('services = ["https://*.instructure.com"]'))
    policy = launch(site, canvas).headers["content-security-policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    for directive in ("frame-ancestors", "form-action"):
        assert "https://*.instructure.com" in directives[directive].split()
    assert Sender(site).send_all() == 1


def test_a_host_is_only_named_if_the_launch_is_signed(site: Site, internet: Internet) -> None:
    canvas = internet.platforms["canvas"]
    rules(site, by_hand())
    canvas.key = RSAKey.generate_key(2048, {"kid": "canvas-1"})
    published = Simulated("canvas", own_key(site.folder))
    internet.platforms["canvas"] = published
    assert launch(site, canvas).status_code == 403
    assert site.store.rows("SELECT * FROM lti_elsewhere") == []


@pytest.mark.parametrize(
    "url", ["http://uni.instructure.com/x", "javascript:alert(1)", "https://a b/", "https://", 7, None]
)
def test_no_line_names_what_is_no_host(site: Site, internet: Internet, url: object) -> None:
    canvas = internet.platforms["canvas"]
    rules(site, by_hand(SERVICES))
    launch(site, canvas, **{AGS: {"lineitem": url, "lineitems": url}})
    assert site.store.rows("SELECT * FROM lti_elsewhere") == []


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("https://uni.instructure.com", "https://uni.instructure.com/api", True),
        ("https://*.instructure.com", "https://uni.instructure.com/api", True),
        ("https://*.instructure.com", "https://uni.beta.instructure.com", True),
        ("https://*.instructure.com", "https://instructure.com", False),
        ("https://*.instructure.com", "https://evilinstructure.com", False),
        ("https://*.instructure.com", "https://uni.instructure.com.evil.example", False),
        ("https://*.instructure.com", "https://evil.example\\.instructure.com/", False),
        ("https://*.instructure.com", "https://evil.example/.instructure.com", False),
        ("https://*.instructure.com", "https://user@uni.instructure.com/", False),
        ("https://*.instructure.com", "https://uni.instructure.com:8443/", False),
        ("https://*.instructure.com", "http://uni.instructure.com/", False),
        ("https://uni.instructure.com", "https://uni.instructure.com@evil.example/", False),
    ],
)
def test_which_addresses_an_entry_of_services_allows(pattern: str, url: str, expected: bool) -> None:
    assert is_within(origin(url), pattern) is expected
    about = dict(issuer="https://i.example", client_id="c", deployments=["1"], services=[pattern])
    addresses = dict.fromkeys(("login_url", "token_url", "keys_url"), "https://i.example/x")
    assert Platform.model_validate({**about, **addresses}).may_fetch(url) is expected


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        *[
            (f'services = ["{bad}"]', "services: must be origins, as in")
            for bad in (
                "https://*.com", "http://school.example", "https://a.example/path", "https://a.example; script-src *",
                "school.example", "https://*", "*", "https://a.*.example.org", "", "https://a.example *",
            )
        ],
        ('services = "https://a.example"', "services: Input should be a valid list"),
        ('platform = "blackbored"', r"\[lti.cloud\]: platform must be one of canvas, blackboard"),
        ('platform = ["canvas"]', r"\[lti.cloud\]: platform must be one of canvas, blackboard"),
        ('platform = "canvas"\nschool = 7', r'\[lti.cloud\]: a platform needs school = "https://…"'),
        ('platform = "canvas"\nschool = "https://uni.edu"\ntool = 7', "tool: Input should be a valid string"),
        ('platform = "canvas"\nschool = "http://uni.instructure.com"', "a platform needs school"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_used(tmp_path: Path, lines: str, said: str) -> None:
    (tmp_path / "serve.toml").write_text(by_hand(lines))
    with pytest.raises(SettingsError, match=said):
        read_settings(tmp_path)


def test_what_serve_toml_says_comes_before_the_preset(tmp_path: Path) -> None:
    """And trial systems of the vendor have addresses of their own."""
    text = '[lti.a]\nplatform = "canvas"\nschool = "https://uni.beta.instructure.com/"\nclient_id = "7"\n'
    (tmp_path / "serve.toml").write_text(text + 'services = ["https://*.instructure.com/"]\n')
    platform = read_settings(tmp_path).lti["a"]
    assert (platform.issuer, platform.deployments) == ("https://canvas.beta.instructure.com", ["*"])
    assert platform.token_url == "https://sso.beta.canvaslms.com/login/oauth2/token"
    assert platform.services == ["https://*.instructure.com"]
    (tmp_path / "serve.toml").write_text(text + 'services = ["*.instructure.com"]\n')
    assert read_settings(tmp_path).lti["a"].services == platform.services
    (tmp_path / "serve.toml").write_text(text.replace("canvas", "blackboard", 1))
    with pytest.raises(SettingsError, match=r"\[lti.a\] deployments: it is missing"):
        read_settings(tmp_path)


# ---------------------------------------------------------------- deployments and schools


def test_a_launch_of_another_deployment_says_the_line(site: Site, internet: Internet) -> None:
    canvas = internet.platforms["canvas"]
    rules(site, by_hand(SERVICES, deployment="1"))
    page = launch(site, canvas)
    line = f'deployments = ["1", "{canvas.kind.deployment}"] under [lti.cloud]'
    assert (page.status_code, line in unescape(page.text)) == (403, True)
    rules(site, by_hand(SERVICES, deployment="*"))
    assert launch(site, canvas).status_code == 200
    assert launch(site, canvas, **{f"{CLAIM}deployment_id": ""}).status_code == 403


def test_two_schools_with_one_issuer_and_client_are_two_entries(site: Site, internet: Internet) -> None:
    """They share the keys, so only the deployment says which school it is."""
    blackboard = internet.platforms["blackboard"]
    schools = {"north": "d-north", "south": "d-south"}
    text = "\n".join(
        f'[lti.{name}]\nplatform = "blackboard"\nschool = "https://{name}.blackboard.com"\nclient_id = "{CLIENT}"\n'
        f'deployments = ["{deployment}"]\nprefix = "{name}-"\n'
        for name, deployment in schools.items()
    )
    rules(site, text)
    for query in ("", "&lti_deployment_id=d-south", "&lti_deployment_id=unknown"):
        for name, deployment in schools.items():
            item = {"lineitem": f"https://{name}.blackboard.com/items/1"}
            assert (
                launch(site, blackboard, query=query, **{f"{CLAIM}deployment_id": deployment, AGS: item}).status_code
                == 200
            )
    assert {"north-ada", "south-ada"} <= set(site.students())
    places = {row["person"]: (row["platform"], row["lineitem"]) for row in site.store.rows("SELECT * FROM lti_place")}
    assert places == {f"{name}-ada": (name, f"https://{name}.blackboard.com/items/1") for name in schools}
    assert launch(site, blackboard, **{f"{CLAIM}deployment_id": "d-west"}).status_code == 403


def test_two_clients_of_one_platform_have_tokens_of_their_own(site: Site, internet: Internet) -> None:
    canvas = internet.platforms["canvas"]
    rules(site, by_hand(SERVICES))
    (one,) = site.settings.lti.values()
    other = one.model_copy(update={"client_id": "another"})
    services = Sender(site)._services
    services.ask(one, lti_scores.LINE_ITEM, canvas.item, lti_scores.ITEM)
    with pytest.raises(LtiError, match="invalid_grant"):
        services.ask(other, lti_scores.LINE_ITEM, canvas.item, lti_scores.ITEM)


# ---------------------------------------------------------------- line items


def without_item(canvas: Simulated) -> dict[str, Any]:
    """Return a launch's claim about scores as Canvas sends it for a link in a module."""
    return {AGS: {"lineitems": f"{canvas.kind.services}/items"}}


@pytest.mark.parametrize("filters", [True, False])
def test_an_item_is_looked_for_before_one_is_made_and_made_once(
    site: Site, internet: Internet, five: dict[str, float], filters: bool
) -> None:
    canvas = internet.platforms["canvas"]
    canvas.kind = replace(canvas.kind, filters=filters)
    five["bob"] = 7.0
    rules(site, by_hand(SERVICES))
    canvas.items = [
        {"id": f"{canvas.kind.services}/items/8", "scoreMaximum": 9, "resourceLinkId": "another-link", "tag": NAME},
        {"id": f"{canvas.kind.services}/items/9", "scoreMaximum": 9, "resourceLinkId": "link-1", "tag": "2-heads"},
        {"id": f"{canvas.kind.services}/items/7", "scoreMaximum": 9, "resourceLinkId": "link-1", "tag": [NAME]},
    ]
    for user in ("ada", "bob"):
        launch(site, canvas, user, **without_item(canvas))
    assert Sender(site).send_all() == 2
    assert len([url for method, url in canvas.asked if method == "GET" and "/items?" in url]) == 1
    (made,) = canvas.created
    assert made | {"id": ""} == {
        "id": "", "label": NAME, "scoreMaximum": 100, "resourceId": NAME, "tag": NAME, "resourceLinkId": "link-1",
    }  # fmt: skip
    site.store.change(
        "UPDATE lti_place SET lineitem = '', sent = '', sending = ''"
    )  # killed before it was written down
    assert (Sender(site).send_all(), len(canvas.created)) == (2, 1)
    launch(site, canvas, **without_item(canvas))  # comes again: the item stays, and the score is there
    assert (Sender(site).send_all(), len(canvas.created)) == (0, 1)


def test_a_launch_without_an_item_takes_none_away(site: Site, internet: Internet, five: dict[str, float]) -> None:
    canvas = internet.platforms["canvas"]
    rules(site, by_hand(SERVICES))
    launch(site, canvas)
    launch(site, canvas, **{**without_item(canvas), f"{CLAIM}resource_link": {"id": "in-a-module"}})
    assert (Sender(site).send_all(), canvas.created, len(canvas.scores)) == (1, [], 1)


def test_an_item_that_the_platform_does_not_let_us_make(site: Site, internet: Internet, five: dict[str, float]) -> None:
    canvas = internet.platforms["canvas"]
    rules(site, by_hand(SERVICES))
    canvas.kind = replace(canvas.kind, may_create=False)
    canvas.items = []
    launch(site, canvas, **without_item(canvas))
    assert Sender(site).send_all() == 0
    assert "refused: 403 refused: this item cannot be made" in instructor(site).get("/class").text


@pytest.mark.parametrize("id", ["https://evil.example/items/1", None, 7])
def test_an_item_elsewhere_gets_no_score(site: Site, internet: Internet, five: dict[str, float], id: object) -> None:
    canvas = internet.platforms["canvas"]
    rules(site, by_hand(SERVICES))
    canvas.items = [{"id": id, "scoreMaximum": 9, "resourceLinkId": "link-1", "tag": NAME}]
    canvas.kind = replace(canvas.kind, may_create=False)
    launch(site, canvas, **without_item(canvas))
    assert (Sender(site).send_all(), canvas.scores) == (0, [])
    assert [row["lineitem"] for row in site.store.rows("SELECT * FROM lti_place")] == [""]


# ---------------------------------------------------------------- scores after an error


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait between two tries."""
    monkeypatch.setattr(lti_scores, "ROUND_SECONDS", 0.0)


@pytest.fixture
def canvas(site: Site, internet: Internet, five: dict[str, float], at_once: None) -> Simulated:
    """A platform on which a student has a score that it has not."""
    rules(site, by_hand(SERVICES))
    assert launch(site, internet.platforms["canvas"]).status_code == 200
    return internet.platforms["canvas"]


def test_a_time_that_was_taken_is_replaced(site: Site, canvas: Simulated) -> None:
    """The answer was lost, and the platform refuses the same time."""
    sender = Sender(site)
    canvas.loses = 1
    assert [sender.send_all() for _ in range(4)] == [0, 0, 1, 0]
    first, second = canvas.scores
    assert (first["scoreGiven"], second["scoreGiven"]) == (5, 5)
    assert first["timestamp"] < second["timestamp"]


def test_a_score_that_is_refused_at_every_time(site: Site, canvas: Simulated) -> None:
    """Also after an error, the new time is tried once, and then no more."""
    sender = Sender(site)
    canvas.faults = [Fault(503, "busy")]
    canvas.unknown = {"ada"}
    asked = [(sender.send_all(), len(canvas.asked))[1] for _ in range(6)]
    assert [b - a for a, b in pairwise(asked)] == [1, 1, 0, 0, 0]


def test_a_refused_score_is_sent_when_it_changes_or_the_student_comes(
    site: Site, canvas: Simulated, five: dict[str, float]
) -> None:
    sender = Sender(site)
    canvas.unknown = {"ada"}
    assert [sender.send_all() for _ in range(2)] == [0, 0]
    canvas.unknown.clear()
    assert sender.send_all() == 0
    launch(site, canvas)
    assert sender.send_all() == 1
    canvas.unknown, five["ada"] = {"ada"}, 6.0
    assert sender.send_all() == 0
    canvas.unknown, five["ada"] = set(), 7.0
    assert sender.send_all() == 1


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (Fault(429, "slow down", {"Retry-After": "120"}), 120),
        (Fault(503, "maintenance", {"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"}), 3600),
        (Fault(503, "maintenance", {"Retry-After": "tomorrow"}), 60),
        (Fault(403, "403 Forbidden (Rate Limit Exceeded)"), 60),  # Canvas
        (Fault(429, ""), 60),
    ],
    ids=str,
)
def test_a_platform_that_wants_to_be_left_alone(
    site: Site, canvas: Simulated, five: dict[str, float], monkeypatch: pytest.MonkeyPatch, fault: Fault, seconds: float
) -> None:
    """No student's score is sent before the time is over, and then all are."""
    five["bob"] = 7.0
    launch(site, canvas, "bob")
    moment = [1000.0]
    monkeypatch.setattr(lti_scores.time, "monotonic", lambda: moment[0])
    sender = Sender(site)
    canvas.faults = [fault]
    assert sender.send_all() == 0
    asked = len(canvas.asked)
    moment[0] += seconds - 2
    assert (sender.send_all(), len(canvas.asked)) == (0, asked)
    moment[0] += 4
    assert sender.send_all() == 2


def test_the_token_is_kept_when_one_student_fails(site: Site, canvas: Simulated, five: dict[str, float]) -> None:
    five |= {"bob": 7.0, "eve": 8.0}
    for user in ("bob", "eve"):
        launch(site, canvas, user)
    canvas.unknown = {"ada"}
    sender = Sender(site)
    assert sender.send_all() == 2
    assert len(canvas.assertions) == 1
    canvas.tokens.clear()  # the platform has forgotten it
    five["bob"] = 9.0
    assert [sender.send_all() for _ in range(2)] == [0, 1]
    assert len(canvas.assertions) == 2


def test_a_platform_that_gives_no_token_is_not_asked_for_each_student(
    site: Site, canvas: Simulated, five: dict[str, float]
) -> None:
    """As without Brightspace's audience. When the operator has fixed serve.toml, all scores arrive."""
    five["bob"] = 7.0
    launch(site, canvas, "bob")
    rules(site, by_hand(SERVICES, 'audience = "https://api.example/token"'))
    sender = Sender(site)
    assert sender.send_all() == 0
    assert [url for method, url in canvas.asked if method == "POST"] == [canvas.kind.token]
    page = unescape(instructor(site).get("/class").text)
    assert f'issued no token for {SCORE}: 400 refused: {{"error": "invalid_grant"}}' in page
    assert "Send the refused scores again" not in page
    rules(site, by_hand(SERVICES))
    sender._quiet.clear()
    assert sender.send_all() == 2


def test_a_refusal_cannot_write_into_the_page(site: Site, canvas: Simulated) -> None:
    canvas.faults = [Fault(400, "<script>alert(1)</script>\u202e\n" + "x" * 5000)]
    Sender(site).send_all()
    page = instructor(site).get("/class").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "\u202e" not in page
    assert "x" * 400 not in page


# ---------------------------------------------------------------- registration


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A course without a platform."""
    monkeypatch.setenv("GRADER_SECRET", "test")
    return open_course(tmp_path / "course")


class Registrar:
    """The side of a platform on which tools register."""

    def __init__(
        self, school: str, configuration: dict[str, Any], answer: dict[str, Any], token: str = "ticket-1", at: str = ""
    ) -> None:
        self.school, self.configuration, self.reply, self.token = school, configuration, answer, token
        self.at = at or school  # the host of the configuration
        self.tool: dict[str, Any] = {}

    def answer(self, request: Request) -> tuple[int, str, list[tuple[str, str]]]:
        """Answer for the configuration and for the registration."""
        if request.get_header("Authorization") != (f"Bearer {self.token}" if self.token else None):
            raise Fault(401, "no token")
        if request.get_method() == "GET":
            endpoint = f"{self.school}/register"
            return 200, json.dumps({**self.configuration, "registration_endpoint": endpoint}), []
        assert isinstance(request.data, bytes)
        self.tool = json.loads(request.data)
        return 200, json.dumps({**self.tool, **self.reply}), []


def registered(site: Site, registrar: Registrar, kind: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let a platform open the address of the registration; return the page."""
    internet = Internet({})
    internet.others |= {registrar.school: registrar.answer, registrar.at: registrar.answer}
    monkeypatch.setattr(lti_calls, "_opener", internet)
    about = f"{kind} {registrar.school}".strip()
    token = links_for(site.store, site.key, [about], PLATFORM_ROLE, 1)[about]
    query = f"openid_configuration={registrar.at}/configuration"
    query += f"&registration_token={registrar.token}" if registrar.token else ""
    return Person.of(site).get(f"/lti/register/{token}?{query}")


ISSUER = "https://canvas.instructure.com"
CANVAS_CONFIGURATION = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{CLOUD}/api/lti/authorize_redirect",
    "token_endpoint": f"{CLOUD}/login/oauth2/token",
    "jwks_uri": f"{CLOUD}/api/lti/security/jwks",
    "authorization_server": "canvas.instructure.com",
}


def test_canvas_registers_the_tool(empty: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its configuration is at the host of the issuer and needs the token, and it names no deployment."""
    registrar = Registrar(
        "https://uni.instructure.com", CANVAS_CONFIGURATION, {"client_id": 170000000000007}, at=ISSUER
    )
    page = registered(empty, registrar, "canvas", monkeypatch)
    assert page.status_code == 200, page.text
    assert "<h1>Registered</h1>" in page.text
    assert '<script src="/static/close.js"' in page.text
    assert "org.imsglobal.lti.close" in Person.of(empty).get("/static/close.js").text
    assert page.headers["cross-origin-opener-policy"] == "unsafe-none"
    (platform,) = read_settings(empty.root).lti.values()
    assert (platform.issuer, platform.client_id) == ("https://canvas.instructure.com", "170000000000007")
    assert (platform.platform, platform.deployments, platform.audience) == ("canvas", ["*"], "")
    assert platform.may_fetch("https://uni.instructure.com/api/lti/courses/7/line_items")
    tool = registrar.tool[TOOL]
    assert tool["https://canvas.instructure.com/lti/privacy_level"] == "public"
    assert tool["domain"] == "127.0.0.1:8000"
    placements = {message["type"]: message["placements"] for message in tool["messages"]}
    assert placements == {
        "LtiResourceLinkRequest": ["course_navigation"],
        "LtiDeepLinkingRequest": ["assignment_selection", "link_selection"],
    }


def test_another_issuer_needs_the_name_of_its_platform(empty: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, issuer in (
        ("", "https://canvas.instructure.com"),
        ("canvas", "https://blackboard.com"),
        ("moodle", "https://x.example"),
    ):
        registrar = Registrar(
            "https://uni.instructure.com", {**CANVAS_CONFIGURATION, "issuer": issuer}, {"client_id": "7"}
        )
        page = registered(empty, registrar, kind, monkeypatch)
        assert (page.status_code, "names another issuer" in page.text) == (403, True)
    assert read_settings(empty.root).lti == {}


@pytest.mark.parametrize(
    ("kind", "issuer", "heading", "deployments"),
    [
        ("", "https://lms.uni.edu", "Registered", ["*"]),  # the client was made for this registration
        ("sakai", "https://lms.uni.edu", "Registered", ["1"]),
        ("blackboard", "https://blackboard.com", "One step is missing", []),  # its clients serve several schools
    ],
)
def test_a_registration_without_a_deployment(
    empty: Site, monkeypatch: pytest.MonkeyPatch, kind: str, issuer: str, heading: str, deployments: list[str]
) -> None:
    configuration = {
        **dict.fromkeys(("authorization_endpoint", "token_endpoint", "jwks_uri"), "https://lms.uni.edu/lti"),
        "issuer": issuer, "authorization_server": "https://api.uni.edu/token",
    }  # fmt: skip
    registrar = Registrar("https://lms.uni.edu", configuration, {"client_id": "7", TOOL: None}, token="")
    page = registered(empty, registrar, kind, monkeypatch)
    assert (page.status_code, f"<h1>{heading}</h1>" in page.text) == (200, True), page.text
    (platform,) = read_settings(empty.root).lti.values()
    assert (platform.deployments, platform.audience) == (deployments, "https://api.uni.edu/token")
    if not deployments:
        assert "deployments = [&#34;…&#34;]" in page.text or 'deployments = ["…"]' in page.text


# ---------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    return SmallCourse.make(tmp_path_factory.mktemp("commands") / "course")


@pytest.mark.parametrize("name", KINDS)
def test_the_command_writes_the_platform_and_says_what_to_enter(course: SmallCourse, name: str) -> None:
    """What it writes is what the simulated platforms are, which are written from other sources."""
    kind = KINDS[name]
    (course.root / "serve.toml").write_text('url = "https://hand-in.uni.edu"\n')
    tool = [word for line in kind.rules.splitlines() for word in re.findall(r'^tool = "(.*)"', line)]
    options = [*(["--tool", *tool] if tool else []), "--deployment", str(kind.deployment)]
    call = ["roster", "--platform", name, "--school", kind.school]
    said = course.grader(*call, "--client-id", CLIENT, *options)
    (platform,) = read_settings(course.root).lti.values()
    assert (platform.issuer, platform.login_url, platform.keys_url) == (kind.issuer, kind.login, kind.keys)
    assert (platform.token_url, platform.audience or platform.token_url) == (kind.token, kind.audience or kind.token)
    assert platform.may_fetch(f"{kind.services}/items")
    assert kind.frames in platform.origins
    assert "https://hand-in.uni.edu/lti/launch" in said
    if name == "canvas":
        start = said.index("{")
        told = json.loads(said[start : said.rindex("}") + 1])
        assert (told["public_jwk_url"], told["oidc_initiation_url"]) == (
            "https://hand-in.uni.edu/lti/keys", "https://hand-in.uni.edu/lti/login",
        )  # fmt: skip
    else:
        assert "https://hand-in.uni.edu/lti/login" in said
        assert "https://hand-in.uni.edu/lti/keys" in said
    assert "exists already" in course.grader(*call, "--client-id", CLIENT, *options, status=2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("canvas",), "needs --school"),
        (("canvas", "--school", "http://uni.instructure.com"), "needs --school"),
        (("blackboard", "--school", "https://uni.edu", "--client-id", "7"), "Pass your school's --deployment"),
        (("sakai", "--school", "https://uni.edu", "--client-id", "7"), "Pass this number with --tool"),
        (("blackbored", "--school", "https://uni.edu"), "nor one of canvas, blackboard"),
    ],
)
def test_the_command_says_what_it_needs(course: SmallCourse, options: tuple[str, ...], said: str) -> None:
    (course.root / "serve.toml").write_text('url = "https://hand-in.uni.edu"\n')
    assert said in course.grader("roster", "--platform", *options, status=2)
    assert read_settings(course.root).lti == {}


def test_without_a_client_id_the_command_shows_how_to_get_one(course: SmallCourse) -> None:
    (course.root / "serve.toml").write_text('url = "https://hand-in.uni.edu"\n')
    said = course.grader("roster", "--platform", "canvas", "--school", "https://uni.instructure.com")
    assert "https://hand-in.uni.edu/lti/register/" in said
    assert "run this command again with --client-id" in said
    assert "lti/register" not in course.grader(
        "roster", "--platform", "schoology", "--school", "https://uni.schoology.com"
    )


def test_the_file_for_canvas_is_public_and_no_other_platform_has_one(site: Site) -> None:
    answer = Person.of(site).get("/lti/configuration/canvas")
    assert answer.headers["content-type"] == "application/json"
    told = answer.json()
    (extension,) = told["extensions"]
    places = {place["placement"]: place["message_type"] for place in extension["settings"]["placements"]}
    assert places["assignment_selection"] == "LtiDeepLinkingRequest"
    assert (extension["privacy_level"], len(told["scopes"])) == ("public", 3)
    for name in ("moodle", "nonsense"):
        assert Person.of(site).get(f"/lti/configuration/{name}").status_code == 404
