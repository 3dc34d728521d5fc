"""Requests tokens and class lists from platforms, and remembers services on hosts that serve.toml does not name."""

import json
import logging
import re
import secrets
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin

from grader.classes.gradebook.writer import add_students
from grader.records import Student
from grader.serve.lti_calls import BUSY_SECONDS, Answer, LtiError, fetch, signed
from grader.serve.lti_people import student_of
from grader.serve.settings import SERVICE, Platform, is_protected, origin
from grader.serve.site import Site
from grader.serve.store import now, text_of

log = logging.getLogger("grader.serve")

SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
LINE_ITEM = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
SCOPES = (SCORE, LINE_ITEM, MEMBERS)
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
MOST_SECONDS = 24 * 3600  # that a token is kept
MOST_PAGES = 1000  # of a list
NEXT = re.compile(r'<([^>]+)>\s*;[^<]*?\brel\s*=\s*"?next\b')


class Services:
    """The services of all platforms, and their access tokens.

    A token is kept until it is too old or the platform refuses it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tokens: dict[tuple[str, str, str], tuple[float, str]] = {}  # address, client, scope → until when, token

    def ask(
        self, platform: Platform, scope: str, url: str, media: str, data: bytes = b"", *, kind: type = dict
    ) -> Answer:
        """Send a request with a token to a platform, and return the JSON of the answer and its headers.

        Args:
            scope: the permission that the token needs.
            media: the media type of the data, or else of the answer.
            data: the body of a POST request; empty for a GET request.

        Raises:
            LtiError: as for `fetch`, or the platform issues no token. In the latter case, the
                request may succeed later.
        """
        key = platform.token_url, platform.client_id, scope
        headers = {"Content-Type" if data else "Accept": media, "Authorization": f"Bearer {self._token(platform, key)}"}
        try:
            return fetch(platform.may_fetch, url, data, headers, kind)
        except LtiError as error:
            if error.status == 401:
                self._tokens.pop(key, None)  # the next time with a new one
            raise

    def pages(self, platform: Platform, scope: str, url: str, media: str, *, kind: type = dict) -> Iterator[Any]:
        """Yield the pages of a list. The headers of a page contain the address of the next page."""
        seen = set[str]()
        while url not in seen:
            if len(seen) == MOST_PAGES:
                log.warning("%s has more than %d pages: the others were not read", url, MOST_PAGES)
                return
            seen.add(url)
            told, headers = self.ask(platform, scope, url, media, kind=kind)
            yield told
            following = NEXT.search(headers.get("link", ""))
            url = urljoin(url, following[1]) if following else url

    def _token(self, platform: Platform, key: tuple[str, str, str]) -> str:
        """Return an access token for a scope. Request a new one if the last one is too old."""
        until, token = self._tokens.get(key, (0.0, ""))
        if time.monotonic() < until:
            return token
        id, address = secrets.token_urlsafe(16), platform.token_url
        assertion = signed(self._folder, platform, platform.audience or address, 60, sub=platform.client_id, jti=id)
        form = {"grant_type": "client_credentials", "client_assertion_type": ASSERTION, "client_assertion": assertion}
        try:
            told, _ = fetch(platform.may_fetch, address, urlencode({**form, "scope": key[2]}).encode())
            given, lasts = told.get("access_token"), told.get("expires_in")
            if not isinstance(given, str):
                raise LtiError("its answer contains no token")
        except LtiError as error:
            refusal = LtiError(f"{platform.issuer} issued no token for {key[2]}: {error.reason or error}")
            refusal.wait = max(error.wait, BUSY_SECONDS)
            raise refusal from error
        seconds = min(lasts, MOST_SECONDS) if isinstance(lasts, int | float) else 60
        self._tokens[key] = time.monotonic() + seconds - 30.0, given
        return given


# ---------------------------------------------------------------- services on hosts that are not known


def note_elsewhere(site: Site, name: str, addresses: list[Any]) -> None:
    """Store the hosts in a signed launch that serve.toml does not name, and log each host once."""
    platform = site.settings.lti[name]
    found = {
        origin(url) for url in addresses if isinstance(url, str) and is_protected(url) and not platform.may_fetch(url)
    }
    for host in sorted(each for each in found if SERVICE.fullmatch(each)):
        if site.store.change("INSERT OR IGNORE INTO lti_elsewhere VALUES (?, ?)", name, host):
            log.warning(
                "[lti.%s] has services on %s, which serve.toml does not name: %s", name, host, missing(site)[name]
            )


def missing(site: Site) -> dict[str, str]:
    """Map each platform with services on hosts that serve.toml lacks to the line that adds the hosts."""
    rows = site.store.rows("SELECT * FROM lti_elsewhere ORDER BY origin")
    lines = {}
    for name, platform in site.settings.lti.items():
        hosts = [row["origin"] for row in rows if row["platform"] == name and not platform.may_fetch(row["origin"])]
        if hosts:
            lines[name] = f"services = {json.dumps([*platform.services, *hosts])}"
    return lines


# ---------------------------------------------------------------- who takes the course

ROSTER_HOURS = 6  # between two looks at a roster; an instructor who comes from the platform has a new one at once
MEMBERSHIPS = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"  # some platforms accept no other words


def take_rosters(site: Site, services: Services) -> None:
    """Add the students in the platforms' rosters to the gradebook.

    So the class page also lists students who have not signed in yet.
    """
    old = text_of(now() - timedelta(hours=ROSTER_HOURS))
    for row in site.store.rows("SELECT * FROM lti_roster WHERE fetched < ?", old):
        if platform := site.settings.lti.get(row["platform"]):
            try:
                students = list(_students(services, platform, row["url"]))
                add_students(site.gradebook, site.course, students)
                log.info("students of %s: %d", row["platform"], len(students))
            except LtiError as error:
                log.warning("the roster of %s was not read: %s", row["platform"], error.reason or error)
        site.store.change("UPDATE lti_roster SET fetched = ? WHERE url = ?", text_of(now()), row["url"])


def _students(services: Services, platform: Platform, url: str) -> Iterator[Student]:
    """Yield the students of a course, from all pages of its roster."""
    for page in services.pages(platform, MEMBERS, url, MEMBERSHIPS):
        members = page.get("members")
        for member in members if isinstance(members, list) else ():
            if student := student_of(platform, member):
                yield student
