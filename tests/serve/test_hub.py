"""Signing in by JupyterHub, and handing in from a notebook server of it: against a small stand-in, and against a real JupyterHub."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest

from grader.serve import attempts
from grader.serve import hub as service
from grader.serve.sign_in import STATE, issue
from grader.serve.site import Site
from tests.classes.gradebook.small_course import COURSE, NAME
from tests.serve.people import URL, Person, grade, solved, student, token_in
from tests.serve.running import PATIENCE, wait_for

SECRET = "of the service"
ACCESS = "access:services!service=hand-in"


@dataclass
class Hub:
    """A stand-in for JupyterHub's OAuth: it speaks the part that the real one is tried with below."""

    url: str
    users: dict[str, dict[str, Any]] = field(default_factory=dict)  # by token
    codes: dict[str, str] = field(default_factory=dict)  # code → token
    asked: list[str] = field(default_factory=list)

    def knows(self, name: str, *, scopes: object = (ACCESS,), **told: Any) -> str:
        """Give a person a token; return it."""
        token = secrets.token_hex(8)
        self.users[token] = {"kind": "user", "name": name, "groups": [], "scopes": scopes, **told}
        return token

    def answer(self, path: str, form: dict[str, str], authorization: str) -> tuple[int, object]:
        self.asked.append(path)
        if path == "/hub/api/oauth2/token":
            own = {"client_id": "service-hand-in", "client_secret": SECRET, "redirect_uri": f"{URL}/hub/callback"}
            right = own.items() <= form.items() and form.get("grant_type") == "authorization_code"
            token = self.codes.pop(form.get("code", ""), None) if right else None
            return (200, {"access_token": token}) if token else (400, {"error": "invalid_grant"})
        user = self.users.get(authorization.removeprefix("token "))
        return (200, user) if path == "/hub/api/user" and user else (403, {})


@pytest.fixture(scope="module")
def hub(site: Site) -> Iterator[Hub]:
    """A stand-in at which the course's place to hand in is a service."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({})

        def do_POST(self) -> None:
            self._reply(dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode())))

        def _reply(self, form: dict[str, str]) -> None:
            status, told = made.answer(urlsplit(self.path).path, form, self.headers["Authorization"] or "")
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(told).encode())

        def log_message(self, *arguments: object) -> None:
            """Be quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, pytest.MonkeyPatch.context() as patched:
        made = Hub(f"http://127.0.0.1:{server.server_port}")
        patched.setenv("JUPYTERHUB_API_TOKEN", SECRET)
        patched.setattr("grader.serve.student_pages.LONGEST_STREAM", 0.2)  # or an upload by a token waits for its grade
        (site.root / "serve.toml").write_text(f'[hub]\nurl = "{made.url}"\ninstructors = ["ivo"]\n')
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield made
        server.shutdown()


def begins(person: Person, hub: Hub) -> str:
    """Press the button; return the state that the browser takes to the hub."""
    answer = person.get("/hub/login")
    assert answer.status_code == 302
    place = answer.headers["location"]
    assert place.startswith(f"{hub.url}/hub/api/oauth2/authorize?")
    told = dict(parse_qsl(urlsplit(place).query))
    assert told.pop("state")
    assert told == {"client_id": "service-hand-in", "redirect_uri": f"{URL}/hub/callback", "response_type": "code"}
    return dict(parse_qsl(urlsplit(place).query))["state"]


def comes_back(person: Person, hub: Hub, token: str, state: str) -> httpx2.Response:
    """Go where the hub sends the browser, with a code for a token."""
    code = secrets.token_hex(4)
    hub.codes[code] = token
    return person.get(f"/hub/callback?code={code}&state={state}")


def signed_in(site: Site, hub: Hub, token: str) -> tuple[Person, httpx2.Response]:
    """Sign in by the hub, and press the button."""
    person = Person.of(site)
    answer = comes_back(person, hub, token, begins(person, hub))
    assert answer.status_code == 303, answer.text
    return person, person.opens_link(answer.headers["location"].rpartition("/")[2])


# ---------------------------------------------------------------- what works


def test_a_student_of_the_hub_signs_in(site: Site, hub: Hub) -> None:
    assert 'href="/hub/login"' in Person.of(site).get("/").text
    ada, answer = signed_in(site, hub, hub.knows("ada"))
    assert answer.headers["location"] == "/"
    assert "Your assignments" in ada.get("/").text
    assert ada.get("/class").status_code == 404


@pytest.mark.parametrize(("name", "groups"), [("ivo", []), ("eva", ["other", f"formgrade-{COURSE}"])])
def test_an_instructor_of_the_hub_comes_to_the_class(site: Site, hub: Hub, name: str, groups: list[str]) -> None:
    person, answer = signed_in(site, hub, hub.knows(name, groups=groups))
    assert answer.headers["location"] == "/class"
    assert person.get("/class").status_code == 200


def by_token(site: Site, token: str, content: bytes, kind: str = "token") -> httpx2.Response:
    """Hand in from a notebook server, as `submit()` does there."""
    files, headers = {"notebook": (f"{NAME}.ipynb", content)}, {"authorization": f"{kind} {token}"}
    return Person.of(site).browser.post("/api/submissions", data={"assignment": NAME}, files=files, headers=headers)


def test_a_notebook_server_hands_in_and_is_told_what_becomes_of_it(site: Site, hub: Hub) -> None:
    token = hub.knows("lab")
    answer = by_token(site, token, solved(site, "1.1", remark="lab"))
    assert answer.status_code == 202
    told = answer.json()
    assert ("in the queue" in told["message"], told["url"]) == (True, f"{URL}/a/{NAME}")
    assert [one.nth for one in attempts.attempts_of(site.store, "lab")] == [1]
    grade(site)
    page = Person.of(site).browser.get(f"/a/{NAME}", headers={"authorization": f"token {token}"})
    assert "5 of 100 points" in re.sub(r"<[^>]+>", "", page.text)
    again = by_token(site, token, solved(site, "1.1", remark="lab"))
    assert (again.status_code, "the same file as your attempt 1" in again.text) == (400, True)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("state", ["", "made-up", "x" * 4000])
def test_a_sign_in_that_nobody_began_here(site: Site, hub: Hub, state: str) -> None:
    before = len(hub.asked)
    assert comes_back(Person.of(site), hub, hub.knows("ada"), state).status_code == 403
    assert len(hub.asked) == before  # the code is not even looked at


def test_a_sign_in_that_is_sent_twice(site: Site, hub: Hub) -> None:
    ada = Person.of(site)
    state = begins(ada, hub)
    assert comes_back(ada, hub, hub.knows("ada"), state).status_code == 303
    assert comes_back(ada, hub, hub.knows("ada"), state).status_code == 403


def test_the_state_of_a_platform_is_none_of_the_hub(site: Site, hub: Hub) -> None:
    state = issue(site.store, STATE, {"nonce": "n", "platform": "hub state"}, 60)
    assert comes_back(Person.of(site), hub, hub.knows("ada"), state).status_code == 403


def test_the_state_of_the_hub_is_none_of_a_platform(site: Site, hub: Hub) -> None:
    ada = Person.of(site)
    told = {"id_token": "x.y.z", "state": begins(ada, hub)}
    assert ada.browser.post("/lti/launch", data=told).status_code == 403


def test_a_code_that_the_hub_did_not_give(site: Site, hub: Hub) -> None:
    ada = Person.of(site)
    answer = ada.get(f"/hub/callback?code=made-up&state={begins(ada, hub)}")
    assert (answer.status_code, "does not answer as it should" in answer.text) == (403, True)


def test_a_server_without_the_services_secret(site: Site, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUPYTERHUB_API_TOKEN")
    ada = Person.of(site)
    assert comes_back(ada, hub, hub.knows("ada"), begins(ada, hub)).status_code == 403


@pytest.mark.parametrize(
    "told",
    [
        {"scopes": []},
        {"scopes": ["access:services!service=other"]},
        {"scopes": ["access:servers!server=ada/"]},
        {"kind": "service"},
        {"name": "../../root"},
        {"name": ".attempts"},
        {"name": ""},
        {"name": None},
        {"name": 5},
        {"name": ["ada"]},
        *[{"name": name} for name in ("ada\u202e", "ada\u200b", "ada ", "\tada", "class.html", "notebooks")],
        *[{"scopes": value} for value in (5, True, ACCESS, [[ACCESS]], {"a": ACCESS}, None)],
    ],
    ids=str,
)
def test_whom_the_hub_does_not_let_in(site: Site, hub: Hub, told: dict[str, Any]) -> None:
    ada, token = Person.of(site), hub.knows(**{"name": "ada", **told})
    answer = comes_back(ada, hub, token, begins(ada, hub))
    assert (answer.status_code, "JupyterHub does not allow you to submit here" in answer.text) == (403, True)
    before = len(attempts.everybodys(site.store))
    assert by_token(site, token, solved(site, remark="no access")).status_code == 403
    assert len(attempts.everybodys(site.store)) == before


@pytest.mark.parametrize("groups", [5, True, {"a": 1}, [[1]], None, f"formgrade-{COURSE}"], ids=str)
def test_groups_that_are_no_list_make_no_instructor(site: Site, hub: Hub, groups: object) -> None:
    ada, answer = signed_in(site, hub, hub.knows("ada", groups=groups))
    assert answer.headers["location"] == "/"
    assert ada.get("/class").status_code == 404


@pytest.mark.parametrize("token", ["", "made-up", SECRET, "x" * 4000])
def test_a_token_that_the_hub_does_not_know(site: Site, hub: Hub, token: str) -> None:
    before = len(attempts.everybodys(site.store))
    answer = by_token(site, token, solved(site, remark="forged"))
    assert answer.status_code in (401, 403)
    assert "Create a new code on the submission page." in answer.json()["error"]
    assert len(attempts.everybodys(site.store)) == before


@pytest.mark.parametrize("told", [None, {"scopes": []}, {"kind": "service"}, {"name": "ada\u200b"}], ids=str)
def test_a_token_that_was_refused_is_not_asked_about_again(
    site: Site, hub: Hub, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any] | None
) -> None:
    token = secrets.token_hex(8) if told is None else hub.knows(**{"name": "ada", **told})
    headers, before = {"authorization": f"token {token}"}, len(hub.asked)
    assert {Person.of(site).browser.get("/", headers=headers).status_code for _ in range(5)} == {403}
    assert len(hub.asked) == before + 1
    good = {"authorization": f"token {hub.knows('ada')}"}
    assert Person.of(site).browser.get("/", headers=good).status_code == 200
    hub.users[token] = {"kind": "user", "name": "ada", "groups": [], "scopes": [ACCESS]}
    clock = service.clock
    monkeypatch.setattr(service, "clock", lambda: clock() + service.REFUSED_SECONDS + 1)
    assert Person.of(site).browser.get("/", headers=headers).status_code == 200


def test_few_refused_tokens_are_remembered(site: Site, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_REFUSED", 3)
    for number in range(10):
        Person.of(site).browser.get("/", headers={"authorization": f"token made-up-{number}"})
        assert len(service._refused) <= 3


def test_the_name_and_password_of_basic_authentication_are_no_token(site: Site, hub: Hub) -> None:
    assert by_token(site, "YWRhOg==", solved(site, remark="basic"), "Basic").status_code == 401


def test_a_form_with_a_cookie_needs_its_token_whatever_header_it_has(site: Site, hub: Hub) -> None:
    """A page elsewhere can make a browser send its cookie, and no header of ours; with a made-up one the cookie is not looked at."""
    ada, files = student(site), {"notebook": ("a.ipynb", solved(site, remark="forged"))}
    assert ada.browser.post(f"/a/{NAME}", files=files, headers={"authorization": "token made-up"}).status_code == 403
    assert ada.browser.post(f"/a/{NAME}", files=files, headers={"authorization": "Basic x"}).status_code == 403


def test_the_hubs_token_is_no_way_into_the_class_for_a_student(site: Site, hub: Hub) -> None:
    headers = {"authorization": f"token {hub.knows('ada')}"}
    assert Person.of(site).browser.get("/class", headers=headers).status_code == 404


def test_no_token_of_the_hub_is_in_the_log(site: Site, hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    token = hub.knows("log")
    signed_in(site, hub, token)
    by_token(site, token, b"{}")
    assert "signed in: 'log', student, by hub" in caplog.text
    text = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("grader"))
    assert token not in text
    assert "code=" not in text


def test_without_a_hub_in_serve_toml_there_is_none(site: Site, hub: Hub) -> None:
    path = site.root / "serve.toml"
    text = path.read_text()
    path.write_text("# none\n")
    try:
        answers = [Person.of(site).get(one).status_code for one in ("/hub/login", "/hub/callback?code=1&state=2")]
        answers.append(by_token(site, hub.knows("ada"), b"{}").status_code)
        page = Person.of(site).get("/").text
    finally:
        path.write_text(text)
    assert (answers, "/hub/login" in page) == ([403, 403, 401], False)


# ---------------------------------------------------------------- a real JupyterHub


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


CONFIGURATION = """
from jupyterhub.proxy import Proxy

class NoProxy(Proxy):
    "Tests talk to the hub itself: configurable-http-proxy, which npm has, is not needed."
    should_start = False
    async def add_route(self, routespec, target, data): pass
    async def delete_route(self, routespec): pass
    async def get_all_routes(self): return {{}}
    async def get_route(self, routespec): return None
    async def check_routes(self, *arguments, **named): pass

c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.bind_url = c.JupyterHub.hub_bind_url = "{url}"
c.JupyterHub.hub_connect_url = "{url}"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allowed_users = {{"ada", "eva", "mallory"}}
c.JupyterHub.load_groups = {{"formgrade-attention": {{"users": ["eva"]}}}}
c.JupyterHub.services = [
    {{"name": "hand-in", "api_token": "{secret}", "oauth_redirect_uri": "{tool}/hub/callback", "oauth_no_confirm": True}},
    {{"name": "robot", "api_token": "{robot}", "admin": True}},
]
c.JupyterHub.load_roles = [{{
    "name": "hands-in", "scopes": ["access:services!service=hand-in"], "users": ["ada", "eva"],
}}]
"""


@contextmanager
def real_hub(folder: Path, robot: str = "", tool: str = URL) -> Iterator[str]:
    """Run JupyterHub without a proxy, with the place to hand in at `tool` as its service; yield the hub's address."""
    url = f"http://127.0.0.1:{free_port()}"
    (folder / "jupyterhub_config.py").write_text(
        CONFIGURATION.format(url=url, secret=SECRET * 4, robot=robot or secrets.token_hex(16), tool=tool)
    )
    log = folder / "log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "-f", "jupyterhub_config.py"], cwd=folder, stdout=file, stderr=file,
            env={**os.environ, "JUPYTERHUB_CRYPT_KEY": secrets.token_hex(32)},
        )  # fmt: skip
    try:
        wait_for(f"{url}/hub/health", process, log)
        yield url
    finally:
        process.terminate()
        process.wait(PATIENCE)


def from_real_hub(site: Site, url: str, name: str) -> tuple[Person, httpx2.Response]:
    """Sign in at the hub by its page, then here by the hub; return the last answer here."""
    person = Person.of(site)
    place = person.get("/hub/login").headers["location"]
    with httpx2.Client(base_url=url, follow_redirects=False, timeout=30) as browser:
        browser.get("/hub/login")
        form = {"username": name, "password": "x", "_xsrf": browser.cookies["_xsrf"]}
        assert browser.post("/hub/login", data=form).status_code == 302
        back = browser.get(place)
        while back.status_code == 302 and not back.headers["location"].startswith(URL):
            back = browser.get(back.headers["location"])
    if back.status_code != 302:
        return person, back
    parts = urlsplit(back.headers["location"])
    assert set(parse_qs(parts.query)) >= {"code", "state"}
    return person, person.get(f"{parts.path}?{parts.query}")


@pytest.mark.slow(held_by="tests/serve/test_hub.py::test_a_student_of_the_hub_signs_in")
def test_a_real_jupyterhub_signs_students_and_instructors_in(
    site: Site, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", SECRET * 4)
    path, robot = site.root / "serve.toml", secrets.token_hex(16)
    text = path.read_text()
    with real_hub(tmp_path, robot) as url:
        path.write_text(f'[hub]\nurl = "{url}"\n# the real one\n')
        try:
            for name, leads_to in (("ada", "/"), ("eva", "/class")):
                person, answer = from_real_hub(site, url, name)
                assert answer.status_code == 303, answer.text
                page = person.get(answer.headers["location"])
                assert f"sign in with the id <b>{name}</b>" in page.text
                told = {"form_token": token_in(page), "token": answer.headers["location"].rpartition("/")[2]}
                assert person.browser.post("/in", data=told).headers["location"] == leads_to
            _, answer = from_real_hub(site, url, "mallory")  # known at the hub, and not let in here
            assert answer.status_code == 403
            with httpx2.Client(base_url=f"{url}/hub/api", headers={"Authorization": f"token {robot}"}) as admin:
                given = [admin.post("/users/ada/tokens", json={"scopes": [one]}) for one in (ACCESS, "self")]
            tokens = [one.json()["token"] for one in given]
            answers = [by_token(site, token, solved(site, "1.1", remark=token)) for token in tokens]
            assert [answer.status_code for answer in answers] == [202, 403]
            assert len(attempts.attempts_of(site.store, "ada")) == 1
        finally:
            path.write_text(text)
