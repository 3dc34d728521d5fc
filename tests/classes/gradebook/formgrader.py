"""formgrader itself, in a Jupyter server, and what its pages send to it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.classes.gradebook.small_course import NAME, SmallCourse

TOKEN = "test"
SETTINGS = f"""
c = get_config()
c.ServerApp.jpserver_extensions = {{
    "nbgrader.server_extensions.formgrader": True,
    **dict.fromkeys(["jupyter_lsp", "jupyterlab", "notebook_shim", "jupyter_server_terminals"], False),
}}
c.ServerApp.allow_root = True
c.ServerApp.disable_check_xsrf = True
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.open_browser = False
c.ServerApp.port = 0
c.IdentityProvider.token = {TOKEN!r}
"""
PATIENCE = 300  # seconds, for what hangs alone: a busy machine takes long


@dataclass(frozen=True)
class Formgrader:
    """A person at formgrader."""

    address: str
    _shown: dict[str, str] = field(default_factory=dict)  # student → id of their notebook, once listed

    def mark(self, student: str, cell: str, *, manual: float | None, extra: float | None = None) -> None:
        """Type a score and extra credit into a cell's fields: the page sends both."""
        row = self._row("grades", student, cell)
        self._send("PUT", f"grade/{row['id']}", {**row, "manual_score": manual, "extra_credit": extra})

    def comment(self, student: str, cell: str, text: str) -> None:
        """Write a comment below an answer."""
        row = self._row("comments", student, cell)
        self._send("PUT", f"comment/{row['id']}", {**row, "manual_comment": text})

    def name(self, student: str, *, first: str, last: str, email: str) -> None:
        """Fill in the page of a student."""
        self._send("PUT", f"student/{student}", {"first_name": first, "last_name": last, "email": email})

    def due(self, moment: str) -> None:
        """Set the assignment's due date, UTC."""
        body = {"duedate_notimezone": moment, "duedate_timezone": "UTC"}
        self._send("PUT", f"assignment/{NAME}", body)

    def generate_feedback(self) -> None:
        """Press "generate feedback" of the assignment."""
        said = self._send("POST", f"assignment/{NAME}/generate_feedback", {})
        assert said["success"], said

    def submission(self, student: str) -> str:
        """Open the page on which a submission is graded by hand; return its HTML."""
        request = urllib.request.Request(
            f"{self.address}formgrader/submissions/{self._notebook(student)}/",
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read().decode("utf-8")

    def needs_manual_grade(self, student: str, cell: str) -> bool:
        """Tell whether a cell is marked for a person to look at."""
        return bool(self._row("grades", student, cell)["needs_manual_grade"])

    def _row(self, kind: str, student: str, cell: str) -> dict[str, Any]:
        """Ask for a row of grades or comments, as the page does that shows a submission."""
        rows = self._send("GET", f"{kind}?submission_id={self._notebook(student)}")
        return next(row for row in rows if row["name"] == cell)

    def _notebook(self, student: str) -> str:
        """Return the id of a student's notebook, as the list of submissions has it."""
        if student not in self._shown:
            listed = self._send("GET", f"submitted_notebooks/{NAME}/{NAME}")
            self._shown.update({one["student"]: one["id"] for one in listed})
        return self._shown[student]

    def _send(self, method: str, path: str, body: dict | None = None) -> Any:
        request = urllib.request.Request(
            f"{self.address}formgrader/api/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)


@contextmanager
def formgrader(course: SmallCourse, folder: Path) -> Iterator[Formgrader]:
    """Start formgrader on a course; its own files go into `folder`."""
    folder.mkdir()
    (folder / "jupyter_server_config.py").write_text(SETTINGS)
    places = {f"JUPYTER_{kind}_DIR": str(folder) for kind in ("CONFIG", "DATA", "RUNTIME")}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyter", "server"],
            cwd=course.root,
            env={**course.environment, **places, "HOME": str(folder)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Formgrader(_address(folder, server))
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _address(folder: Path, server: subprocess.Popen) -> str:
    """Wait until the server answers; return where."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        for file in folder.glob("jpserver-*.json"):
            try:
                address = json.loads(file.read_text())["url"]
                urllib.request.urlopen(f"{address}api/status?token={TOKEN}", timeout=5).close()
            except (OSError, ValueError):
                continue
            return address
        time.sleep(0.1)
    raise AssertionError(f"formgrader did not start:\n{(folder / 'log').read_text()}")
