"""The addresses that a learning platform calls: registration, login, launch, and our public key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.writer import add_students
from grader.records import Student
from grader.serve import web
from grader.serve.guard import CSP
from grader.serve.lti import CHOICE, CLAIM, begin_login, choices, launch, ticket_of
from grader.serve.lti_calls import MEMBERS, SCORE, LtiError, fetch, own_key
from grader.serve.settings import SettingsError, add_platform, is_protected, origin
from grader.serve.sign_in import PLATFORM_ROLE, STUDENT, Ticket, can_sign_in, link_ticket, make_ticket, revoke
from grader.serve.site import Site
from grader.serve.web import PLATFORM, Visit, get, post

LOGIN, LAUNCH, REGISTER = "/lti/login", "/lti/launch", "/lti/register/"
TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"


def login(visit: Visit) -> Response:
    """Send the browser to the platform, which says who it is."""
    told = visit.form if visit.request.method == "POST" else visit.request.query_params
    return RedirectResponse(begin_login(visit.site, {name: str(value) for name, value in told.items()}), 302)


def receive(visit: Visit) -> Response:
    """Take a launch, and show a page from which the place to hand in opens in a tab of its own.

    In the platform's frame the cookie of a session would be another site's, which browsers block.
    """
    site = visit.site
    received = launch(site, visit.text("id_token", 1 << 16), visit.text("state"))
    framed = CSP.replace("frame-ancestors 'none'", f"frame-ancestors {origin(received.platform.login_url)}")
    if received.claims[f"{CLAIM}message_type"] == CHOICE:
        back, offered = choices(site, received)
        response = visit.html("choose.html.j2", back=back, offered=offered, visitor=None)
        framed = framed.replace("form-action 'self'", f"form-action {origin(back)}")
    else:
        ticket = ticket_of(site, received)
        if not can_sign_in(ticket.person):
            raise HTTPException(403, "Your platform's name for you cannot be used here. Tell your instructor.")
        _name(site, ticket)
        response = visit.html("lti.html.j2", token=make_ticket(site.store, ticket), visitor=None)
    response.headers["Content-Security-Policy"] = framed
    return response


def _name(site: Site, ticket: Ticket) -> None:
    """Add a student to the gradebook, so that the class page lists who has handed in nothing, too."""
    if ticket.role == STUDENT:
        first, _, last = ticket.name.rpartition(" ")
        try:
            add_students(site.gradebook, site.course, [Student(id=ticket.person, first_name=first, last_name=last)])
        except RecordError:  # another program writes; grading adds the student, too
            return


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
    ticket = link_ticket(site.store, site.key, visit["token"])
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
    try:
        add_platform(site.root, name, _platform(told, answer))
    except SettingsError as error:
        raise LtiError(str(error)) from error
    revoke(site.store, address, PLATFORM_ROLE)
    response = visit.html("registered.html.j2", name=name, visitor=None)
    response.headers["Content-Security-Policy"] = CSP.replace("frame-ancestors 'none'", f"frame-ancestors {address}")
    return response


def _platform(told: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what serve.toml says of a platform, from its configuration and its answer."""
    deployment = (answer.get(TOOL) or {}).get("deployment_id")
    return {
        "issuer": told.get("issuer"),
        "client_id": answer.get("client_id"),
        "deployments": [str(deployment)] if deployment else [],
        "login_url": told.get("authorization_endpoint"),
        "token_url": told.get("token_endpoint"),
        "keys_url": told.get("jwks_uri"),
    }


ROUTES = [
    get(LOGIN, login),
    post(LOGIN, login, PLATFORM),
    post(LAUNCH, receive, PLATFORM),
    get("/lti/keys", keys),
    get(REGISTER + "{token}", register),
]
