"""Asks learning platforms who takes the course: LTI's names and roles, for the gradebook."""

import logging
from collections.abc import Iterator
from datetime import timedelta

from grader.classes.gradebook.writer import add_students
from grader.records import Student
from grader.serve.lti_calls import LtiError
from grader.serve.lti_people import student_of
from grader.serve.lti_services import MEMBERS, Services
from grader.serve.settings import Platform
from grader.serve.site import Site
from grader.serve.store import now, text_of

log = logging.getLogger("grader.serve")

ROSTER_HOURS = 6  # between two looks at a roster; an instructor who comes from the platform has a new one at once
MEMBERSHIPS = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"  # some platforms accept no other words


def take_rosters(site: Site, services: Services) -> None:
    """Add the students whom platforms list to the gradebook: the class page lists them before they come."""
    old = text_of(now() - timedelta(hours=ROSTER_HOURS))
    for row in site.store.rows("SELECT * FROM lti_roster WHERE fetched < ?", old):
        if platform := site.settings.lti.get(row["platform"]):
            try:
                students = list(_students(services, platform, row["url"]))
                add_students(site.gradebook, site.course, students)
                log.info("%s has %d students", row["platform"], len(students))
            except LtiError as error:
                log.warning("the roster of %s was not read: %s", row["platform"], error.reason or error)
        site.store.change("UPDATE lti_roster SET fetched = ? WHERE url = ?", text_of(now()), row["url"])


def _students(services: Services, platform: Platform, url: str) -> Iterator[Student]:
    """Yield those who take a course, from all pages of its roster."""
    for page in services.pages(platform, MEMBERS, url, MEMBERSHIPS):
        members = page.get("members")
        for member in members if isinstance(members, list) else ():
            if student := student_of(platform, member):
                yield student
