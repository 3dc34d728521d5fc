"""`grader roster --links`, `--platform`, …: personal links, and what a platform needs to know."""

from pathlib import Path

from grader.commands.console import Terminal
from grader.commands.options import RosterOptions
from grader.complaint import Complaint
from grader.paths import write_atomically
from grader.report.services.csv_table import table
from grader.serve.lti_register import REGISTER, configuration, entry_name
from grader.serve.platforms import PRESETS, to_enter
from grader.serve.settings import FILE, add_platform, is_protected, origin
from grader.serve.sign_in import (
    INSTRUCTOR,
    LINK_PATH,
    NOTEBOOK_ROLE,
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
        if address in PRESETS:
            _add_platform(site, address, options, terminal)
        elif is_protected(address):
            terminal.say(_registration(site, origin(address)))
        else:
            known = ", ".join(PRESETS)
            raise Complaint(
                f"{address!r} is no address of a platform, as in https://moodle.example.org, and none of {known}"
            )
    if options.links is not None:
        _write(site, options.links, terminal)


def _add_platform(site: Site, name: str, options: RosterOptions, terminal: Terminal) -> None:
    """Print what to enter on a platform, field by field.

    Once the client id is known, write the platform into serve.toml.
    """
    preset, url, school = PRESETS[name], site.settings.url, (options.school or "").rstrip("/")
    if not is_protected(school):
        raise Complaint(f"--platform {name} needs --school, the address of your {preset.title}, as in https://…")
    terminal.say(to_enter(name, url))
    if text := configuration(name, url):
        terminal.say(f"Or paste this in place of the address of the file:\n{text}")
    if options.client_id is None:
        if preset.registers:
            link = _registration(site, f"{name} {school}")
            terminal.say(f"Or enter nothing, and let {preset.title} register this server by the address\n  {link}")
        terminal.say(
            "Then call this again with --client-id, and with --deployment and --tool where you are asked for them."
        )
        return
    values = {"platform": name, "school": school, "client_id": options.client_id}
    values |= {"tool": options.tool} if options.tool else {}
    deployments = options.deployment or list(preset.deployments)
    if not deployments:
        raise Complaint(
            f"{preset.title} has one client for several schools: name yours with --deployment. {preset.shows}"
        )
    if options.tool is None and "{tool}" in preset.token_url:
        raise Complaint(f"the address for tokens contains the number of the tool: name it with --tool. {preset.shows}")
    add_platform(site.root, entry_name(school), {**values, "deployments": deployments})
    terminal.say(f"wrote [lti.{entry_name(school)}] to {site.root / FILE}")


def _registration(site: Site, platform: str) -> str:
    """Return the address by which a platform registers this server. It is a secret."""
    (token,) = links_for(site.store, site.key, [platform], PLATFORM_ROLE, PLATFORM_DAYS).values()
    return f"{site.settings.url}{REGISTER}{token}"


def _revoke(site: Site, person: str) -> str:
    """Revoke a person's links, end all of the person's sessions, and return what was done."""
    links = sum(revoke(site.store, person, role) for role in (STUDENT, INSTRUCTOR, NOTEBOOK_ROLE))
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
