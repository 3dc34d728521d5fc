"""Runs the server's commands: `grader serve`, and the part of `grader roster` for links and platforms.

`grader serve` starts the web server and the process that grades, and restarts that process if it
dies. `grader roster` prints personal links, and the values that a platform needs.
"""

import json
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import uvicorn

from grader.commands.console import Terminal
from grader.commands.options import RosterOptions, ServeOptions
from grader.complaint import Complaint
from grader.paths import write_atomically
from grader.report.services.csv_table import table
from grader.secret import course_secret
from grader.serve.app import make_app
from grader.serve.log import OneLine
from grader.serve.lti_register import REGISTER, configuration, entry_name
from grader.serve.lti_scores import Sender
from grader.serve.platforms import PRESETS, to_enter
from grader.serve.settings import FILE, SettingsError, add_platform, is_protected, origin
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

LOOK_SECONDS, PAUSE_SECONDS = 0.2, 5.0  # between two looks at the grading process; before it is started again
END_SECONDS = 5.0  # for it to end by itself
CONNECTIONS = 1000


def run(options: ServeOptions, terminal: Terminal) -> None:
    """Run the web server and the grading process until a signal ends this process."""
    site = open_site(options.root, options.gradebook)
    course_secret(options.root)
    settings = site.settings
    try:
        listening = socket.create_server((settings.host, settings.port))
    except OSError as error:
        message = f"the server cannot listen: {error.strerror}. Set another host or port in {FILE}."
        raise SettingsError(message) from error
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine("%(asctime)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    config = uvicorn.Config(
        make_app(site),
        log_config=None,  # its messages go through the handler above, too
        access_log=False,  # it would hold personal links; the guard writes a log without them
        log_level="warning",
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=3,
    )
    told = json.dumps(asdict(options), default=str)
    grading = RestartedProcess([sys.executable, "-m", "grader.serve.grading"], told, terminal.complain)
    terminal.say(f"the submission page is at {settings.url}")
    threading.Thread(target=Sender(site).run, daemon=True).start()
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        grading.end()


class RestartedProcess:
    """A process that is restarted when it dies. It ends with this process, which closes its standard input."""

    def __init__(self, command: list[str], told: str, say: Callable[[str], None]) -> None:
        """Start the process and write the line `told` to its standard input."""
        self._command, self._told, self._say = command, told, say
        self._ending = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def _keep(self) -> None:
        while not self._ending.is_set():
            # A session of its own: Ctrl-C is for the web server, which then ends this one.
            process = subprocess.Popen(self._command, stdin=subprocess.PIPE, text=True, start_new_session=True)
            with suppress(BrokenPipeError), process as self._process:  # it may die before it has read the line
                print(self._told, file=process.stdin, flush=True)
                while process.poll() is None and not self._ending.wait(LOOK_SECONDS):
                    pass
                if self._ending.is_set():
                    with suppress(subprocess.TimeoutExpired):
                        process.communicate(timeout=END_SECONDS)  # its input ends
                    process.kill()  # if it has not ended by itself
                    return
            then = f"it starts again in {PAUSE_SECONDS:.0f} s, and nothing is lost"
            self._say(f"the grading process ended (status {process.returncode}); {then}")
            self._ending.wait(PAUSE_SECONDS)

    def end(self) -> None:
        """End the process. The attempts that it was grading stay in the queue."""
        self._ending.set()
        self._keeper.join()


PLATFORM_DAYS = 1  # how long a link to register a platform works


def run_links(options: RosterOptions, terminal: Terminal) -> None:
    """Revoke links, print links of instructors and values for platforms, then write the links of all students."""
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
                f"{address!r} is neither the address of a platform (https://moodle.example.org) nor one of {known}"
            )
    if options.links is not None:
        _write(site, options.links, terminal)


def _add_platform(site: Site, name: str, options: RosterOptions, terminal: Terminal) -> None:
    """Print the value of each field that a person fills in to register this server on a platform.

    If the options contain the client id, also write the platform into serve.toml.
    """
    preset, url, school = PRESETS[name], site.settings.url, (options.school or "").rstrip("/")
    if not is_protected(school):
        raise Complaint(f"--platform {name} needs --school, the address of your {preset.title}, such as https://…")
    terminal.say(to_enter(name, url))
    if text := configuration(name, url):
        terminal.say(f"Or paste this text instead of the address of the file:\n{text}")
    if options.client_id is None:
        terminal.say(
            "Then run this command again with --client-id, and with --deployment and --tool if they are required."
        )
        if preset.registers:
            link = _registration(site, f"{name} {school}")
            terminal.say(
                f"Or enter nothing, and let {preset.title} register this server by itself, with this address:\n"
                f"  {link}\nThe address works once, within a day. serve.toml then contains the platform."
            )
        return
    values = {"platform": name, "school": school, "client_id": options.client_id}
    values |= {"tool": options.tool} if options.tool else {}
    deployments = options.deployment or list(preset.deployments)
    if not deployments:
        raise Complaint(
            f"{preset.title} has one client for several schools. Pass your school's --deployment. {preset.shows}"
        )
    if options.tool is None and "{tool}" in preset.token_url:
        raise Complaint(
            f"the address for tokens contains the number of the tool. Pass this number with --tool. {preset.shows}"
        )
    add_platform(site.root, entry_name(school), {**values, "deployments": deployments})
    terminal.say(f"wrote [lti.{entry_name(school)}] to {site.root / FILE}")


def _registration(site: Site, platform: str) -> str:
    """Return a new address through which a platform can register this server. The address is a secret."""
    (token,) = links_for(site.store, site.key, [platform], PLATFORM_ROLE, PLATFORM_DAYS).values()
    return f"{site.settings.url}{REGISTER}{token}"


def _revoke(site: Site, person: str) -> str:
    """Revoke a person's links and end the person's sessions. Return a message that reports both.

    Raises:
        Complaint: the person has no valid link and is not signed in.
    """
    links = sum(revoke(site.store, person, role) for role in (STUDENT, INSTRUCTOR, NOTEBOOK_ROLE))
    sessions = end_sessions(site.store, person)
    if links:
        return f"the link of {person} no longer works, and everybody who used it is signed out"
    if sessions:
        advice = "A person who comes from a platform or JupyterHub can sign in again until you remove the person there."
        return f"{person} is signed out. {advice}"
    raise Complaint(f"{person!r} has no valid link and is not signed in")


def _write(site: Site, to: Path, terminal: Terminal) -> None:
    """Write the links of all students in the gradebook into a file that only its owner can read."""
    students = site.students()
    usable = [one for one in students.values() if can_sign_in(one.id)]
    if not usable:
        raise Complaint(
            "the gradebook contains no students. Add them from your platform's list first: grader roster FILE. Without "
            "a platform: nbgrader db student import FILE, a CSV file with the columns id, first_name, last_name, email"
        )
    for id in students.keys() - {one.id for one in usable}:
        terminal.complain(f"{id!r} gets no link, because this name cannot be used as a folder")
    own = links_for(site.store, site.key, [one.id for one in usable], STUDENT, site.settings.link_days)
    address = f"{site.settings.url}{LINK_PATH}"
    rows = [(one.id, one.first_name, one.last_name, one.email, address + own[one.id]) for one in usable]
    text = table([("student", "first name", "last name", "email", "link"), *rows])
    write_atomically(to, text, mode=0o600)
    terminal.say(f"wrote {len(usable)} links to {to}. Send each student only their own link.")
