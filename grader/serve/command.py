"""`grader serve`: starts the web server, and beside it the process that grades; starts that again if it dies."""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict

import uvicorn

from grader.commands.console import Terminal
from grader.commands.options import ServeOptions
from grader.secret import course_secret
from grader.serve.app import make_app
from grader.serve.lti_scores import Sender
from grader.serve.settings import FILE, SettingsError
from grader.serve.site import open_site

PAUSE_SECONDS, LONGEST_PAUSE = 1.0, 60.0  # before the grading process is started again, doubled each time
LIVED_SECONDS = 60.0  # after which a death counts as the first one
CONNECTIONS = 1000


def run(options: ServeOptions, terminal: Terminal) -> None:
    """Serve until the process is told to end."""
    site = open_site(options.root, options.gradebook)
    course_secret(options.root)
    settings = site.settings
    try:
        listening = socket.create_server((settings.host, settings.port))
    except OSError as error:
        message = f"the server cannot listen: {error.strerror}. Set another host or port in {FILE}."
        raise SettingsError(message) from error
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    config = uvicorn.Config(
        make_app(site),
        access_log=False,  # it would hold personal links; the guard writes a log without them
        log_level="warning",
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=3,
    )
    server = uvicorn.Server(config)
    told = json.dumps(asdict(options), default=str)
    grading = Kept([sys.executable, "-m", "grader.serve.grading"], told, terminal.complain)
    terminal.say(f"hand in at {settings.url}")
    Sender(site).start()
    try:
        server.run(sockets=[listening])
    finally:
        grading.end()


class Kept:
    """A process that is started again when it dies. It ends with this one, since its standard input ends."""

    def __init__(self, command: list[str], told: str, say: Callable[[str], None]) -> None:
        """Start the process, and tell it a line."""
        self._command, self._told, self._say = command, told, say
        self._ending, self._lock = threading.Event(), threading.Lock()
        self._process = self._start()
        threading.Thread(target=self._watch, daemon=True).start()

    def _start(self) -> subprocess.Popen[str]:
        # A session of its own: Ctrl-C is for the web server, which then ends this one.
        process = subprocess.Popen(self._command, stdin=subprocess.PIPE, text=True, start_new_session=True)
        with suppress(BrokenPipeError):  # it died at once; the watcher sees it
            print(self._told, file=process.stdin, flush=True)
        return process

    def _watch(self) -> None:
        pause, began = PAUSE_SECONDS, time.monotonic()
        while True:
            status = self._process.wait()
            pause = PAUSE_SECONDS if time.monotonic() - began > LIVED_SECONDS else min(2 * pause, LONGEST_PAUSE)
            if not self._ending.is_set():
                then = f"it starts again in {pause:.0f} s, and nothing is lost"
                self._say(f"the grading process ended (status {status}); {then}")
            if self._ending.wait(pause):
                return
            with self._lock:
                if not self._ending.is_set():
                    self._process.communicate()  # closes what is left of its input
                    began, self._process = time.monotonic(), self._start()

    def end(self) -> None:
        """End the process: what it was grading stays in the queue."""
        with self._lock:
            self._ending.set()
        try:
            self._process.communicate(timeout=5)  # its input ends
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
