"""More attacks: who takes the places of others, who reads an address that is a secret, and what is no number, name or text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from starlette.types import ASGIApp, Message

from grader.serve import guard, shares, web
from grader.serve.app import make_app
from grader.serve.sign_in import STUDENT, Ticket, can_sign_in
from grader.serve.site import Site
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import Person, solved, student

PART: Message = {"type": "http.request", "body": b"--x\r\n", "more_body": True}


class Slow:
    """A request whose body, or whose reader, takes its time: it goes on until it is told to end."""

    def __init__(self, app: ASGIApp, method: str, path: str, headers: dict[str, str], parts: list[Message]) -> None:
        self._app, self._parts, self._ends = app, parts, asyncio.Event()
        self.status = 0
        lines = {"host": "127.0.0.1:8000", **headers}
        self._scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path, "raw_path": path.encode(),
            "query_string": b"", "root_path": "", "scheme": "http", "server": ("127.0.0.1", 8000),
            "client": ("127.0.0.9", 1), "state": {}, "headers": [(k.encode(), v.encode()) for k, v in lines.items()],
        }  # fmt: skip

    async def _receive(self) -> Message:
        if self._parts:
            return self._parts.pop(0)
        await self._ends.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.status = message.get("status", self.status)

    async def run(self) -> None:
        await self._app(self._scope, self._receive, self._send)

    def end(self) -> None:
        self._ends.set()


def upload(site: Site, app: ASGIApp, who: str, length: int = 1 << 20) -> Slow:
    """Return an upload that stops after its first bytes."""
    session = student(site, who).browser.cookies["session"]
    headers = {"cookie": f"session={session}", "content-type": "multipart/form-data; boundary=x"}
    return Slow(app, "POST", f"/a/{NAME}", {**headers, "content-length": str(length)}, [PART])


async def statuses(requests: list[Slow], wanted: Callable[[list[Slow]], bool], *, end: bool = True) -> list[int]:
    """Begin requests together, wait until they are as wanted, and return the statuses that were answered by then.

    Args:
        end: then let them end.
    """
    tasks = [asyncio.create_task(one.run()) for one in requests]
    for _ in range(500):
        if wanted(requests):
            break
        await asyncio.sleep(0.02)
    said = [one.status for one in requests]
    if end:
        for one in requests:
            one.end()
        await asyncio.gather(*tasks, return_exceptions=True)
    return said


def run(work: Coroutine[Any, Any, list[int]]) -> list[int]:
    return asyncio.run(work)


def answered(count: int) -> Callable[[list[Slow]], bool]:
    return lambda requests: sum(one.status > 0 for one in requests) >= count


# ---------------------------------------------------------------- the places of others


def test_who_sends_many_files_slowly_takes_no_place_of_others(site: Site) -> None:
    app = make_app(site)
    mallory = [upload(site, app, "ada") for _ in range(shares.UPLOADS_AT_ONCE + 1)]
    said = run(statuses(mallory, answered(len(mallory) - shares.UPLOADS_EACH)))
    assert sorted(said) == [0] * shares.UPLOADS_EACH + [429] * (len(mallory) - shares.UPLOADS_EACH)


def test_an_upload_takes_a_place_until_it_has_come_and_not_until_it_is_graded(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class whose attempts wait for their grades keeps nobody else out."""
    monkeypatch.setattr(
        web.hub, "ticket_of", lambda site, token: Ticket(person=token, role=STUDENT, name="", via="hub")
    )
    (site.root / "serve.toml").write_text('[hub]\nurl = "http://127.0.0.1:9"\n')  # nobody asks it
    monkeypatch.setattr(shares, "UPLOADS_AT_ONCE", 1)
    app, requests = make_app(site), []
    for who in ("lab-1", "lab-2", "lab-3"):
        start = b'--x\r\nContent-Disposition: form-data; name="notebook"; filename="a.ipynb"\r\n\r\n'
        body = start + solved(site, remark=who + "x" * guard.SMALL_BODY) + b"\r\n--x--\r\n"
        headers = {"content-type": "multipart/form-data; boundary=x", "content-length": str(len(body))}
        whole: Message = {"type": "http.request", "body": body, "more_body": False}
        requests.append(Slow(app, "POST", f"/a/{NAME}", {**headers, "authorization": f"token {who}"}, [whole]))

    async def one_after_the_other() -> list[int]:
        return [status for request in requests for status in await statuses([request], answered(1), end=False)]

    assert run(one_after_the_other()) == [303] * 3


def test_of_streams_that_are_opened_together_few_begin(site: Site) -> None:
    ada = student(site, "streams")
    assert ada.hands_in(solved(site, remark="for the streams")).status_code == 303
    app, session = make_app(site), {"cookie": f"session={ada.browser.cookies['session']}"}
    whole: Message = {"type": "http.request", "body": b"", "more_body": False}
    together = [Slow(app, "GET", f"/a/{NAME}/events", session, [whole]) for _ in range(12)]
    assert sorted(run(statuses(together, answered(12)))) == [200] * 4 + [429] * 8
    later = Slow(app, "GET", f"/a/{NAME}/events", session, [whole])  # the places are free again
    assert run(statuses([later], answered(1))) == [200]


# ---------------------------------------------------------------- secrets


@pytest.mark.parametrize("path", ["/in/a-link-that-was-revoked", "/lti/register/a-link?openid_configuration=x"])
def test_the_next_request_does_not_name_an_address_that_is_a_secret(site: Site, path: str) -> None:
    answer = Person.of(site).browser.get(path)
    assert answer.status_code == 403
    assert answer.headers["referrer-policy"] == "no-referrer"


# ---------------------------------------------------------------- no number, no name, no text


@pytest.mark.parametrize("path", [f"/a/{NAME}/attempts/", "/class/appeals/"])
def test_a_number_with_thousands_of_digits(site: Site, path: str) -> None:
    assert student(site).get(path + "9" * 5000).status_code in (404, 405)


@pytest.mark.parametrize("path", [f"/a/{NAME}", f"/a/{NAME}/appeals", "/out"])
def test_a_form_in_an_encoding_that_makes_half_characters(site: Site, path: str) -> None:
    kind = "multipart/form-data; boundary=x; charset=unicode_escape"
    body = b'--x\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n\\ud800\r\n--x--\r\n'
    assert student(site).browser.post(path, content=body, headers={"content-type": kind}).status_code == 403


def test_a_name_that_is_too_long_for_a_folder_signs_nobody_in(site: Site) -> None:
    assert not can_sign_in("漢" * 100)  # 300 bytes
    assert can_sign_in("漢" * 40)
    assert student(site, "漢" * 40).hands_in(solved(site, remark="a long name")).status_code == 303
