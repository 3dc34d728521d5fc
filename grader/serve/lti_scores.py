"""Sends scores to learning platforms: LTI's assignment and grade service. Each score is sent until the platform has it, once.

What is sent is what the gradebook says, as soon as the student may see it. Before a score leaves, it is written down with
its time; killed before the answer comes, the same score goes out with the same time, which a platform takes as one score.
"""

from __future__ import annotations

import json
import logging
import secrets
import sqlite3
import threading
import time
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit
from urllib.request import Request

from joserfc import jwt

from grader.classes.gradebook.errors import RecordError
from grader.report.text import number
from grader.serve.lti import LtiError, Platform, fetch, own_key, platforms
from grader.serve.settings import SettingsError
from grader.serve.site import Site
from grader.serve.store import now, text_of

log = logging.getLogger("grader.serve")

SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ROUND_SECONDS, LONGEST_PAUSE = 5.0, 600.0


class Sender:
    """Sends what is not sent yet, again and again."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._tokens: dict[str, tuple[float, str]] = {}
        self._pauses: dict[tuple[str, str], tuple[float, float]] = {}  # person and assignment → until when, how long

    def start(self) -> None:
        """Send in the background as long as this process lives."""
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                self.send_all()
            except (OSError, sqlite3.Error, RecordError, SettingsError) as error:
                log.warning("scores were not sent: %s", error)
            time.sleep(ROUND_SECONDS)

    def send_all(self) -> int:
        """Send each score that the platform has not; return how many it took."""
        known = platforms(self._site)
        with self._site.store.reading() as db:
            rows = db.execute("SELECT * FROM lti_place ORDER BY rowid").fetchall()
        return sum(self._send(row, known[row["platform"]]) for row in rows if row["platform"] in known)

    def _send(self, row: sqlite3.Row, platform: Platform) -> bool:
        """Send one score, if it is due; tell whether the platform took it."""
        key = row["person"], row["assignment"]
        wanted = self._wanted(*key)
        until, pause = self._pauses.get(key, (0.0, ROUND_SECONDS))
        if wanted is None or wanted == row["sent"] or time.monotonic() < until:
            return False
        stamp = self._stamp(row, wanted)
        try:
            self._post(row, platform, wanted, stamp)
        except LtiError as error:
            self._pauses[key] = time.monotonic() + pause, min(2 * pause, LONGEST_PAUSE)
            log.warning("the score of %r in %s was not sent, and will be again: %s", *key, error)
            return False
        self._pauses.pop(key, None)
        self._note(key, "sent = ?", wanted)
        return True

    def _wanted(self, person: str, assignment: str) -> str | None:
        """Return the score to send, "points/of"; None if there is none, or the student must not see it yet."""
        due = self._site.due_dates(person).get(assignment)
        if not self._site.shows_feedback(assignment, due):
            return None
        entry = self._site.entry(person, assignment)
        return None if entry is None or entry.score is None else f"{number(entry.score)}/{number(entry.max_score)}"

    def _stamp(self, row: sqlite3.Row, wanted: str) -> str:
        """Return the time of a score: the one that it had when it was sent before without an answer, or now."""
        before, _, stamp = row["sending"].partition(" ")
        if before == wanted:
            return stamp
        stamp = text_of(now())
        self._note((row["person"], row["assignment"]), "sending = ?", f"{wanted} {stamp}")
        return stamp

    def _note(self, key: tuple[str, str], change: str, value: str) -> None:
        with self._site.store.writing() as db:
            db.execute(f"UPDATE lti_place SET {change} WHERE person = ? AND assignment = ?", (value, *key))

    def _post(self, row: sqlite3.Row, platform: Platform, wanted: str, stamp: str) -> None:
        """Send a score to its place at the platform."""
        points, most = map(float, wanted.split("/"))
        score = {
            "userId": row["subject"],
            "scoreGiven": points,
            "scoreMaximum": most,
            "timestamp": stamp,
            "activityProgress": "Completed",
            "gradingProgress": "FullyGraded",
            "comment": f"Feedback: {self._site.settings.url.rstrip('/')}/a/{row['assignment']}",
        }
        parts = urlsplit(row["lineitem"])
        address = urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/scores"))
        headers = {
            "Content-Type": "application/vnd.ims.lis.v1.score+json",
            "Authorization": f"Bearer {self._token(platform)}",
        }
        try:
            fetch(platform, Request(address, json.dumps(score).encode(), headers))
        except LtiError:
            self._tokens.pop(platform.name, None)  # the next time with a new one
            raise

    def _token(self, platform: Platform) -> str:
        """Return a token that allows to send scores; ask for a new one before it is too old."""
        until, token = self._tokens.get(platform.name, (0.0, ""))
        if time.monotonic() < until:
            return token
        key, moment = own_key(self._site.folder), int(time.time())
        claims: dict[str, Any] = {"iss": platform.client_id, "sub": platform.client_id, "aud": platform.token_url}
        claims |= {"iat": moment, "exp": moment + 60, "jti": secrets.token_urlsafe(16)}
        assertion = jwt.encode({"alg": "RS256", "kid": key.kid, "typ": "JWT"}, claims, key)
        form = {"grant_type": "client_credentials", "client_assertion_type": ASSERTION, "client_assertion": assertion}
        told = fetch(platform, Request(platform.token_url, urlencode({**form, "scope": SCOPE}).encode()))
        if not isinstance(told.get("access_token"), str):
            raise LtiError(f"{platform.name} gives no token to send scores")
        seconds = told.get("expires_in")
        lasts = seconds if isinstance(seconds, int | float) else 60
        self._tokens[platform.name] = time.monotonic() + max(0.0, lasts - 30.0), told["access_token"]
        return told["access_token"]
