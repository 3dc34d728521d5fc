"""`grader roster --links`: writes each student's personal link, and revokes links."""

from pathlib import Path

from grader.commands.console import Terminal
from grader.commands.options import RosterOptions
from grader.complaint import Complaint
from grader.paths import write_atomically
from grader.report.services.csv_table import table
from grader.serve.lti import REGISTER
from grader.serve.settings import is_protected, origin
from grader.serve.sign_in import (
    INSTRUCTOR,
    LINK_PATH,
    PLATFORM_ROLE,
    STUDENT,
    can_sign_in,
    end_sessions,
    links_for,
    revoke,
)
from grader.serve.site import Site, open_site

PLATFORM_DAYS = 1  # how long a link to register a platform works


def run(options: RosterOptions, terminal: Terminal) -> None:
    """Revoke the links of some people, print those of others, then write those of all students."""
    site = open_site(options.root, options.gradebook)
    for person in options.revoke or ():
        terminal.say(_revoke(site, person))
    for person in options.instructor or ():
        (token,) = links_for(site.store, site.key, [person], INSTRUCTOR, site.settings.link_days).values()
        terminal.say(f"{person}: {site.settings.url}{LINK_PATH}{token}")
    for address in options.platform or ():
        if not is_protected(address):
            raise Complaint(f"{address!r} is no address of a platform, as in https://moodle.example.org")
        (token,) = links_for(site.store, site.key, [origin(address)], PLATFORM_ROLE, PLATFORM_DAYS).values()
        terminal.say(f"{site.settings.url}{REGISTER}{token}")
    if options.links is not None:
        _write(site, options.links, terminal)


def _revoke(site: Site, person: str) -> str:
    """Revoke a person's links, end all of the person's sessions, and return what was done."""
    links = revoke(site.store, person) + revoke(site.store, person, INSTRUCTOR)
    sessions = end_sessions(site.store, person)
    if links:
        return f"the link of {person} works no more, and whoever used it is signed out"
    if sessions:
        advice = "Whoever comes from a platform or JupyterHub can sign in again until you remove the person there."
        return f"{person} is signed out. {advice}"
    raise Complaint(f"{person!r} has no link that works, and is not signed in")


def _write(site: Site, to: Path, terminal: Terminal) -> None:
    """Write the links of all students of the gradebook, for its owner alone to read."""
    students = site.students()
    usable = [one for one in students.values() if can_sign_in(one.id)]
    if not usable:
        raise Complaint("no student is known yet. Take them from your platform's list first: grader roster FILE")
    for id in students.keys() - {one.id for one in usable}:
        terminal.complain(f"{id!r} gets no link: the name cannot be a folder that grading finds")
    own = links_for(site.store, site.key, [one.id for one in usable], STUDENT, site.settings.link_days)
    address = f"{site.settings.url}{LINK_PATH}"
    rows = [(one.id, one.first_name, one.last_name, one.email, address + own[one.id]) for one in usable]
    text = table([("student", "first name", "last name", "email", "link"), *rows])
    write_atomically(to, text, mode=0o600)
    terminal.say(f"wrote {len(usable)} links to {to}: send each student the own one, and no other")
