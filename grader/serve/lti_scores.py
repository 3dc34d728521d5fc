"""Sends scores to learning platforms, and asks them who takes the course: LTI's grade service and names and roles.

What is sent is what the gradebook says, as soon as the student may see it. Before a score leaves, it is written down with
its time; killed before the answer comes, the same score goes out with the same time, which a platform takes as one score.
"""

import json
import logging
import re
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from urllib.parse import urlencode, urljoin, urlsplit, urlunsplit

from grader.classes.gradebook.writer import add_students
from grader.records import GradebookEntry, Student
from grader.report.text import number
from grader.serve.lti_calls import Answer, LtiError, fetch, signed
from grader.serve.settings import Platform
from grader.serve.sign_in import can_sign_in
from grader.serve.site import Site
from grader.serve.store import now, text_of

log = logging.getLogger("grader.serve")

ROUND_SECONDS, LONGEST_PAUSE = 5.0, 600.0
ROSTER_HOURS = 6  # between two looks at a roster; an instructor who comes from the platform has a new one at once
MOST_PAGES = 50  # of a roster
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
LEARNER = f"{MEMBERSHIP}#Learner"
NEXT = re.compile(r'<([^>]+)>;[^,]*\brel="?next\b')


def unsent(site: Site, entries: Iterable[GradebookEntry]) -> Iterator[tuple[sqlite3.Row, str]]:
    """Yield the places whose platform has not the score that the student sees, and the score, "points/of"."""
    scores = {(one.student.id, one.assignment): one for one in entries}
    for row in site.store.rows("SELECT * FROM lti_place ORDER BY rowid"):
        entry = scores.get((row["person"], row["assignment"]))
        if entry is None or entry.score is None or row["platform"] not in site.settings.lti:
            continue
        wanted = f"{number(entry.score)}/{number(entry.max_score)}"
        if wanted != row["sent"] and site.shows_feedback(row["assignment"], row["person"]):
            yield row, wanted


class Sender:
    """Sends what is not sent yet, again and again, with the tokens that platforms give us."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._tokens: dict[tuple[str, str], tuple[float, str]] = {}  # address and scope → until when, token
        self._pauses: dict[tuple[str, str], tuple[float, float]] = {}  # person and assignment → until when, how long

    def run(self) -> None:
        """Send for ever."""
        while True:
            for step in (self.take_rosters, self.send_all):
                try:
                    step()
                except Exception as error:  # whatever a platform answers: this thread must not end
                    log.warning("%s: %s: %s", step.__name__, type(error).__name__, error)
            time.sleep(ROUND_SECONDS)

    def send_all(self) -> int:
        """Send each score that the platform has not; return how many it took."""
        due = list(unsent(self._site, self._site.entries()))
        return sum(self._send(row, self._site.settings.lti[row["platform"]], wanted) for row, wanted in due)

    def _send(self, row: sqlite3.Row, platform: Platform, wanted: str) -> bool:
        """Send one score, unless it failed a short while ago; tell whether the platform took it."""
        key = row["person"], row["assignment"]
        until, pause = self._pauses.get(key, (0.0, ROUND_SECONDS))
        if time.monotonic() < until:
            return False
        try:
            self._post(row, platform, wanted, self._stamp(row, wanted))
        except LtiError as error:
            self._pauses[key] = time.monotonic() + pause, min(2 * pause, LONGEST_PAUSE)
            log.warning("the score of %r in %s was not sent, and will be again: %s", *key, error)
            return False
        self._pauses.pop(key, None)
        self._site.store.change("UPDATE lti_place SET sent = ? WHERE person = ? AND assignment = ?", wanted, *key)
        return True

    def _stamp(self, row: sqlite3.Row, wanted: str) -> str:
        """Return the time of a score: the one that it had when it was sent before without an answer, or now."""
        before, _, stamp = row["sending"].partition(" ")
        if before == wanted:
            return stamp
        stamp = text_of(now())
        change = "UPDATE lti_place SET sending = ? WHERE person = ? AND assignment = ?"
        self._site.store.change(change, f"{wanted} {stamp}", row["person"], row["assignment"])
        return stamp

    def _post(self, row: sqlite3.Row, platform: Platform, wanted: str, stamp: str) -> None:
        """Send a score to its place at the platform."""
        points, most = map(float, wanted.split("/"))
        score = {"userId": row["subject"], "scoreGiven": points, "scoreMaximum": most, "timestamp": stamp}
        score |= {"activityProgress": "Completed", "gradingProgress": "FullyGraded"}
        score["comment"] = f"Feedback: {self._site.settings.url}/a/{row['assignment']}"
        parts = urlsplit(row["lineitem"])
        address = urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/scores"))
        kind = "application/vnd.ims.lis.v1.score+json"
        self._ask(platform, SCORE, address, kind, json.dumps(score).encode())

    def take_rosters(self) -> None:
        """Add those to the gradebook who take the course at a platform, so that the class page lists them before they come."""
        old = text_of(now() - timedelta(hours=ROSTER_HOURS))
        for row in self._site.store.rows("SELECT * FROM lti_roster WHERE fetched < ?", old):
            if platform := self._site.settings.lti.get(row["platform"]):
                try:
                    students = list(self._students(platform, row["url"]))
                    add_students(self._site.gradebook, self._site.course, students)
                    log.info("%s has %d students", row["platform"], len(students))
                except LtiError as error:
                    log.warning("the roster of %s was not read: %s", row["platform"], error)
            self._site.store.change("UPDATE lti_roster SET fetched = ? WHERE url = ?", text_of(now()), row["url"])

    def _students(self, platform: Platform, url: str) -> Iterator[Student]:
        """Yield those who take a course, from all pages of its roster."""
        for _ in range(MOST_PAGES):
            kind = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
            told, headers = self._ask(platform, MEMBERS, url, kind)
            members = told.get("members")
            for member in members if isinstance(members, list) else ():
                if student := _student(platform, member):
                    yield student
            following = NEXT.search(headers.get("Link") or "")
            if following is None:
                return
            url = urljoin(url, following[1])

    def _ask(self, platform: Platform, scope: str, url: str, kind: str, data: bytes = b"") -> Answer:
        """Send data of a media type to an address of a platform, or read it, with a token for the scope; raise as `fetch`."""
        authorization = f"Bearer {self._token(platform, scope)}"
        headers = {"Content-Type" if data else "Accept": kind, "Authorization": authorization}
        try:
            return fetch(platform.may_fetch, url, data, headers)
        except LtiError:
            self._tokens.pop((platform.token_url, scope), None)  # the next time with a new one
            raise

    def _token(self, platform: Platform, scope: str) -> str:
        """Return a token for a scope; ask for a new one before it is too old."""
        key = platform.token_url, scope
        until, token = self._tokens.get(key, (0.0, ""))
        if time.monotonic() < until:
            return token
        id = secrets.token_urlsafe(16)
        assertion = signed(self._site.folder, platform, platform.token_url, 60, sub=platform.client_id, jti=id)
        form = {"grant_type": "client_credentials", "client_assertion_type": ASSERTION, "client_assertion": assertion}
        told, _ = fetch(platform.may_fetch, platform.token_url, urlencode({**form, "scope": scope}).encode())
        given, lasts = told.get("access_token"), told.get("expires_in")
        if not isinstance(given, str):
            raise LtiError(f"{platform.issuer} gives no token for {scope}")
        self._tokens[key] = time.monotonic() + (lasts if isinstance(lasts, int | float) else 60) - 30.0, given
        return given


def _student(platform: Platform, member: object) -> Student | None:
    """Return the student that a member of a course is, under the id of a launch; None for others."""
    if not isinstance(member, dict):
        return None
    person = member.get("user_id" if platform.student == "sub" else platform.student.replace(".", "_"))
    roles = member.get("roles")
    learns = isinstance(roles, list) and (LEARNER in roles or "Learner" in roles)
    if not learns or member.get("status", "Active") != "Active":
        return None
    # A variable that the platform did not replace is the same for everybody.
    if not isinstance(person, str) or person.startswith("$") or not can_sign_in(platform.prefix + person):
        return None
    first, last, email = (str(member.get(key) or "") for key in ("given_name", "family_name", "email"))
    return Student(id=platform.prefix + person, first_name=first, last_name=last, email=email)
