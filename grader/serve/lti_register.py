"""Registers this server as a tool of a platform.

The platform opens an address of this server, or reads a file that describes it.
"""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import Response

from grader.serve import sign_in, web
from grader.serve.lti_calls import LtiError, fetch, platform_calls
from grader.serve.lti_people import text_of_id
from grader.serve.lti_services import SCOPES
from grader.serve.platforms import ADDRESSES, ANY, CHOICE, CONFIGURATION, PRESETS, STANDARD, TASK, filled_in
from grader.serve.settings import SettingsError, add_platform, is_protected, origin
from grader.serve.sign_in import PLATFORM_ROLE
from grader.serve.web import Visit, get

REGISTER = "/lti/register/"
TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"


def configuration(name: str, url: str) -> str:
    """Return the file that describes this server to a platform, or "" if the platform reads no file.

    Args:
        name: the kind of platform, a key of PRESETS.
        url: this server's address.
    """
    preset = PRESETS.get(name, STANDARD)
    if not preset.configuration:
        return ""
    written = web.render(preset.configuration, url=url, scopes=SCOPES, preset=preset)
    return json.dumps(json.loads(written), indent=2)


def configure(visit: Visit) -> Response:
    """Show the platform the file that describes this server. The file contains no secret."""
    text = configuration(visit["name"], visit.site.settings.url)
    if not text:
        raise HTTPException(404)
    return Response(text, media_type="application/json")


def entry_name(school: str) -> str:
    """Return the NAME of the entry [lti.NAME] in serve.toml for the platform at an address."""
    return re.sub(r"[^a-z0-9]+", "-", urlsplit(school).netloc.lower())


def register(visit: Visit) -> Response:
    """Register this server as a tool of a platform, and write the platform into serve.toml.

    The operator makes the link that the platform opens. Without it, anybody could register a
    platform and sign in through it as any person. Requests go only to that platform: to the
    school's address, or to the host of the issuer, where Canvas has its configuration.
    """
    site, asked = visit.site, visit.request.query_params
    ticket = sign_in.link_ticket(site.store, site.key, visit["token"])
    if ticket is None or ticket.role != PLATFORM_ROLE:
        raise LtiError("This address registers no platform. Write a new one: grader roster --platform ADDRESS")
    kind, _, school = ticket.person.rpartition(" ")
    preset = PRESETS.get(kind, STANDARD)
    issuer = filled_in(kind, school, "")["issuer"] if kind else school

    def may_fetch(url: str) -> bool:
        return origin(url) in (origin(school), origin(issuer)) and is_protected(url)

    token = asked.get("registration_token")
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    told, _ = fetch(may_fetch, asked.get("openid_configuration", ""), b"", headers)
    if told.get("issuer") != issuer and origin(str(told.get("issuer"))) != origin(school):
        raise LtiError(
            "This platform names another issuer. If this is right, pass the platform's name: "
            "grader roster --platform NAME --school ADDRESS. Or write it into serve.toml by hand."
        )
    ours = web.render(
        "lti_tool.json.j2", url=site.settings.url, scope=" ".join(SCOPES), preset=preset, messages=(TASK, CHOICE)
    )
    headers["Content-Type"] = "application/json"
    answer, _ = fetch(may_fetch, str(told.get("registration_endpoint")), ours.encode(), headers)
    values: dict[str, Any] = {ours: told.get(theirs) for ours, theirs in ADDRESSES.items()}
    values |= {"client_id": text_of_id(answer.get("client_id")), "deployments": _deployments(answer, kind)}
    if is_protected(audience := str(told.get("authorization_server"))) and not preset.audience:
        values["audience"] = audience
    try:
        add_platform(site.root, entry_name(school), values | ({"platform": kind, "school": school} if kind else {}))
    except SettingsError as error:
        raise LtiError(str(error)) from error
    sign_in.revoke(site.store, ticket.person, PLATFORM_ROLE)
    about = dict(name=entry_name(school), deployments=values["deployments"], preset=preset)
    response = visit.html("registered.html.j2", **about)
    response.headers["Cross-Origin-Opener-Policy"] = (
        "unsafe-none"  # a platform that has opened a tab waits for its message
    )
    return response


def _deployments(answer: dict[str, Any], kind: str) -> list[str]:
    """Return the deployments to allow: the deployment that the platform's answer names, or default deployments.

    The kind of platform determines the defaults. Without a kind, all deployments are allowed,
    because the client was made for this registration and belongs to the school.
    """
    tool = answer.get(TOOL)
    deployment = text_of_id(tool.get("deployment_id")) if isinstance(tool, dict) else ""
    return [deployment] if deployment else list(PRESETS[kind].deployments) if kind else [ANY]


ROUTES = [get(CONFIGURATION + "{name}", configure), get(REGISTER + "{token}", register, runs=platform_calls)]
