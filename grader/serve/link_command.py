"""`grader roster --links`: writes each student's personal link, and revokes links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.commands.console import Terminal
from grader.paths import write_atomically
from grader.report.services.csv_table import table
from grader.serve.lti import REGISTER
from grader.serve.settings import is_protected, origin
from grader.serve.sign_in import INSTRUCTOR, LINK_PATH, PLATFORM_ROLE, STUDENT, can_sign_in, links_for, revoke
from grader.serve.site import CANNOT_OPEN, Site, open_site

WRONG_USE = 2
PLATFORM_DAYS = 1  # how long a link to register a platform works


def run(
    root: Path,
    gradebook: str | None,
    terminal: Terminal,
    *,
    to: Path | None,
    instructors: Sequence[str],
    platforms: Sequence[str],
    revoked: Sequence[str],
) -> int:
    """Revoke the links of some people, then write those of all students; return the exit status.

    Args:
        to: the CSV to write; None for none.
        instructors: names for whom a link to the page of the class is printed.
        platforms: addresses for which a link is printed that registers this server there.
        revoked: people whose links work no more.
    """
    try:
        site = open_site(root, gradebook)
        for person in revoked:
            if not revoke(site.store, person) + revoke(site.store, person, INSTRUCTOR):
                terminal.complain(f"{person!r} has no link that works")
                return WRONG_USE
            terminal.say(f"the link of {person} works no more, and whoever used it is signed out")
        for person in instructors:
            (token,) = links_for(site.store, site.key, [person], INSTRUCTOR, site.settings.link_days).values()
            terminal.say(f"{person}: {site.settings.url}{LINK_PATH}{token}")
        for address in platforms:
            if not is_protected(address):
                terminal.complain(f"{address!r} is no address of a platform, as in https://moodle.example.org")
                return WRONG_USE
            (token,) = links_for(site.store, site.key, [origin(address)], PLATFORM_ROLE, PLATFORM_DAYS).values()
            terminal.say(f"{site.settings.url}{REGISTER}{token}")
        return _write(site, to, terminal) if to is not None else 0
    except CANNOT_OPEN as error:
        terminal.complain(error)
        return WRONG_USE


def _write(site: Site, to: Path, terminal: Terminal) -> int:
    """Write the links of all students of the gradebook, for its owner alone to read."""
    students = site.students()
    usable = [one for one in students.values() if can_sign_in(one.id)]
    if not usable:
        terminal.complain("no student is known yet. Take them from your platform's list first: grader roster FILE")
        return WRONG_USE
    for id in students.keys() - {one.id for one in usable}:
        terminal.complain(f"{id!r} gets no link: the name cannot be a folder that grading finds")
    own = links_for(site.store, site.key, [one.id for one in usable], STUDENT, site.settings.link_days)
    address = f"{site.settings.url}{LINK_PATH}"
    rows = [(one.id, one.first_name, one.last_name, one.email, address + own[one.id]) for one in usable]
    text = table([("student", "first name", "last name", "email", "link"), *rows])
    write_atomically(to, text, mode=0o600)
    terminal.say(f"wrote {len(usable)} links to {to}: send each student the own one, and no other")
    return 0
