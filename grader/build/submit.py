"""Submits the notebook in which it runs, and prints its points there.

The builder copies this module into the notebooks (see `self_check_archive`), so it imports only
the standard library and the cell protocol. It calls the API of the course's server, `grader
serve`, which docs/serve.md describes. `submit` raises no exception. It prints one line instead, for
students who run all cells of a notebook.
"""

import getpass
import json
import os
import re
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from grader.submission.cells import marked_exercises

PATH = "/api/submissions"
LOOK_SECONDS, MOST_SECONDS, ANSWER_SECONDS = 1.0, 1800.0, 60.0  # between two questions; for a grade; for an answer
SECRET = "COURSE_CODE"  # the name of the code in Colab's secrets, and in the environment
NAME_FILE = 'Pass the path of this notebook as the last argument: file="….ipynb"'
LONGEST = 200  # characters of what explains an exercise


class CannotSubmit(Exception):
    """The notebook cannot be sent, or the server refuses a request.

    The message gives the reason and the next step.
    """


def submit(names: Mapping[str, Any], assignment: str, server: str, file: str = "") -> None:
    """Submit this notebook, wait until it is graded, and print its points.

    Args:
        names: the notebook's globals().
        assignment: the assignment's name, such as "1-attention".
        server: the address of the course's server; "" if the course has no server.
        file: the notebook's path, if the notebook's front end does not show it.
    """
    if not server:
        print(
            f"To submit, save this notebook (Ctrl+S or ⌘S). Then upload the file {assignment}.ipynb to the page that "
            "your instructor has named."
        )
        return
    try:
        if not _is_protected(server):
            raise CannotSubmit(f"The server's address {server} does not begin with https://. Tell your instructor.")
        content = _content(names, assignment, file)
        token = _token(server)
        # A student who runs all cells has not confirmed that the notebook is ready.
        _asked(f"Submit {assignment} now? Type yes: ", wanted="yes")
        token, attempt = _send(server, token, assignment, content)
    except CannotSubmit as problem:
        print(f"✘ {problem}")
        return
    try:
        print(_result(_wait(server, token, attempt)))
    except CannotSubmit as problem:
        print(
            f"Attempt {attempt['attempt']} is submitted, but its points cannot be shown here: "
            f"{problem}\n{attempt['url']}"
        )


def _is_protected(server: str) -> bool:
    """Return True if nobody but the server can read the student's code.

    That is so if the address begins with https, or is on this machine.
    """
    parts = urlsplit(server)
    return parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")


# ---------------------------------------------------------------- which notebook this is


def _content(names: Mapping[str, Any], assignment: str, file: str) -> bytes:
    """Return the bytes of this notebook.

    In Colab these are the page's own copy. Elsewhere they are the content of the file.

    Raises:
        CannotSubmit: the file cannot be read, is not a notebook, or lacks an answer that has run.
    """
    if not file and (copy := _from_colab()) is not None:
        return copy
    path = file or names.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME") or ""
    if not str(path).endswith(".ipynb"):
        path = _asked(f"The path of this notebook, as in {assignment}.ipynb: ")
    try:
        content = Path(path).expanduser().read_bytes()
        sources = [_text(cell.get("source")) for cell in json.loads(content)["cells"]]
    except OSError as error:
        raise CannotSubmit(f"Nothing was submitted: {path} cannot be read ({error.strerror}). {NAME_FILE}") from error
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CannotSubmit(f"Nothing was submitted: {path} is not a notebook. {NAME_FILE}") from None
    if ids := _not_saved(names, sources):
        raise CannotSubmit(
            f"Nothing was submitted: the file {path} differs from the answer that you ran (exercise {', '.join(ids)}). "
            "Save the notebook (Ctrl+S or ⌘S), or run that answer as it is now. Then run this cell again."
        )
    return content


def _from_colab() -> bytes | None:
    """Return the notebook that the page shows in Colab, or None outside Colab.

    Raises:
        CannotSubmit: Colab does not return the notebook.
    """
    try:
        from google.colab import _message
    except ImportError:
        return None
    told = _message.blocking_request("get_ipynb", request="", timeout_sec=ANSWER_SECONDS)
    if not told or "ipynb" not in told:
        raise CannotSubmit(
            "Colab did not return the notebook. Try again, or download it and upload it on the submission page."
        )
    return json.dumps(told["ipynb"]).encode()


def _not_saved(names: Mapping[str, Any], saved: list[str]) -> list[str]:
    """Return the exercises whose answer last ran with a text that no saved cell contains."""
    shell = names.get("get_ipython")
    # As the student typed it: in `In`, IPython replaces lines such as `%time f(x)`.
    sources = shell().history_manager.input_hist_raw if shell else ()
    run = {id: source for source in sources for id in marked_exercises(source)}
    return [id for id, source in run.items() if source.strip() not in {text.strip() for text in saved}]


def _text(source: object) -> str:
    """Return the source of a cell as one text. nbformat may store it as a list of lines."""
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")


# ---------------------------------------------------------------- the student's code


def _token(server: str) -> str:
    """Return the student's code, or the JupyterHub token if the server accepts it.

    The code is read from the environment, from Colab's secrets or from a file that only its
    owner can read. If there is no code, the student is asked for it.
    """
    kept = _file_of_code(server)
    if code := _given_code() or (kept.read_text("utf-8") if kept.is_file() else ""):
        return code.strip()
    if (hub := _token_of_hub()) and _ask(Request(f"{server}/api")).get("hub"):
        return hub
    return _new_code(server)


def _new_code(server: str) -> str:
    """Ask the student for a code, store it in a file, and return it.

    In Colab, the file is deleted with the machine.
    """
    in_colab = f"Colab forgets it. To keep it, store it in Colab's Secrets as {SECRET}."
    lasts = in_colab if "google.colab" in sys.modules else "You need it only once."
    print(f"Open {server}, create a code under “Submit from the notebook”, and paste it here. {lasts}")
    code, kept = _asked("Your code: ", hidden=True), _file_of_code(server)
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(kept, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as opened:
        opened.write(code)
    return code


def _file_of_code(server: str) -> Path:
    return Path.home() / ".attention-course" / re.sub(r"[^\w.-]", "_", urlsplit(server).netloc)


def _token_of_hub() -> str:
    return os.environ.get("JUPYTERHUB_API_TOKEN", "")


def _given_code() -> str:
    """Return the student's code from the environment or from Colab's secrets, or "" if it is in neither."""
    if code := os.environ.get(SECRET):
        return code
    try:
        from google.colab import userdata

        return str(userdata.get(SECRET) or "")
    except Exception:  # no Colab, no such secret, or the notebook may not read it
        return ""


def _asked(question: str, *, hidden: bool = False, wanted: str = "") -> str:
    """Ask the student a question, and return the answer.

    Args:
        hidden: do not show the answer while the student types it.
        wanted: the only answer to accept; "" for any answer.

    Raises:
        CannotSubmit: the front end has no prompt, or the answer is empty or not the wanted one.
    """
    try:
        answer = (getpass.getpass if hidden else input)(question).strip()
    except Exception as error:  # each front end without a prompt has an exception of its own
        raise CannotSubmit("Nothing was submitted. Run only this cell, and answer its question.") from error
    if not answer or wanted not in ("", answer.lower()):
        raise CannotSubmit(
            f"Nothing was submitted. Run this cell again, and {f'type {wanted}' if wanted else 'answer its question'}."
        )
    return answer


# ---------------------------------------------------------------- the server's answers


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: the code must not go to another host."""

    def redirect_request(self, *arguments: Any, **named: Any) -> None:
        return None


def _send(server: str, token: str, assignment: str, content: bytes) -> tuple[str, dict[str, Any]]:
    """Send the notebook. Return the token that the server accepts, and its report on the new attempt.

    If the server refuses a JupyterHub token, the student is asked for a code.

    Raises:
        CannotSubmit: the server refuses the notebook or the code, or does not answer.
    """
    try:
        return token, _post(server, token, assignment, content)
    except _WrongToken as wrong:
        if token == _token_of_hub():
            print(f"{wrong} You can submit with a code instead.")
            return _send(server, _new_code(server), assignment, content)
        _file_of_code(server).unlink(missing_ok=True)  # the next run asks for another
        replace = f" Replace {SECRET} with it." if token == _given_code().strip() else ""
        raise CannotSubmit(f"Nothing was submitted: {wrong}{replace} Then run this cell again.") from None
    except CannotSubmit as refused:
        raise CannotSubmit(f"Nothing was submitted: {refused}") from None


def _post(server: str, token: str, assignment: str, content: bytes) -> dict[str, Any]:
    """Send the notebook, and return the server's report on the new attempt."""
    boundary = uuid.uuid4().hex
    head = f"--{boundary}\r\nContent-Disposition: form-data; name="
    body = b"".join(
        [
            f'{head}"assignment"\r\n\r\n{assignment}\r\n'.encode(),
            f'{head}"notebook"; filename="{assignment}.ipynb"\r\n'
            "Content-Type: application/x-ipynb+json\r\n\r\n".encode(),
            content,
            f"\r\n--{boundary}--\r\n".encode(),
        ]
    )
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return _ask(Request(server + PATH, body, {**_signed(token), **kind}))


def _wait(server: str, token: str, told: dict[str, Any]) -> dict[str, Any]:
    """Print the state of an attempt until it is graded, and return the server's last report.

    After MOST_SECONDS, return even if the attempt is not graded yet.
    """
    said, deadline = "", time.monotonic() + MOST_SECONDS
    while not told["is_done"] and time.monotonic() < deadline:
        if told["message"] != said:
            said = told["message"]
            print(said)
        time.sleep(LOOK_SECONDS)
        told = _ask(Request(f"{server}{PATH}/{told['id']}", headers=_signed(token)))
    return told


def _signed(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class _WrongToken(CannotSubmit):
    """The server does not accept the student's code or token."""


def _ask(request: Request) -> dict[str, Any]:
    """Send a request to the server, and return the JSON of its answer.

    Raises:
        CannotSubmit: the server refuses the request or does not answer.
    """
    try:
        with build_opener(_NoRedirect).open(request, timeout=ANSWER_SECONDS) as answer:
            return json.load(answer)
    except HTTPError as error:
        why = _refusal(error)
        if error.code in (401, 403):
            raise _WrongToken(why) from None
        raise CannotSubmit(why) from None
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise CannotSubmit(f"The course's server does not answer ({reason}). Try again in a minute.") from None


def _refusal(error: HTTPError) -> str:
    """Return the reason that the server gives for a refusal."""
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"the server answered {error.code}. Tell your instructor."


def _result(told: dict[str, Any]) -> str:
    """Return the text with the points of an attempt, and the explanation of each exercise without full points."""
    lines = [f"Attempt {told['attempt']}: {told['message']}"]
    if told["score"] is not None:
        lines[0] = f"Attempt {told['attempt']}: {told['score']:g} of {told['max_score']:g} points"
    if told["state"] == "graded" and not told["counts"]:
        lines.append("An earlier attempt counts instead of this one.")
    wrong = [one for one in told["exercises"] or () if (one["points"] or 0.0) < one["max_points"]]
    for one in wrong:
        if one["outcome"] != "MISSING":
            why = " ".join(one["message"].split())
            why = why if len(why) <= LONGEST else f"{why[: LONGEST - 1]}…"
            lines.append(f"✘ {one['id']} {one['title']}, {one['points'] or 0:g} of {one['max_points']:g} points: {why}")
    if unsolved := [one["id"] for one in wrong if one["outcome"] == "MISSING"]:
        lines.append(f"☐ not solved yet: {', '.join(unsolved)}")
    return "\n".join([*lines, told["url"]])
