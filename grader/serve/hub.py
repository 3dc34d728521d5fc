"""Signs people in through JupyterHub: this server is a service of the hub, which identifies the user by OAuth.

A notebook server of the hub can also submit with its JupyterHub token, so that a student does not have to leave
JupyterLab. Either token must allow access to this service; the hub decides who gets such a token.
"""

import os
from urllib.parse import urlencode

from grader.serve.lti_calls import LtiError, Refused, clock, fetch
from grader.serve.settings import Hub
from grader.serve.sign_in import INSTRUCTOR, STUDENT, Ticket, can_sign_in, digest_of, issue, value_of
from grader.serve.site import Site

STATE, STATE_SECONDS = "hub state", 600
REFUSED_SECONDS, MOST_REFUSED = 60.0, 10_000  # how long a refused token is remembered; how many are
UNKNOWN = "Neither this server nor JupyterHub knows this code or token. Create a new code on the submission page."
_refused: dict[str, float] = {}  # digest of a token → until when


def login_address(site: Site) -> str:
    """Begin a sign-in, and return the address at JupyterHub to which the browser goes next."""
    query = {**_client(site), "response_type": "code", "state": issue(site.store, STATE, {}, STATE_SECONDS)}
    return f"{_hub(site).url}/hub/api/oauth2/authorize?{urlencode(query)}"


def receive(site: Site, code: str, state: str) -> Ticket:
    """Return the ticket of the person who returns from JupyterHub with a code.

    Raises:
        LtiError: this server did not begin the sign-in, or JupyterHub refuses it.
    """
    if value_of(site.store, STATE, state, use=True) is None:
        raise LtiError("This sign-in is too old, or was used already. Sign in again.")
    secret = os.environ.get("JUPYTERHUB_API_TOKEN", "")
    form = {**_client(site), "client_secret": secret, "grant_type": "authorization_code", "code": code}
    hub = _hub(site)
    told, _ = fetch(hub.may_fetch, f"{hub.url}/hub/api/oauth2/token", urlencode(form).encode())
    return ticket_of(site, str(told.get("access_token")))


def ticket_of(site: Site, token: str) -> Ticket:
    """Return the ticket of the user that a JupyterHub token belongs to.

    After JupyterHub has refused a token, this server does not ask about it again for
    REFUSED_SECONDS.

    Raises:
        LtiError: the token is unknown or does not allow access to this service, or JupyterHub does
            not answer.
    """
    hub = _hub(site)
    key = digest_of(f"{hub.url} {hub.service} {token}")
    if clock() < _refused.get(key, 0.0):
        raise Refused("JupyterHub refused this token a moment ago. Wait a minute, or get a new one.")
    try:
        return _ticket(site, hub, token)
    except Refused:
        if len(_refused) >= MOST_REFUSED:
            _refused.clear()
        _refused[key] = clock() + REFUSED_SECONDS
        raise


def _ticket(site: Site, hub: Hub, token: str) -> Ticket:
    """Ask JupyterHub for the user of a token, and return the user's ticket.

    Raises:
        LtiError: as for `ticket_of`.
    """
    try:
        user, _ = fetch(hub.may_fetch, f"{hub.url}/hub/api/user", b"", {"Authorization": f"token {token}"})
    except Refused as refused:
        raise Refused(UNKNOWN) from refused
    person, scopes, groups = user.get("name"), _texts(user.get("scopes")), _texts(user.get("groups"))
    allowed = {"access:services", f"access:services!service={hub.service}"}
    known = user.get("kind") == "user" and bool(allowed & scopes)
    if not known or not isinstance(person, str) or not can_sign_in(person):
        raise Refused("JupyterHub does not allow you to submit here. Tell your instructor.")
    teaches = person in hub.instructors or f"formgrade-{site.course}" in groups  # nbgrader's own name of the group
    role, leads_to = (INSTRUCTOR, "/class") if teaches else (STUDENT, "/")
    return Ticket(person=person, role=role, name="", via="hub", leads_to=leads_to)


def _texts(value: object) -> set[str]:
    """Return the strings in a list of JSON as a set. Return an empty set for any other value."""
    return {each for each in value if isinstance(each, str)} if isinstance(value, list) else set()


def _hub(site: Site) -> Hub:
    """Return the JupyterHub of serve.toml.

    Raises:
        LtiError: serve.toml names no JupyterHub.
    """
    if site.settings.hub is None:
        raise LtiError("This course has no JupyterHub.")
    return site.settings.hub


def _client(site: Site) -> dict[str, str]:
    """Return the two OAuth parameters that identify this server to JupyterHub.

    They are the server's name there, and the address to which JupyterHub sends browsers back.
    """
    return {"client_id": f"service-{_hub(site).service}", "redirect_uri": f"{site.settings.url}/hub/callback"}
