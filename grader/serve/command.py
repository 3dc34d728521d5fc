"""`grader serve`: starts the web server, and beside it the process that grades; starts that again if it dies."""

import json
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict

import uvicorn

from grader.commands.console import Terminal
from grader.commands.options import ServeOptions
from grader.secret import course_secret
from grader.serve.app import make_app
from grader.serve.log import OneLine
from grader.serve.lti_scores import Sender
from grader.serve.settings import FILE, SettingsError
from grader.serve.site import open_site

LOOK_SECONDS, PAUSE_SECONDS = 0.2, 5.0  # between two looks at the grading process; before it is started again
END_SECONDS = 5.0  # for it to end by itself
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
    terminal.say(f"hand in at {settings.url}")
    threading.Thread(target=Sender(site).run, daemon=True).start()
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        grading.end()


class RestartedProcess:
    """A process that is started again when it dies. It ends with this one, since its standard input ends."""

    def __init__(self, command: list[str], told: str, say: Callable[[str], None]) -> None:
        """Start the process, and tell it a line."""
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
        """End the process: what it was grading stays in the queue."""
        self._ending.set()
        self._keeper.join()
