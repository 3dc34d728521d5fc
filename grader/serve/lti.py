"""Signing in by a learning platform: LTI 1.3, with OpenID Connect's third-party login.

Not pylti1p3next 2.0.2 (looked at in November 2026): it would bring a second set of libraries for signatures beside joserfc
(PyJWT and jwcrypto) and `requests`, which blocks; it has adapters for Flask and Django alone, so that cookies, sessions and
requests would be written here all the same; and it ties the login to a cookie in a frame, which browsers block more and more.

A launch proves who somebody is by a token that the platform has signed. What is checked: the state, which we made and which
works once; signature, by RS256 and the platform's published keys alone; issuer, audience, times, nonce, deployment, version
and message. The state is not tied to a cookie: a launch that somebody else began ends at a page that says whose it is.
"""

import hmac
import json
import math
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from starlette.datastructures import URL
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.writer import add_students
from grader.course import max_score
from grader.records import Student
from grader.report.text import clean
from grader.serve import sign_in, web
from grader.serve.log import shown
from grader.serve.lti_calls import LtiError, fetch, own_key, platform_calls, published_keys, signed
from grader.serve.lti_scores import LEARNER, MEMBERS, MEMBERSHIP, SCORE
from grader.serve.settings import Platform, SettingsError, add_platform, is_protected, origin
from grader.serve.sign_in import INSTRUCTOR, PLATFORM_ROLE, STATE, STUDENT, Ticket, can_sign_in
from grader.serve.site import Site
from grader.serve.web import PLATFORM, Visit, get, post

LOGIN, LAUNCH, REGISTER = "/lti/login", "/lti/launch", "/lti/register/"
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
DEEP_LINK = "https://purl.imsglobal.org/spec/lti-dl/claim/"
GRADE_SERVICE = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
ROSTER_SERVICE = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
INSTRUCTORS = {f"{MEMBERSHIP}#Instructor", f"{MEMBERSHIP}/Instructor#TeachingAssistant"}
TASK, CHOICE = "LtiResourceLinkRequest", "LtiDeepLinkingRequest"  # the messages: open a task, choose one for a course
STATE_SECONDS, LEEWAY_SECONDS, OLDEST_SECONDS = 600, 60, 600
CHOICE_SECONDS = 3600  # for the instructor to choose
MOST_NAME = 200  # characters of a person's name
TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
# What serve.toml says of a platform, and what a platform calls that.
NAMES = dict(issuer="issuer", login_url="authorization_endpoint", token_url="token_endpoint", keys_url="jwks_uri")
DEEPEST_CLAIM, MOST_VARIABLE = 20, 60  # nested values of a launch; characters of a variable that a message shows
ALGORITHMS = ["RS256"]  # no other: neither "none", nor one that takes a public key for a shared secret


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A message that a platform has signed, after it was checked."""

    name: str  # of the platform, in serve.toml
    platform: Platform
    claims: Mapping[str, Any]

    def of(self, claim: str, key: str) -> Any:
        """Return a value of a nested claim; None without one."""
        group = self.claims.get(claim)
        return group.get(key) if isinstance(group, dict) else None

    @property
    def roles(self) -> set[str]:
        """The roles that somebody has in the course, as addresses; none if the platform says none."""
        roles = self.claims.get(f"{CLAIM}roles")
        return {role for role in roles if isinstance(role, str)} if isinstance(roles, list) else set()

    def address(self, claim: str, key: str) -> str | None:
        """Return an address of a nested claim, if it is one of the platform's."""
        url = self.of(claim, key)
        return url if isinstance(url, str) and self.platform.may_fetch(url) else None


# ---------------------------------------------------------------- login and launch


def login(visit: Visit) -> Response:
    """Begin a launch: send the browser to its platform, which says who it is; LtiError if that is not registered."""
    site = visit.site
    told = visit.form if visit.request.method == "POST" else visit.request.query_params
    issuer, client, known = told.get("iss"), told.get("client_id") or None, site.settings.lti
    own = (name for name, one in known.items() if issuer == one.issuer and client in (one.client_id, None))
    if (name := next(own, None)) is None:
        raise LtiError("Your platform is not known here. Tell your instructor.")
    platform = known[name]
    nonce = secrets.token_urlsafe(32)
    query = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": f"{site.settings.url}{LAUNCH}",
        "login_hint": told.get("login_hint", ""),
        "lti_message_hint": told.get("lti_message_hint", ""),
        "state": sign_in.issue(site.store, STATE, {"nonce": nonce, "platform": name}, STATE_SECONDS),
        "nonce": nonce,
    }
    return RedirectResponse(URL(platform.login_url).include_query_params(**query), 302)


def launch(site: Site, token: str, state: str) -> Launch:
    """Check a launch, and return what it says; raise LtiError if something in it is not right."""
    began = sign_in.value_of(site.store, STATE, state, use=True)
    platform = site.settings.lti.get(began["platform"]) if began else None
    if began is None or platform is None:
        raise LtiError("This launch is too old, or was used already. Open the task in your course once more.")
    claims = _claims(platform, token)
    _check(site, platform, claims, began["nonce"])
    checked = Launch(name=began["platform"], platform=platform, claims=claims)
    _check_course(site, checked)
    return checked


def ticket_of(site: Site, launch: Launch) -> Ticket:
    """Return who somebody is; remember where score and roster are; raise LtiError if it is nobody of the course."""
    claims, roles = launch.claims, launch.roles
    if not roles & (INSTRUCTORS | {LEARNER}):
        raise LtiError("You are neither a student nor an instructor of this course.")
    person = f"{launch.platform.prefix}{_claim_text(launch)}"
    role = INSTRUCTOR if roles & INSTRUCTORS else STUDENT
    assignment = _assignment(site, launch)
    leads_to = "/class" if role == INSTRUCTOR else f"/a/{assignment}" if assignment else "/"
    if role == STUDENT and assignment:
        _remember(site, launch, person, assignment)
    roster = launch.address(ROSTER_SERVICE, "context_memberships_url")
    if role == INSTRUCTOR and roster:  # an instructor who comes gets the newest
        site.store.change("INSERT OR REPLACE INTO lti_roster VALUES (?, ?, '')", launch.name, roster)
    return Ticket(person=person, role=role, name=_name(claims.get("name")), via="lti", leads_to=leads_to)


def _check_course(site: Site, launch: Launch) -> None:
    """Raise LtiError for another course of the platform. The first course whose instructor comes is ours."""
    came, known = _filled_in(str(launch.of(f"{CLAIM}context", "id")), "context"), launch.platform.courses
    if not known:
        if launch.roles & INSTRUCTORS and launch.of(f"{CLAIM}context", "id"):
            site.store.change("INSERT OR IGNORE INTO lti_course VALUES (?, ?)", launch.name, came)
        known = [row["course"] for row in site.store.rows("SELECT * FROM lti_course WHERE platform = ?", launch.name)]
    if known and came not in known:
        told = f"courses = {json.dumps([*known, came])} under [lti.{launch.name}] in serve.toml"
        raise LtiError(f"This is the place of another course. To let this one in, its operator writes {told}.")


def _claims(platform: Platform, token: str) -> dict[str, Any]:
    """Return what the platform has signed; raise LtiError if its signature is not valid."""
    for fresh in (False, True):
        try:
            claims = dict(jwt.decode(token, published_keys(platform, fresh=fresh), algorithms=ALGORITHMS).claims)
            break
        except (JoseError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            failed: Exception = error
    else:
        raise LtiError("The signature of your platform is not valid.") from failed
    if _depth(claims) > DEEPEST_CLAIM:
        raise LtiError(f"This launch is not valid: its claims are nested more than {DEEPEST_CLAIM} deep.")
    try:
        json.dumps(claims, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise LtiError("This launch is not valid: a claim contains half of a character.") from error
    return claims


def _depth(value: object) -> int:
    """Return how many lists and objects are nested in each other."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth


def _check(site: Site, platform: Platform, claims: Mapping[str, Any], nonce: str) -> None:
    """Raise LtiError for a launch that is not for us, not from now, or not the one that we asked for."""
    moment = time.time()
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    issued, expires = (_seconds(claims.get(name)) for name in ("iat", "exp"))
    begins = _seconds(claims["nbf"], math.inf) if "nbf" in claims else 0.0
    target = str(claims.get(f"{CLAIM}target_link_uri") or "")
    for holds, what in (
        (claims.get("iss") == platform.issuer, "issuer"),
        (platform.client_id in audiences, "audience"),
        (claims.get("azp", audiences[0] if len(audiences) == 1 else None) == platform.client_id, "authorised party"),
        (begins < moment + LEEWAY_SECONDS, "time"),
        (expires > moment - LEEWAY_SECONDS, "time"),
        (moment - OLDEST_SECONDS < issued < moment + LEEWAY_SECONDS, "time"),
        (hmac.compare_digest(str(claims.get("nonce")).encode(), nonce.encode()), "nonce"),
        (str(claims.get(f"{CLAIM}deployment_id")) in platform.deployments, "deployment"),
        (claims.get(f"{CLAIM}version") == "1.3.0", "version"),
        (claims.get(f"{CLAIM}message_type") in (TASK, CHOICE), "message"),
        (not target or origin(target) == site.settings.origin, "target"),
    ):
        if not holds:
            raise LtiError(f"This launch is not valid: its {what} is not the expected one.")


def _seconds(value: object, otherwise: float = 0.0) -> float:
    """Return a time of a claim, in seconds since 1970; `otherwise` if it is not a number, or too large for one."""
    with suppress(OverflowError):
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise
    return otherwise


def _claim_text(launch: Launch) -> str:
    """Return the claim that names a student; of nested ones the path is written with `.`, as in `ext.user_username`."""
    group, _, key = launch.platform.student.rpartition(".")
    value = launch.of(f"{CLAIM}{group}", key) if group else launch.claims.get(key)
    if not isinstance(value, str) or not value or not isinstance(launch.claims.get("sub"), str):
        raise LtiError("Your platform does not say who you are. Tell your instructor.")
    return _filled_in(value, launch.platform.student)


def _filled_in(value: str, claim: str) -> str:
    """Return the value of a claim. Raise LtiError if it is a variable that the platform should have replaced.

    Everybody has the same variable, so all students would be one.
    """
    if value.strip().startswith("$"):
        raise LtiError(
            f"Your platform sent {shown(value, MOST_VARIABLE)!r} as {claim}, which is the name of a variable and not its value. "
            "Tell your instructor: the tool's settings in the platform name a variable that it does not know."
        )
    return value


def _name(value: object) -> str:
    """Return a person's name as pages show it; "" if the platform sends none, or only the name of a variable."""
    name = clean(value)[:MOST_NAME] if isinstance(value, str) else ""
    return "" if name.startswith("$") else name


def _assignment(site: Site, launch: Launch) -> str | None:
    """Return the assignment that a launch is for: of the custom parameter, or of the link's address."""
    target = urlsplit(str(launch.claims.get(f"{CLAIM}target_link_uri") or "")).path
    wanted = launch.of(f"{CLAIM}custom", "assignment") or target.removeprefix("/a/")
    if isinstance(wanted, str):
        _filled_in(wanted, "assignment")
    return wanted if wanted in list(site.open_assignments()) else None


def _remember(site: Site, launch: Launch, person: str, assignment: str) -> None:
    """Store the address at which the platform wants the score, if it wants one."""
    lineitem = launch.address(GRADE_SERVICE, "lineitem")
    if lineitem is None:
        return
    place = (
        "INSERT INTO lti_place (person, assignment, platform, subject, lineitem) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO"
        " UPDATE SET platform = excluded.platform, subject = excluded.subject, lineitem = excluded.lineitem,"
        " sent = CASE WHEN lineitem = excluded.lineitem THEN sent ELSE '' END"
    )
    site.store.change(place, person, assignment, launch.name, launch.claims["sub"], lineitem)


# ---------------------------------------------------------------- an instructor chooses the task


def choices(site: Site, launch: Launch) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the platform's address for a choice, and for each assignment its name, title and answer that chooses it.

    Raise LtiError if this is no instructor, or if the address is not the platform's.
    """
    back = launch.address(f"{DEEP_LINK}deep_linking_settings", "deep_link_return_url")
    if back is None or not INSTRUCTORS & launch.roles:
        raise LtiError("Only an instructor of the course can choose its tasks.")

    def chosen(name: str, title: str) -> str:
        about = {"claims": launch.claims, "url": site.settings.url, "nonce": secrets.token_urlsafe(16)}
        claims = json.loads(web.render("lti_choice.json.j2", name=name, title=title, most=max_score(name), **about))
        return signed(site.folder, launch.platform, launch.platform.issuer, CHOICE_SECONDS, **claims)

    return back, [(name, title, chosen(name, title)) for name, title in site.open_assignments().items()]


def receive(visit: Visit) -> Response:
    """Take a launch, and show a page from which the place to hand in opens in a tab of its own.

    In the platform's frame the cookie of a session would be another site's, which browsers block.
    """
    site = visit.site
    received = launch(site, visit.text("id_token", 1 << 16), visit.text("state"))
    if received.claims[f"{CLAIM}message_type"] == CHOICE:
        back, offered = choices(site, received)
        return visit.html("choose.html.j2", back=back, offered=offered)
    ticket = ticket_of(site, received)
    if not can_sign_in(ticket.person):
        raise HTTPException(403, "Your platform's name for you cannot be used here. Tell your instructor.")
    _add_student(site, ticket)
    return visit.html("lti.html.j2", token=sign_in.make_ticket(site.store, ticket))


def _add_student(site: Site, ticket: Ticket) -> None:
    """Add the student of a ticket to the gradebook: the class page lists who has handed in nothing, too."""
    if ticket.role == STUDENT:
        first, _, last = ticket.name.rpartition(" ")
        with suppress(RecordError):  # another program writes; grading adds the student, too
            add_students(site.gradebook, site.course, [Student(id=ticket.person, first_name=first, last_name=last)])


def keys(visit: Visit) -> Response:
    """Publish the key by which platforms know us."""
    return JSONResponse({"keys": [own_key(visit.site.folder).as_dict(private=False)]})


# ---------------------------------------------------------------- dynamic registration


def register(visit: Visit) -> Response:
    """Register this server as a tool of the platform for which the link was made, and the platform in serve.toml.

    Without the operator's link, anybody could register a platform of the own, and sign in by it as anybody. Nothing is
    fetched but from that platform.
    """
    site, asked = visit.site, visit.request.query_params
    ticket = sign_in.link_ticket(site.store, site.key, visit["token"])
    if ticket is None or ticket.role != PLATFORM_ROLE:
        raise LtiError("This address registers no platform. Write a new one: grader roster --platform ADDRESS")
    address = ticket.person

    def may_fetch(url: str) -> bool:
        return origin(url) == address and is_protected(url)

    told, _ = fetch(may_fetch, asked.get("openid_configuration", ""))
    if origin(str(told.get("issuer"))) != address:
        raise LtiError("This platform names another issuer. Write it into serve.toml by hand, if that is meant.")
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if token := asked.get("registration_token"):
        headers["Authorization"] = f"Bearer {token}"
    ours = web.render("lti_tool.json.j2", url=site.settings.url, scope=f"{SCORE} {MEMBERS}").encode()
    answer, _ = fetch(may_fetch, str(told.get("registration_endpoint")), ours, headers)
    name = re.sub(r"[^a-z0-9]+", "-", urlsplit(address).netloc)
    deployment = (answer.get(TOOL) or {}).get("deployment_id")
    values: dict[str, Any] = {ours: told.get(theirs) for ours, theirs in NAMES.items()}
    values |= {"client_id": answer.get("client_id"), "deployments": [str(deployment)] if deployment else []}
    try:
        add_platform(site.root, name, values)
    except SettingsError as error:
        raise LtiError(str(error)) from error
    sign_in.revoke(site.store, address, PLATFORM_ROLE)
    return visit.html("registered.html.j2", name=name)


ROUTES = [
    get(LOGIN, login),
    post(LOGIN, login, PLATFORM),
    post(LAUNCH, receive, PLATFORM, runs=platform_calls),
    get("/lti/keys", keys),
    get(REGISTER + "{token}", register, runs=platform_calls),
]
