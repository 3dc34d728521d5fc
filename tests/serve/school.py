"""A learning platform for the tests: lti1p3platform, which is not ours, around a small server on this machine."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from httpx2 import Response
from joserfc.jwk import RSAKey
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.message_launch import LTIAdvantageMessageLaunchAbstract
from lti1p3platform.oidc_login import OIDCLoginAbstract
from lti1p3platform.registration import Registration
from lti1p3platform.request import Request, TRequest

from grader.serve.site import Site
from tests.serve.people import Person

CLIENT, DEPLOYMENT = "client-7", "3"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
DEEP_LINK = "https://purl.imsglobal.org/spec/lti-dl/claim/"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
ITEM = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"


class _Config(LTI1P3PlatformConfAbstract):
    def init_platform_config(self, **kwargs: Any) -> None:
        self._own = kwargs["registration"]

    def get_registration_by_params(self, **kwargs: Any) -> Registration:
        return self._own


class _Login(OIDCLoginAbstract):
    def set_lti_message_hint(self, **kwargs: Any) -> None:
        self._lti_message_hint = "link-1"

    def get_redirect(self, url: str) -> str:
        return url


class _Request(Request):
    def build_metadata(self, request: dict[str, str]) -> TRequest:
        return {"get_data": request, "form_data": {}}


class _Launch(LTIAdvantageMessageLaunchAbstract):
    def render_launch_form(self, launch_data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return launch_data


class School:
    """The platform, and what it was sent."""

    def __init__(self, tool: str, host: str, port: int) -> None:
        self.url = f"http://{host}:{port}"
        self.key = RSAKey.generate_key(2048)
        self.scores: list[dict[str, Any]] = []
        self.broken = 0  # how many requests for a score fail from now on
        self.lost = 0  # how many scores are taken without an answer
        self.members: list[list[dict[str, Any]]] = [[]]  # of the course, page by page
        self.chosen: list[dict[str, str]] = []  # the forms by which instructors chose a task
        self.registered: list[dict[str, Any]] = []  # what tools said of themselves
        self.tickets = {"ticket-1"}  # that allow to register
        self.configuration = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/auth",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "registration_endpoint": f"{self.url}/register",
        }
        self.clicks: dict[str, Any] = {}  # who opens the task in a browser, as `launch` takes it
        registration = (
            Registration()
            .set_iss(self.url)
            .set_client_id(CLIENT)
            .set_deployment_id(DEPLOYMENT)
            .set_launch_url(f"{tool}/lti/launch")
            .set_oidc_login_url(f"{tool}/lti/login")
            .set_deeplink_launch_url(f"{tool}/lti/launch")
            .set_platform_private_key(self.key.as_pem(private=True).decode())
            .set_platform_public_key(self.key.as_pem(private=False).decode())
        )
        self.registration = registration
        self.config = _Config(registration=registration)
        self.config.get_registration()

    @property
    def toml(self) -> str:
        """What serve.toml says of it."""
        return (
            f'[lti.school]\nissuer = "{self.url}"\nclient_id = "{CLIENT}"\ndeployments = ["{DEPLOYMENT}"]\n'
            f'login_url = "{self.url}/auth"\ntoken_url = "{self.url}/token"\nkeys_url = "{self.url}/keys"\n'
        )

    def login_address(self, user: str) -> str:
        """The address of the tool that a click on the task opens."""
        login = _Login(None, self.config)
        login.set_lti_message_hint()
        return login.initiate_login(user)

    def launch(
        self,
        told: dict[str, str],
        user: str,
        role: str = "Learner",
        assignment: str = "",
        name: str = "",
        choose: str = "",
        data: bool = True,
        **claims: Any,
    ) -> dict[str, Any]:
        """Answer the tool's request for a login: with the form that the browser sends to the tool.

        Args:
            choose: the address to which an instructor's choice of a task goes; "" to open a task.
            data: whether the platform sends data of its own with it, which the choice brings back.
        """
        one = _Launch(_Request(told), self.config)
        one.set_user_data(user, [f"{MEMBERSHIP}#{role}"], name or None)
        one.set_resource_link_claim("link-1")
        one.set_nrps(f"{self.url}/members")
        if choose:
            one.set_dl(choose, extra_data={"csrf": "of the platform"})
            if not data:  # the library always sends the key
                del one._deep_linking_launch_data[f"{DEEP_LINK}deep_linking_settings"]["data"]
        one.set_ags(f"{self.url}/items", f"{self.url}/items/1?type=x")
        if assignment:
            one.set_extra_claims({f"{CLAIM}custom": {"assignment": assignment}})
        one.set_extra_claims(claims)
        return one.lti_launch()

    def answer(self, path: str, form: dict[str, str], body: bytes, token: str) -> tuple[int, object]:
        """Answer a request of the tool."""
        if path == "/keys":
            return 200, self.config.get_jwks()
        if path in ("/course", "/frame"):
            address = escape(form.get("url") or self.login_address(self.clicks["user"]))
            frame = f'<iframe src="{address}" style="width: 100%; height: 600px"></iframe>'
            return 200, f"<!DOCTYPE html><title>Course</title><h1>Course</h1>{frame}"
        if path == "/auth":
            told = self.launch(form, **self.clicks)
            fields = "".join(
                f'<input type="hidden" name="{name}" value="{told[name]}">' for name in ("id_token", "state")
            )
            place = escape(told["launch_url"])
            return (
                200,
                f'<form method="post" action="{place}">{fields}</form><script>document.forms[0].submit()</script>',
            )
        if path == "/token":
            return 200, self.config.get_access_token(form)
        if path == "/members":
            assert self.config.validate_token(token, [MEMBERS])
            return 200, {"members": self.members[int(form.get("page", "0"))]}
        if path == "/chosen":
            self.chosen.append(form)
            return 200, "<!DOCTYPE html><title>Chosen</title><h1>Chosen</h1>"
        if path == "/configuration":
            return 200, self.configuration
        if path == "/register":
            if token not in self.tickets:
                return 401, {}
            self.registered.append(json.loads(body))
            return 200, {**self.registered[-1], "client_id": CLIENT, TOOL: {"deployment_id": DEPLOYMENT}}
        if path == "/items/1/scores":
            if self.broken:
                self.broken -= 1
                return 503, {}
            assert self.config.validate_token(token, [SCORE])
            self.scores.append(json.loads(body))
            if self.lost:
                self.lost -= 1
                return 504, {}
            return 200, {}
        return 404, {}


@contextmanager
def open_school(tool: str, host: str = "127.0.0.1") -> Iterator[School]:
    """Run a platform that knows the tool at this address; under the name `localhost` it is another site than the tool's."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(urlsplit(self.path).query.encode())

        def do_POST(self) -> None:
            self._reply(self.rfile.read(int(self.headers["Content-Length"])))

        def _reply(self, body: bytes) -> None:
            token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
            form = dict(parse_qsl(body.decode())) if body[:1] != b"{" else {}
            status, told = school.answer(urlsplit(self.path).path, form, body, token)
            self.send_response(status)
            page = int(form.get("page", "0")) + 1
            if self.path.startswith("/members") and page < len(school.members):
                self.send_header("Link", f'<{school.url}/other>; rel="self", </members?page={page}>; rel="next"')
            self.send_header("Content-Type", "text/html" if isinstance(told, str) else "application/json")
            self.end_headers()
            self.wfile.write((told if isinstance(told, str) else json.dumps(told)).encode())

        def log_message(self, *arguments: object) -> None:
            """Be quiet."""

    with ThreadingHTTPServer((host, 0), Handler) as server:
        school = School(tool, host, server.server_port)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield school
        server.shutdown()


# ---------------------------------------------------------------- people who come from it


def asked(person: Person, school: School, user: str = "ada") -> dict[str, str]:
    """Click on the task; return what the tool asks the platform."""
    parts = urlsplit(school.login_address(user))
    answer = person.browser.get(f"{parts.path}?{parts.query}")
    assert answer.status_code == 302, answer.text
    place = answer.headers["location"]
    assert place.startswith(f"{school.url}/auth?")
    return dict(parse_qsl(urlsplit(place).query))


def sent(person: Person, form: dict[str, Any]) -> Response:
    """Send the platform's form, as its page does."""
    headers = {"origin": "null", "sec-fetch-site": "cross-site"}
    return person.browser.post(
        "/lti/launch", data={name: form[name] for name in ("id_token", "state")}, headers=headers
    )


def signed_in(site: Site, school: School, user: str, **told: Any) -> tuple[Person, Response]:
    """Launch, and open the tab."""
    person = Person.of(site)
    page = sent(person, school.launch(asked(person, school, user), user, **told))
    assert page.status_code == 200, page.text
    (token,) = re.findall(r'href="/in/([^"]+)" target="_blank"', page.text)
    return person, person.opens_link(token)
