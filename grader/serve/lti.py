"""Signs people in through a learning platform: LTI 1.3, with OpenID Connect's third-party login.

A person who opens a task on the platform starts a launch: the browser brings this server a token, signed by the
platform, that identifies the person. A claim is one named value in that token. This module checks three parts of a
launch: the state, which this server issued and which works once; the signature, which must be RS256 with one of the
platform's published keys; and the claims for issuer, audience, times, nonce, deployment, version and message type. The
state is not tied to a cookie. If somebody opens a launch that another person began, the next page shows the name of
the person who began it.

The library pylti1p3next 2.0.2 was considered in November 2026 and not used, for three reasons. It needs PyJWT,
jwcrypto and the blocking library requests, in addition to joserfc. It has adapters only for Flask and Django, so
cookies, sessions and requests would still have to be written here. It stores the login in a cookie inside a frame,
and more and more browsers block such cookies.
"""

import hmac
import json
import logging
import math
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

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
from grader.serve.lti_calls import LtiError, own_key, platform_calls, published_keys, signed
from grader.serve.lti_people import CLAIM, TEST_STUDENT, claim_at, filled_in, role_of, text_of_id
from grader.serve.lti_scores import whole
from grader.serve.lti_services import missing, note_elsewhere
from grader.serve.platforms import ANY, CHOICE, KEYS, LAUNCH, LOGIN, TASK
from grader.serve.settings import Platform, origin
from grader.serve.sign_in import INSTRUCTOR, STATE, STUDENT, Ticket, can_sign_in
from grader.serve.site import Site
from grader.serve.web import PLATFORM, Visit, get, post

log = logging.getLogger("grader.serve")

DEEP_LINK = "https://purl.imsglobal.org/spec/lti-dl/claim/"
GRADE_SERVICE = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
ROSTER_SERVICE = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
CHOICE_SERVICE = f"{DEEP_LINK}deep_linking_settings"
# Where a launch names addresses of services: the claim, and the key in it.
ITEM, ITEMS = (GRADE_SERVICE, "lineitem"), (GRADE_SERVICE, "lineitems")
ROSTER, BACK = (ROSTER_SERVICE, "context_memberships_url"), (CHOICE_SERVICE, "deep_link_return_url")
STATE_SECONDS, LEEWAY_SECONDS, OLDEST_SECONDS = 600, 60, 600
CHOICE_SECONDS = 300  # for the instructor to choose: Canvas takes no answer that is older
MOST_NAME = 200  # characters of a person's name
DEEPEST_CLAIM = 20  # nested values of a launch
ALGORITHMS = ["RS256"]  # no other: neither "none", nor one that takes a public key for a shared secret


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A checked message that a platform has signed."""

    name: str  # of the platform, in serve.toml
    platform: Platform
    claims: Mapping[str, Any]

    def of(self, claim: str, key: str) -> Any:
        """Return the value `key` of a claim that is a JSON object, or None if there is no such claim or value."""
        group = self.claims.get(claim)
        return group.get(key) if isinstance(group, dict) else None

    @property
    def role(self) -> str | None:
        """The role of a person in the course, or None if this server does not know the role."""
        return role_of(self.platform, self.claims.get(f"{CLAIM}roles"))

    def address(self, claim: str, key: str) -> str | None:
        """Return an address in a claim that is a JSON object, or None if it is not one of the platform's addresses."""
        url = self.of(claim, key)
        return url if isinstance(url, str) and self.platform.may_fetch(url) else None


# ---------------------------------------------------------------- login and launch


def login(visit: Visit) -> Response:
    """Begin a launch: redirect the browser to the platform, which identifies the user.

    Raises:
        LtiError: the platform is not registered.
    """
    site = visit.site
    told = visit.form if visit.request.method == "POST" else visit.request.query_params
    issuer, client, known = told.get("iss"), told.get("client_id") or None, site.settings.lti
    own = [name for name, one in known.items() if issuer == one.issuer and client in (one.client_id, None)]
    if not own:
        raise LtiError("This server does not know your platform. Tell your instructor.")
    deployment = told.get("lti_deployment_id")  # few platforms say it yet; a launch says it
    name = next((name for name in own if deployment in known[name].deployments), own[0])
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
    """Check the token of a launch, and return the launch.

    Raises:
        LtiError: a part of the launch is not valid.
    """
    began = sign_in.value_of(site.store, STATE, state, use=True)
    platform = site.settings.lti.get(began["platform"]) if began else None
    if began is None or platform is None:
        raise LtiError("This launch is too old, or was used already. Open the task in your course once more.")
    claims = _claims(platform, token)
    _check(site, platform, claims, began["nonce"])
    name = _entry(site, began["platform"], text_of_id(claims.get(f"{CLAIM}deployment_id")))
    checked = Launch(name=name, platform=site.settings.lti[name], claims=claims)
    _check_course(site, checked)
    note_elsewhere(site, name, [checked.of(*place) for place in (ITEM, ITEMS, ROSTER, BACK)])
    return checked


def ticket_of(site: Site, launch: Launch) -> Ticket:
    """Return the ticket of the person of a launch, and store the platform's addresses for the score and the roster.

    Raises:
        LtiError: the person is neither a student nor an instructor of the course.
    """
    if launch.role is None:
        raise LtiError("You are neither a student nor an instructor of this course.")
    person = f"{launch.platform.prefix}{_student_id(launch)}"
    role = INSTRUCTOR if launch.role == INSTRUCTOR else STUDENT
    assignment = _assignment(site, launch)
    leads_to = "/class" if role == INSTRUCTOR else f"/a/{assignment}" if assignment else "/"
    if launch.role == STUDENT and assignment:
        _remember(site, launch, person, assignment)
    roster = launch.address(*ROSTER)
    if role == INSTRUCTOR and roster:  # an instructor who comes gets the newest
        site.store.change(
            "INSERT OR REPLACE INTO lti_roster VALUES (?, ?, '')", launch.name, _with_link(launch, roster)
        )
    return Ticket(person=person, role=role, name=_name(launch.claims.get("name")), via="lti", leads_to=leads_to)


def _with_link(launch: Launch, roster: str) -> str:
    """Return the address of a roster, with the id of the task's link if student ids are custom claims.

    Only links have custom claims, so the roster contains such ids only if it is requested for a link.
    """
    link = text_of_id(launch.of(f"{CLAIM}resource_link", "id"))
    if not link or not launch.platform.student.startswith("custom."):
        return roster
    return f"{roster}{'&' if '?' in roster else '?'}{urlencode({'rlid': link})}"


def _entry(site: Site, began: str, deployment: str) -> str:
    """Return the NAME of the entry [lti.NAME] in serve.toml that a deployment belongs to.

    The launch began with the entry `began`. Several schools may share issuer, client and keys. Each school then has an
    entry with its own deployments. Raise LtiError if no entry of the platform allows the deployment.
    """
    known = site.settings.lti
    own = [name for name, one in known.items() if one.signer == known[began].signer]
    for wanted in (deployment, ANY):
        for name in own:
            if wanted and wanted in known[name].deployments:
                return name
    line = f"deployments = {json.dumps([*known[began].deployments, deployment])} under [lti.{began}] in serve.toml"
    log.warning("a launch of another deployment was refused. To allow it, write %s", line)
    raise LtiError(
        "This launch is not valid: its deployment is not the expected one. "
        f"If somebody added the tool at a new place on purpose, the server's operator must write {line}."
    )


def _check_course(site: Site, launch: Launch) -> None:
    """Raise LtiError for a launch from another course of the platform.

    If serve.toml names no courses, the course of the first instructor who arrives is ours. A launch without a course id
    belongs to the course "", which an operator must add to serve.toml once the platform has another course here.
    """
    came, known = filled_in(text_of_id(launch.of(f"{CLAIM}context", "id")), "context"), launch.platform.courses
    if not known:
        if launch.role == INSTRUCTOR and came:
            site.store.change("INSERT OR IGNORE INTO lti_course VALUES (?, ?)", launch.name, came)
        known = [row["course"] for row in site.store.rows("SELECT * FROM lti_course WHERE platform = ?", launch.name)]
    if known and came not in known:
        line = f"courses = {json.dumps([*known, came])} under [lti.{launch.name}] in serve.toml"
        which = (
            "This submission page belongs to another course."
            if came
            else "Your platform does not say which course this is."
        )
        raise LtiError(f"{which} To accept this course, the server's operator must write {line}.")


def _claims(platform: Platform, token: str) -> dict[str, Any]:
    """Return the claims in a token. Raise LtiError if the signature is not valid or the claims cannot be used."""
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
        raise LtiError("This launch is not valid: a claim contains an incomplete character.") from error
    return claims


def _depth(value: object) -> int:
    """Return the depth to which the lists and objects of a JSON value are nested: 0 for a number or a string."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth


def _check(site: Site, platform: Platform, claims: Mapping[str, Any], nonce: str) -> None:
    """Raise LtiError for a launch that is not for this server, is too old or too new, or answers another request."""
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
        (text_of_id(claims.get(f"{CLAIM}deployment_id")) != "", "deployment"),
        (claims.get(f"{CLAIM}version") == "1.3.0", "version"),
        (claims.get(f"{CLAIM}message_type") in (TASK, CHOICE), "message"),
        (not target or origin(target) == site.settings.origin, "target"),
    ):
        if not holds:
            raise LtiError(f"This launch is not valid: its {what} is not the expected one.")


def _seconds(value: object, otherwise: float = 0.0) -> float:
    """Return the time in a claim, in seconds since 1970.

    Return `otherwise` if the claim is not a number, or is too large for a float.
    """
    with suppress(OverflowError):
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise
    return otherwise


def _student_id(launch: Launch) -> str:
    """Return the value of the claim that contains the student's id. Raise LtiError if the claim is missing."""
    value = text_of_id(claim_at(launch.claims, launch.platform.student))
    if not value or not text_of_id(launch.claims.get("sub")):
        raise LtiError("Your platform does not say who you are. Tell your instructor.")
    return filled_in(value, launch.platform.student)


def _name(value: object) -> str:
    """Return a person's name for pages, or "" if the platform sends no name, or only the name of a variable."""
    name = clean(value)[:MOST_NAME] if isinstance(value, str) else ""
    return "" if name.startswith("$") else name


def _assignment(site: Site, launch: Launch) -> str | None:
    """Return the assignment in a launch's custom parameter or link, or None if neither names an open assignment."""
    target = urlsplit(str(launch.claims.get(f"{CLAIM}target_link_uri") or "")).path
    wanted = launch.of(f"{CLAIM}custom", "assignment") or target.removeprefix("/a/")
    if isinstance(wanted, str):
        filled_in(wanted, "assignment")
    return wanted if wanted in list(site.open_assignments()) else None


def _remember(site: Site, launch: Launch, person: str, assignment: str) -> None:
    """Store the addresses of the grade column for the score, and of the platform's list of grade columns.

    A launch may name only one of the two addresses, or none.
    """
    item, items = launch.address(*ITEM), launch.address(*ITEMS)
    if item is None and items is None:
        return
    # A launch that names no item, as from a second link in the course, takes no item away.
    same = "excluded.lineitem = '' AND platform = excluded.platform AND items IN ('', excluded.items)"
    kept = f"CASE WHEN {same} THEN lineitem ELSE excluded.lineitem END"
    place = (
        "INSERT INTO lti_place (person, assignment, platform, subject, lineitem, items, link)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET platform = excluded.platform,"
        f" subject = excluded.subject, items = excluded.items, lineitem = {kept}, link = excluded.link,"
        f" sent = CASE WHEN lineitem = {kept} THEN sent ELSE '' END, refused = ''"
    )
    link = text_of_id(launch.of(f"{CLAIM}resource_link", "id"))
    told = (launch.name, text_of_id(launch.claims["sub"]), item or "", items or "", link)
    site.store.change(place, person, assignment, *told)


# ---------------------------------------------------------------- an instructor chooses the task


def choices(site: Site, launch: Launch) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the address for the answer of an instructor who chooses a task, and the possible answers.

    Each answer is an open assignment's name, its title and a signed token that chooses it.

    Raises:
        LtiError: the person is not an instructor, or the address does not belong to the platform.
    """
    if launch.role != INSTRUCTOR:
        raise LtiError("Only an instructor of the course can choose its tasks.")
    if (back := launch.address(*BACK)) is None:
        line = missing(site).get(launch.name)
        advice = f" The server's operator must write {line} under [lti.{launch.name}] in serve.toml." if line else ""
        raise LtiError(f"Your choice would go to an address that serve.toml does not name.{advice}")

    def chosen(name: str, title: str) -> str:
        about = {"claims": launch.claims, "url": site.settings.url, "nonce": secrets.token_urlsafe(16)}
        claims = json.loads(
            web.render("lti_choice.json.j2", name=name, title=title, most=whole(max_score(name)), **about)
        )
        platform = launch.platform
        return signed(site.folder, platform, platform.issuer, CHOICE_SECONDS, sub=platform.client_id, **claims)

    return back, [(name, title, chosen(name, title)) for name, title in site.open_assignments().items()]


def receive(visit: Visit) -> Response:
    """Check a launch, and show a page from which the submission page opens in a separate tab.

    In the platform's frame, browsers block the cookie of our session because it belongs to another
    site.
    """
    site = visit.site
    received = launch(site, visit.text("id_token", 1 << 16), visit.text("state"))
    if received.claims[f"{CLAIM}message_type"] == CHOICE:
        back, offered = choices(site, received)
        return visit.html("choose.html.j2", back=back, offered=offered)
    ticket = ticket_of(site, received)
    if not can_sign_in(ticket.person):
        raise HTTPException(
            403, "This server cannot use the id that your platform sends for you. Tell your instructor."
        )
    if received.role != TEST_STUDENT:
        _add_student(site, ticket)
    return visit.html("lti.html.j2", token=sign_in.make_ticket(site.store, ticket))


def _add_student(site: Site, ticket: Ticket) -> None:
    """Add the student of a ticket to the gradebook, because the class page also lists students without submissions."""
    if ticket.role == STUDENT:
        first, _, last = ticket.name.rpartition(" ")
        with suppress(RecordError):  # another program writes; grading adds the student, too
            add_students(site.gradebook, site.course, [Student(id=ticket.person, first_name=first, last_name=last)])


def keys(visit: Visit) -> Response:
    """Publish the public key with which platforms check this server's signatures."""
    return JSONResponse({"keys": [own_key(visit.site.folder).as_dict(private=False)]})


ROUTES = [
    get(LOGIN, login),
    post(LOGIN, login, PLATFORM),
    post(LAUNCH, receive, PLATFORM, runs=platform_calls),
    get(KEYS, keys),
]
