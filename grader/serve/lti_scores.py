"""Sends scores to learning platforms with LTI's assignment and grade service.

It sends the gradebook's score as soon as the student may see the score. Before it sends a score, it
stores the score with its time. If the server is killed before the answer arrives, it sends the same
score with the same time again, and the platform counts both as one. If the platform refuses that
time, it sends the score with a new time. After a final refusal, it sends a score again only if the
score changes, the student opens the task, or an instructor asks for it.

A place is a row of the table `lti_place`: where a platform wants the score of one student at one
assignment. An item is the platform's column for the scores of an assignment.
"""

import json
import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from grader.course import max_score
from grader.records import GradebookEntry
from grader.report.text import number
from grader.serve import attempts
from grader.serve.lti_calls import LtiError
from grader.serve.lti_people import text_of_id
from grader.serve.lti_services import LINE_ITEM, SCORE, Services, take_rosters
from grader.serve.settings import Platform
from grader.serve.site import Site
from grader.serve.store import now

log = logging.getLogger("grader.serve")

ROUND_SECONDS, LONGEST_PAUSE = 5.0, 600.0
OWN = "WHERE person = ? AND assignment = ?"
SCORES = "application/vnd.ims.lis.v1.score+json"
ITEM, ITEMS = "application/vnd.ims.lis.v2.lineitem+json", "application/vnd.ims.lis.v2.lineitemcontainer+json"


def unsent(site: Site, entries: Iterable[GradebookEntry]) -> Iterator[tuple[sqlite3.Row, str]]:
    """Yield each place whose platform lacks the score that its student may see, with the score.

    The score is a text "points/maximum".
    """
    scores = {(one.student.id, one.assignment): one for one in entries}
    for row in site.store.rows("SELECT * FROM lti_place ORDER BY rowid"):
        entry = scores.get((row["person"], row["assignment"]))
        if entry is None or entry.score is None or row["platform"] not in site.settings.lti:
            continue
        wanted = f"{number(entry.score)}/{number(entry.max_score)}"
        if wanted != row["sent"] and site.shows_feedback(row["assignment"], row["person"]):
            yield row, wanted


def without_place(site: Site, entries: Iterable[GradebookEntry]) -> list[tuple[str, str]]:
    """Return the students and assignments with a score that no platform gets, because they have no place.

    A student who arrived through a link without an assignment, such as the menu of a course, has no
    place. The list is empty if serve.toml names no platform.
    """
    places = {(row["person"], row["assignment"]) for row in site.store.rows("SELECT person, assignment FROM lti_place")}
    scored = {(one.student.id, one.assignment) for one in entries if one.score is not None}
    return sorted(scored - places) if site.settings.lti else []


class Sender:
    """Sends the scores that platforms lack, round after round, until the process ends."""

    def __init__(self, site: Site) -> None:
        self._site, self._services = site, Services(site.folder)
        self._pauses: dict[tuple[str, str], tuple[float, float]] = {}  # person and assignment → until when, how long
        self._quiet: dict[str, float] = {}  # platform that wants to be left alone → until when

    def run(self) -> None:
        """Read rosters and send scores, round after round, until the process ends."""
        while True:
            for step in (self.take_rosters, self.send_all):
                try:
                    step()
                except Exception as error:  # whatever a platform answers: this thread must not end
                    log.warning("%s: %s: %s", step.__name__, type(error).__name__, error)
            time.sleep(ROUND_SECONDS)

    def take_rosters(self) -> None:
        """Add the students in the platforms' rosters to the gradebook."""
        take_rosters(self._site, self._services)

    def send_all(self) -> int:
        """Send each score that its platform lacks. Return the number of scores that platforms accepted."""
        due = list(unsent(self._site, self._site.entries()))
        return sum(self._send(row, self._site.settings.lti[row["platform"]], wanted) for row, wanted in due)

    def _send(self, row: sqlite3.Row, platform: Platform, wanted: str) -> bool:
        """Send one score, and return True if the platform accepted it.

        Do not send it, and return False, if the platform refused it or failed a short while ago.
        """
        key, moment = (row["person"], row["assignment"]), time.monotonic()
        until = max(self._pauses.get(key, (0.0, 0.0))[0], self._quiet.get(row["platform"], 0.0))
        if moment < until or row["refused"] == wanted:
            return False
        attempt = attempts.counting(self._site.store, *key)
        received = attempt.received if attempt else ""
        try:
            stamp = self._stamp(row, wanted)
            self._post(row, platform, wanted, stamp, received)
        except LtiError as error:
            self._note(row, wanted, error)
            return False
        self._pauses.pop(key, None)
        self._change(row, sent=wanted, attempt=received, refused="", problem="")
        return True

    def _note(self, row: sqlite3.Row, wanted: str, error: LtiError) -> None:
        """Record why a score was not sent, and when to try again.

        If the platform refuses a score that it may have received before, record nothing but that, so
        that the next attempt sends the score with a new time.
        """
        key = row["person"], row["assignment"]
        sent_before = row["sending"].startswith(f"{wanted} ")
        if error.is_final and sent_before:
            # The platform may have received the score before, and refuses a second one with the same time.
            self._change(row, sending="")
            return
        self._change(row, problem=error.reason or str(error), refused=wanted if error.is_final else "")
        if error.wait:
            self._quiet[row["platform"]] = time.monotonic() + error.wait
        pause = self._pauses.get(key, (0.0, ROUND_SECONDS))[1]
        self._pauses[key] = time.monotonic() + pause, min(2 * pause, LONGEST_PAUSE)
        then = "will not be: the platform refuses it" if error.is_final else "will be again"
        log.warning("the score of %r in %s was not sent, and %s: %s", *key, then, error.reason or error)

    def _change(self, row: sqlite3.Row, **values: str) -> None:
        """Change the stored values of a place."""
        columns = ", ".join(f"{name} = ?" for name in values)
        self._site.store.change(
            f"UPDATE lti_place SET {columns} {OWN}", *values.values(), row["person"], row["assignment"]
        )

    def _stamp(self, row: sqlite3.Row, wanted: str) -> str:
        """Return the time to send with a score.

        If the score was sent before and no answer arrived, this is its earlier time; otherwise it
        is now.
        """
        before, _, stamp = row["sending"].partition(" ")
        if before == wanted:
            return stamp
        stamp = in_milliseconds(now())
        self._change(row, sending=f"{wanted} {stamp}")
        return stamp

    def _post(self, row: sqlite3.Row, platform: Platform, wanted: str, stamp: str, received: str) -> None:
        """Send a score to the platform's item for its place."""
        item = row["lineitem"] or self._item(row, platform)
        score = score_of(row, platform, wanted, self._site.settings.url, received) | {"timestamp": stamp}
        if not platform.preset.scales:
            told, _ = self._services.ask(platform, LINE_ITEM, item, ITEM)
            score |= scaled(score["scoreGiven"], score["scoreMaximum"], told.get("scoreMaximum"))
        parts = urlsplit(item)
        address = urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/scores"))
        self._services.ask(platform, SCORE, address, SCORES, json.dumps(score).encode())

    def _item(self, row: sqlite3.Row, platform: Platform) -> str:
        """Return the address of the platform's item for an assignment, if no launch has named it.

        Look for an item of the assignment on the platform first, and create one if the platform has no such item.
        """
        name, link = row["assignment"], row["link"]
        place, own = (
            "platform = ? AND items = ? AND link = ? AND assignment = ?",
            (row["platform"], row["items"], link, name),
        )
        for other in self._site.store.rows(f"SELECT lineitem FROM lti_place WHERE {place} AND lineitem != ''", *own):
            return other["lineitem"]
        about = {"resource_link_id": link} if link else {"tag": name}
        mark = "&" if "?" in row["items"] else "?"
        pages = self._services.pages(platform, LINE_ITEM, f"{row['items']}{mark}{urlencode(about)}", ITEMS, kind=list)
        found = next((item["id"] for page in pages for item in page if _is_for(item, name, link)), None)
        if found is None:
            new = {"label": name, "scoreMaximum": whole(max_score(name)), "resourceId": name, "tag": name}
            new |= {"resourceLinkId": link} if link else {}
            told, _ = self._services.ask(platform, LINE_ITEM, row["items"], ITEM, json.dumps(new).encode())
            found = told.get("id")
        if not isinstance(found, str) or not platform.may_fetch(found):
            raise LtiError(f"{platform.issuer} did not name one of its gradebook columns for {name}: {found!r}")
        self._change(row, lineitem=found)
        return found


def score_of(row: sqlite3.Row, platform: Platform, wanted: str, url: str, received: str) -> dict[str, Any]:
    """Return the JSON that a platform gets about a score, except its time.

    Args:
        row: the place of the score.
        wanted: the score as "points/maximum".
        url: this server's address.
        received: the UTC time at which the attempt was submitted, or "" if it is not known.
    """
    points, most = wanted.split("/")
    score: dict[str, Any] = {"userId": row["subject"], "scoreGiven": whole(points), "scoreMaximum": whole(most)}
    score |= {"activityProgress": "Completed", "gradingProgress": "FullyGraded"}
    score["comment"] = f"Feedback: {url}/a/{row['assignment']}"
    if received and platform.preset.takes_submission:
        score["submission"] = {"submittedAt": in_milliseconds(datetime.fromisoformat(received))}
    if extension := platform.preset.submission_extension:
        page = f"{url}/class/feedback/{quote(row['person'], safe='')}/{row['assignment']}"  # opened beside the score
        new = {"new_submission": True, "submission_type": "online_url", "submission_data": page}
        score[extension] = {"new_submission": False} if row["sent"] and received == row["attempt"] else new
    return score


def scaled(given: float, most: float, wanted: Any) -> dict[str, float]:
    """Return a score converted to the maximum of a platform's item, as the values to send.

    Args:
        given: the points of the score.
        most: the maximum of the score.
        wanted: the item's maximum. If it is not a positive number, return no values.
    """
    is_maximum = isinstance(wanted, int | float) and not isinstance(wanted, bool) and wanted > 0
    return {"scoreGiven": given * wanted / most, "scoreMaximum": wanted} if is_maximum and most else {}


def whole(value: str | float) -> float:
    """Return a number, as an `int` if it is an integer, because some platforms accept no 10.0 as a maximum."""
    amount = float(value)
    return int(amount) if amount.is_integer() else amount


def in_milliseconds(moment: datetime) -> str:
    """Return a UTC time as text with three decimal places of a second.

    Some platforms read further digits as milliseconds, too.
    """
    return moment.isoformat(timespec="milliseconds")


def _is_for(item: object, assignment: str, link: str) -> bool:
    """Return True if a platform's item belongs to an assignment, at a link in a course.

    Args:
        link: the id of the link, or "" if the launch named no link.
    """
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return False
    if not link:
        return item.get("tag") == assignment
    is_ours = all(item.get(key) in (assignment, None, "") for key in ("tag", "resourceId"))
    return is_ours and text_of_id(item.get("resourceLinkId")) == link
