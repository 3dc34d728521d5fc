"""Nine learning platforms for the tests, each with its hosts and quirks, instead of the network.

They are written from what the platforms' documentation and source code say (docs/serve.md names them), and not from
grader/serve/platforms.py: a wrong address or a missing field there fails here. No real platform is asked.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from functools import cache
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qsl, urlsplit
from urllib.request import Request

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.serve.school import CLAIM, CLIENT, DEEP_LINK, ITEM, MEMBERS, MEMBERSHIP, SCORE

INSTITUTION = "http://purl.imsglobal.org/vocab/lis/v2/institution/person"
SYSTEM = "http://purl.imsglobal.org/vocab/lti/system/person"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
CANVAS_SUBMISSION = "https://canvas.instructure.com/lti/submission"
LEARNER, INSTRUCTOR = f"{MEMBERSHIP}#Learner", f"{MEMBERSHIP}#Instructor"
NAMES = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
SCORES = "application/vnd.ims.lis.v1.score+json"
LINE_ITEM = "application/vnd.ims.lis.v2.lineitem+json"
STANDARD_FIELDS = {
    "userId", "scoreGiven", "scoreMaximum", "comment", "timestamp", "activityProgress", "gradingProgress",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is different on a platform."""

    school: str
    issuer: str
    login: str
    token: str
    keys: str
    services: str  # where scores, rosters and choices are
    frames: str  # the outermost page that shows the tool
    audience: str = ""
    deployment: str | int = "1"
    rules: str = ""  # more lines of serve.toml
    user: Any = "user-ada"  # `sub` of the student
    student: str = "user-ada"  # the id in our gradebook
    learner: tuple[str, ...] = (LEARNER,)
    instructor: tuple[str, ...] = (INSTRUCTOR,)
    claims: Mapping[str, Any] = field(default_factory=dict)  # more of each launch
    has_item: bool = True  # a launch names the line item
    may_create: bool = True
    filters: bool = True  # lists the items of the link that is asked for, and no others
    item_query: str = ""
    item_maximum: float = 100
    roster: tuple[tuple[dict[str, Any], ...], ...] | None = ((),)  # pages of members; None: no such service
    enrolled: tuple[str, ...] = ()  # whom of the roster our gradebook must have
    refusal: tuple[int, str] = (400, "user not gradable")
    taken: tuple[int, str] = (200, "{}")
    extra_fields: tuple[str, ...] = ("submission",)  # of a score that the platform knows
    same_time_twice: bool = True
    scales: bool = True


def member(user: object, *roles: str, **more: Any) -> dict[str, Any]:
    return {"user_id": user, "status": "Active", "roles": [*(roles or (LEARNER,))], **more}


CLOUD = "https://sso.canvaslms.com"
SCHOOLOGY = "https://lti-service.svc.schoology.com/lti-service"
DEVELOPER = "https://developer.blackboard.com/api/v1"
KINDS = {
    "canvas": Kind(
        school="https://uni.instructure.com",
        issuer="https://canvas.instructure.com",
        login=f"{CLOUD}/api/lti/authorize_redirect",
        token=f"{CLOUD}/login/oauth2/token",
        keys=f"{CLOUD}/api/lti/security/jwks",
        services="https://uni.instructure.com/api/lti",
        frames="https://uni.instructure.com",
        deployment="12:8865aa05b4b79b64a91a86042e43af5ea8ae79eb",
        rules='student = "custom.login"\n',
        student="al123",
        claims={f"{CLAIM}custom": {"login": "al123"}},
        roster=(
            (
                member("u1", message=[{f"{CLAIM}custom": {"login": "rosa"}}]),
                member("t1", LEARNER, f"{SYSTEM}#TestUser"),
            ),
            (
                member("u2", message=[{f"{CLAIM}custom": {"login": 4711}}]),
                member("u3", message=[{f"{CLAIM}custom": {"login": "$Canvas.user.loginId"}}]),
                member("ta", INSTRUCTOR, f"{MEMBERSHIP}/Instructor#TeachingAssistant"),
                member("ob", f"{MEMBERSHIP}#Mentor"),
            ),
        ),
        enrolled=("rosa", "4711"),
        refusal=(422, "User not found in course or is not a student"),
        extra_fields=("submission", CANVAS_SUBMISSION),
        same_time_twice=False,
    ),
    "blackboard": Kind(
        school="https://uni.blackboard.com",
        issuer="https://blackboard.com",
        login=f"{DEVELOPER}/gateway/oidcauth",
        token=f"{DEVELOPER}/gateway/oauth2/jwttoken",
        keys=f"{DEVELOPER}/management/applications/{CLIENT}/jwks.json",
        services="https://uni.blackboard.com/learn/api/v1/lti",
        frames="https://uni.blackboard.com",
        deployment="2f4ba1c5-0000-4000-8000-1f2e3d4c5b6a",
        has_item=False,
        roster=((member("b1"),),),
        enrolled=("b1",),
        refusal=(400, "The user does not exist in the course"),
    ),
    "brightspace": Kind(
        school="https://uni.brightspace.com",
        issuer="https://uni.brightspace.com",
        login="https://uni.brightspace.com/d2l/lti/authenticate",
        token="https://auth.brightspace.com/core/connect/token",
        keys="https://uni.brightspace.com/d2l/.well-known/jwks",
        services="https://uni.brightspace.com/d2l/api/lti",
        frames="https://uni.brightspace.com",
        audience="https://api.brightspace.com/auth/token",
        deployment="0b9e5a3c-1111-4111-8111-111111111111",
        rules='student = "http://www.brightspace.com.org_defined_id"\n',
        student="s0417",
        claims={"http://www.brightspace.com": {"org_defined_id": "s0417", "username": "ada"}, "email": ""},
        has_item=False,
        roster=((member("GUID_1"),),),  # without the Org Defined Id: nobody is enrolled under another id
        refusal=(403, "The role of this user cannot be graded"),
    ),
    "moodle": Kind(
        school="https://moodle.uni.edu",
        issuer="https://moodle.uni.edu",
        login="https://moodle.uni.edu/mod/lti/auth.php",
        token="https://moodle.uni.edu/mod/lti/token.php",
        keys="https://moodle.uni.edu/mod/lti/certs.php",
        services="https://moodle.uni.edu/mod/lti/services.php/2",
        frames="https://moodle.uni.edu",
        deployment="3",
        user="17",
        student="17",
        item_query="?type_id=3",
        roster=((member("21", LEARNER, given_name="Kim"), member("22", INSTRUCTOR)),),
        enrolled=("21",),
    ),
    "sakai": Kind(
        school="https://sakai.uni.edu",
        issuer="https://sakai.uni.edu",
        login="https://sakai.uni.edu/imsoidc/lti13/oidc_auth",
        token="https://sakai.uni.edu/imsblis/lti13/token/42",
        keys="https://sakai.uni.edu/imsblis/lti13/keyset",
        services="https://sakai.uni.edu/imsblis/lti13",
        frames="https://sakai.uni.edu",
        rules='tool = "42"\nstudent = "lis.person_sourcedid"\n',
        student="adaeid",
        claims={f"{CLAIM}lis": {"person_sourcedid": "adaeid"}},
        roster=(
            (
                member("uuid-1", "Learner", lis_person_sourcedid="rosaeid"),
                member("uuid-2", "Instructor"),
                member("uuid-3", "Learner"),
            ),
        ),
        enrolled=("rosaeid",),
        taken=(200, ""),
        extra_fields=(),
    ),
    "schoology": Kind(
        school="https://uni.schoology.com",
        issuer="https://schoology.schoology.com",
        login=f"{SCHOOLOGY}/authorize-redirect",
        token=f"{SCHOOLOGY}/access-token",
        keys=f"{SCHOOLOGY}/.well-known/jwks",
        services=f"{SCHOOLOGY}/tool/7/services",
        frames="https://uni.schoology.com",
        deployment="9-7",
        has_item=False,
        roster=((member("y1"),), (member("y2"),)),
        enrolled=("y1", "y2"),
        refusal=(404, "no such user"),
    ),
    "openedx": Kind(
        school="https://courses.uni.edu",
        issuer="https://courses.uni.edu",
        login="https://courses.uni.edu/api/lti_consumer/v1/launch/",
        token="https://courses.uni.edu/api/lti_consumer/v1/token/88e4",
        keys="https://courses.uni.edu/api/lti_consumer/v1/public_keysets/88e4",
        services="https://courses.uni.edu/api/lti_consumer/v1/lti/5",
        frames="https://apps.courses.uni.edu",
        rules='tool = "88e4"\n',
        learner=(f"{INSTITUTION}#Student",),
        instructor=(f"{INSTITUTION}#Instructor",),
        has_item=False,
        roster=((member("e1", f"{INSTITUTION}#Student"),),),
        enrolled=("e1",),
        refusal=(404, "not found"),
        taken=(201, "{}"),
        same_time_twice=False,
    ),
    "ilias": Kind(
        school="https://uni.edu/ilias",
        issuer="https://uni.edu/ilias",
        login="https://uni.edu/ilias/ltiauth.php",
        token="https://uni.edu/ilias/ltitoken.php",
        keys="https://uni.edu/ilias/lticerts.php",
        services="https://uni.edu/ilias/ltiservices.php",
        frames="https://uni.edu",
        deployment=5,
        user=4711,
        student="4711",
        roster=None,
        refusal=(404, "unknown user"),
    ),
    "openolat": Kind(
        school="https://olat.uni.edu",
        issuer="https://olat.uni.edu",
        login="https://olat.uni.edu/lti/auth",
        token="https://olat.uni.edu/lti/token",
        keys="https://olat.uni.edu/lti/keys",
        services="https://olat.uni.edu/lti",
        frames="https://olat.uni.edu",
        deployment="dep-1",
        rules='student = "custom.username"\n',
        student="adal",
        claims={f"{CLAIM}custom": {"username": "adal"}},
        item_maximum=5,
        roster=((member("another-id", "LEARNER"),),),  # not the `sub` of a launch: nobody may be enrolled by it
        refusal=(404, "user not found"),
        scales=False,
    ),
}  # fmt: skip


class Fault(Exception):
    """What a platform answers in place of doing what it was asked."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers or {}


@cache
def key_of(name: str) -> RSAKey:
    """Make a platform's key, once for all tests of a process."""
    return RSAKey.generate_key(2048, {"kid": f"{name}-1"})


class Simulated:
    """One platform."""

    def __init__(self, name: str, tool_key: RSAKey) -> None:
        self.name, self.kind, self._tool_key = name, KINDS[name], tool_key
        self.key = key_of(name)
        self.tokens: dict[str, set[str]] = {}
        self.assertions: list[str] = []
        self.asked: list[tuple[str, str]] = []  # method and address of each request
        self.forget()

    def forget(self) -> None:
        """Be as before the first score."""
        self.scores: list[dict[str, Any]] = []
        self.created: list[dict[str, Any]] = []
        self.unknown: set[str] = set()  # users whose scores it refuses
        self.faults: list[Fault] = []  # of the next requests for scores
        self.loses = 0  # answers to scores that it takes
        item = {"id": self.item, "scoreMaximum": self.kind.item_maximum, "resourceLinkId": "link-1"}
        self.items: list[dict[str, Any]] = [item] if self.kind.has_item else []

    @property
    def item(self) -> str:
        return f"{self.kind.services}/items/1{self.kind.item_query}"

    @property
    def entry(self) -> str:
        """What serve.toml says of it."""
        return (
            f'[lti.{self.name}]\nplatform = "{self.name}"\nschool = "{self.kind.school}"\nclient_id = "{CLIENT}"\n'
            f'deployments = ["{self.kind.deployment}"]\nprefix = "{self.name}-"\n{self.kind.rules}'
        )

    # ------------------------------------------------------------ what it signs

    def signed(self, told: Mapping[str, str], user: Any, roles: tuple[str, ...], **claims: Any) -> str:
        """Return the token of a launch, as the answer to what the tool asked for."""
        kind, moment = self.kind, int(time.time())
        roster = {NRPS: {"context_memberships_url": f"{kind.services}/members?course=7"}}
        grades = {"scope": [SCORE, ITEM], "lineitems": f"{kind.services}/items{kind.item_query}"}
        about = {
            "iss": kind.issuer, "aud": [CLIENT], "sub": user, "nonce": told["nonce"], "iat": moment, "exp": moment + 60,
            f"{CLAIM}deployment_id": kind.deployment, f"{CLAIM}version": "1.3.0",
            f"{CLAIM}message_type": "LtiResourceLinkRequest", f"{CLAIM}roles": [*roles],
            f"{CLAIM}resource_link": {"id": "link-1"},
            AGS: grades | ({"lineitem": self.item} if kind.has_item else {}),
            **({} if kind.roster is None else roster),
        }  # fmt: skip
        custom = {f"{CLAIM}custom": {**kind.claims.get(f"{CLAIM}custom", {}), **claims.pop("custom", {})}}
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, {**about, **kind.claims, **custom, **claims}, self.key)

    def choice(self, back: str = "") -> dict[str, Any]:
        """Return the claims that make a launch the choice of a task."""
        back = back or f"{self.kind.services}/chosen"
        settings = {"deep_link_return_url": back, "accept_types": ["ltiResourceLink"], "data": "d"}
        return {f"{CLAIM}message_type": "LtiDeepLinkingRequest", f"{DEEP_LINK}deep_linking_settings": settings}

    # ------------------------------------------------------------ what it answers

    def answer(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, str, list[tuple[str, str]]]:
        """Answer a request of the tool: status, text and headers."""
        kind, place = self.kind, url.partition("?")[0]
        self.asked.append((method, url))
        if not headers.get("User-agent"):
            raise Fault(403, "Forbidden")
        if url == kind.keys:
            return 200, json.dumps({"keys": self._published()}), []
        if url == kind.token:
            return 200, json.dumps(self._token(dict(parse_qsl(body.decode())))), []
        if not url.startswith(f"{kind.services}/"):
            raise Fault(404, "no such page")
        scopes = self.tokens.get(headers.get("Authorization", "").removeprefix("Bearer "))
        if scopes is None:
            raise Fault(401, "token expired")
        if place == f"{kind.services}/members":
            return self._members(headers, dict(parse_qsl(urlsplit(url).query)), scopes)
        if place == f"{kind.services}/items":
            return self._items(method, headers, dict(parse_qsl(urlsplit(url).query)), body, scopes)
        item = next(
            (one for one in self.items if one["id"].partition("?")[0] in (place, place.removesuffix("/scores"))), None
        )
        if item is None or urlsplit(url).query != urlsplit(item["id"]).query:
            raise Fault(404, "no such item")
        if method == "GET":
            return 200, json.dumps(item), []
        return self._score(item, headers, json.loads(body), scopes)

    def _published(self) -> list[dict[str, Any]]:
        """Return its keys, among others that the tool cannot use."""
        right = {**self.key.as_dict(private=False), "use": "sig"}
        wrong: list[Any] = [{"kty": "RSA", "kid": "bad", "n": "", "e": "!"}, {"kty": "EC", "kid": "ec"}]
        return [*wrong, right]

    def _token(self, form: Mapping[str, str]) -> dict[str, Any]:
        told = jwt.decode(form["client_assertion"], self._tool_key, algorithms=["RS256"]).claims
        if told["aud"] != (self.kind.audience or self.kind.token) or (told["iss"], told["sub"]) != (CLIENT, CLIENT):
            raise Fault(400, '{"error": "invalid_grant"}')
        if (
            told["jti"] in self.assertions
            or told["exp"] - told["iat"] > 300
            or form["scope"] not in (SCORE, ITEM, MEMBERS)
        ):
            raise Fault(400, '{"error": "invalid_request"}')
        self.assertions.append(told["jti"])
        token = f"{self.name}-{len(self.assertions)}"
        self.tokens[token] = {form["scope"]}
        return {"access_token": token, "token_type": "Bearer", "expires_in": 3600, "scope": form["scope"]}

    def _members(
        self, headers: Mapping[str, str], query: Mapping[str, str], scopes: set[str]
    ) -> tuple[int, str, list[tuple[str, str]]]:
        pages, page = self.kind.roster, int(query.get("page", "0"))
        if MEMBERS not in scopes or headers.get("Accept") != NAMES or pages is None:
            raise Fault(406, "not acceptable")
        members = list(pages[page])
        if query.get("rlid") != "link-1":  # what a launch would say is told for one link alone
            members = [{key: value for key, value in each.items() if key != "message"} for each in members]
        more = [("Link", f'<{self.kind.services}/members?course=7>; rel="first"')]
        rlid = f"&rlid={query['rlid']}" if "rlid" in query else ""
        if page + 1 < len(pages):
            more.append(("Link", f'<{self.kind.services}/members?course=7{rlid}&page={page + 1}>; rel="next"'))
        return 200, json.dumps({"id": "x", "members": members}), more

    def _items(
        self, method: str, headers: Mapping[str, str], query: Mapping[str, str], body: bytes, scopes: set[str]
    ) -> tuple[int, str, list[tuple[str, str]]]:
        if ITEM not in scopes:
            raise Fault(403, "insufficient scope")
        if method == "GET":
            wanted = query.get("resource_link_id") if self.kind.filters else None
            return 200, json.dumps([one for one in self.items if wanted in (None, one.get("resourceLinkId"))]), []
        made = json.loads(body)
        known = {"label", "scoreMaximum", "resourceLinkId", "resourceId", "tag"}
        whole = isinstance(made.get("scoreMaximum"), int)
        if headers.get("Content-type") != LINE_ITEM or set(made) - known or not whole or not self.kind.may_create:
            raise Fault(400 if self.kind.may_create else 403, "this item cannot be made")
        made["id"] = f"{self.kind.services}/items/{len(self.items) + 1}"
        self.items.append(made)
        self.created.append(made)
        return 201, json.dumps(made), []

    def _score(
        self, item: dict[str, Any], headers: Mapping[str, str], score: dict[str, Any], scopes: set[str]
    ) -> tuple[int, str, list[tuple[str, str]]]:
        kind = self.kind
        if self.faults:
            raise self.faults.pop(0)
        if SCORE not in scopes or headers.get("Content-type") != SCORES:
            raise Fault(403, "insufficient scope")
        if set(score) - STANDARD_FIELDS - set(kind.extra_fields):
            raise Fault(400, "unknown field")
        if score["userId"] in self.unknown:
            raise Fault(*kind.refusal)
        stamp = score["timestamp"]
        if len(stamp.partition(".")[2].partition("+")[0]) != 3 or not stamp.endswith("+00:00"):
            raise Fault(400, "three digits of a second, and a zone")
        before = [one["timestamp"] for one in self.scores if one["userId"] == score["userId"]]
        if before and (stamp < before[-1] or (stamp == before[-1] and not kind.same_time_twice)):
            raise Fault(400, "a newer score is there")
        if not isinstance(score["scoreMaximum"], int):
            raise Fault(400, "scoreMaximum must be an integer")
        most = item["scoreMaximum"]
        score["stored"] = score["scoreGiven"] * most / score["scoreMaximum"] if kind.scales else score["scoreGiven"]
        self.scores.append(score)
        if self.loses:
            self.loses -= 1
            raise Fault(504, "gateway timeout")
        return (*kind.taken, [])


class Internet:
    """What `urllib`'s opener is for the tool: all platforms, and no other host."""

    def __init__(self, platforms: Mapping[str, Simulated]) -> None:
        self.platforms = platforms
        self.others: dict[
            str, Callable[[Request], tuple[int, str, list[tuple[str, str]]]]
        ] = {}  # by the address's beginning

    def open(self, request: Request, timeout: float) -> Answer:
        """Answer a request, or raise as `urllib` does."""
        url = request.full_url
        try:
            status, text, headers = self._answer(request)
        except Fault as fault:
            told = _message([*fault.headers.items()])
            raise HTTPError(url, fault.status, "refused", told, io.BytesIO(fault.text.encode())) from fault
        return Answer(status, text.encode(), _message(headers))

    def _answer(self, request: Request) -> tuple[int, str, list[tuple[str, str]]]:
        url, body = request.full_url, request.data if isinstance(request.data, bytes) else b""
        for start, other in self.others.items():
            if url.startswith(start):
                return other(request)
        for platform in self.platforms.values():
            kind = platform.kind
            if url in (kind.keys, kind.token) or url.startswith(f"{kind.services}/"):
                return platform.answer(request.get_method(), url, dict(request.header_items()), body)
        raise URLError(f"no such host: {url}")


class Answer(io.BytesIO):
    """An answer as `urllib` gives it."""

    def __init__(self, status: int, body: bytes, headers: Message) -> None:
        super().__init__(body)
        self.status, self.headers = status, headers


def _message(headers: list[tuple[str, str]]) -> Message:
    message = Message()
    for name, value in headers:
        message[name] = value
    return message
