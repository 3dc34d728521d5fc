"""Who takes what all share: places for uploads, forms that are half sent, requests of an address, threads that wait for others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from email.message import Message as Headers
from typing import Any
from urllib.error import HTTPError, URLError

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message

from grader.serve import guard, hub, lti, lti_calls, shares
from grader.serve.app import make_app
from grader.serve.lti_calls import LtiError, NoAnswer, fetch
from grader.serve.sign_in import digest_of, form_token
from grader.serve.site import Site
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import URL, Person, solved, student, token_in
from tests.serve.test_attacks import talk, upload_of
from tests.serve.test_more_attacks import PART, Slow, upload

WHOLE: Message = {"type": "http.request", "body": b"", "more_body": False}
HALF: Message = {"type": "http.request", "body": b"token=", "more_body": True}
FORM = {"content-type": "application/x-www-form-urlencoded", "content-length": "300"}


async def while_others_wait(
    others: list[Slow], honest: list[Slow], *, refused: int = 0, let_go: Callable[[], None] = lambda: None
) -> list[int]:
    """Begin the requests of others, and answer honest ones; return the statuses of these.

    Args:
        refused: how many of the others are answered before the honest requests begin.
        let_go: is called at the end, so that the others end.
    """
    tasks = [asyncio.create_task(one.run()) for one in others]
    await until(lambda: sum(one.status > 0 for one in others) >= refused)
    asked = [asyncio.create_task(one.run()) for one in honest]
    await until(lambda: all(one.status for one in honest))
    said = [one.status for one in honest]
    let_go()
    for one in [*others, *honest]:
        one.end()
    await asyncio.gather(*tasks, *asked, return_exceptions=True)
    return said


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; at most so long that a test fails."""
    for _ in range(500):
        if holds():
            return
        await asyncio.sleep(0.02)


def whole_upload(site: Site, app: ASGIApp, who: str) -> Slow:
    """Return an upload that is large, and arrives at once."""
    session = student(site, who).browser.cookies["session"]
    token = form_token(site.key, digest_of(session)).encode()
    start = b'--x\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n' + token
    start += b'\r\n--x\r\nContent-Disposition: form-data; name="notebook"; filename="a.ipynb"\r\n\r\n'
    body = start + solved(site, remark=who + "x" * guard.SMALL_BODY) + b"\r\n--x--\r\n"
    headers = {"cookie": f"session={session}", "content-type": "multipart/form-data; boundary=x"}
    part: Message = {"type": "http.request", "body": body, "more_body": False}
    return Slow(app, "POST", f"/a/{NAME}", {**headers, "content-length": str(len(body))}, [part])


# ---------------------------------------------------------------- uploads


def test_six_students_with_three_slow_uploads_each_keep_nobody_out(site: Site) -> None:
    app = make_app(site)
    slow = [upload(site, app, f"slow-{number % 6}") for number in range(18)]
    assert asyncio.run(while_others_wait(slow, [whole_upload(site, app, "in time")], refused=2)) == [303]


def taken(stack: ExitStack, *people: str) -> list[bool]:
    """Ask for a place for each person in turn; return who gets one."""

    def gets(person: str) -> bool:
        try:
            stack.enter_context(shares.upload_place(person))
        except HTTPException as refusal:
            return refusal.status_code != 429
        return True

    return [gets(person) for person in people]


def test_nobody_has_a_second_place_while_few_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "UPLOADS_AT_ONCE", 6)
    with ExitStack() as stack:
        assert taken(stack, "ada", "ada", "ada", "bob", "bob") == [True, True, False, True, False]
        assert taken(stack, "carl", "carl", "dora", "erik", "finn") == [True, False, True, True, False]
    with ExitStack() as stack:  # all places are free again
        assert taken(stack, "finn", "finn") == [True, True]


def test_a_person_sends_few_large_files_in_a_minute(site: Site) -> None:
    junk = b"[" * (guard.SMALL_BODY + 1)
    ada = student(site, "ada", fresh=True)
    said = [ada.hands_in(junk).status_code for _ in range(shares.UPLOADS_A_MINUTE + 1)]
    assert said == [400] * shares.UPLOADS_A_MINUTE + [429]


def test_who_is_not_signed_in_takes_no_place_for_uploads(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither with a made-up session, nor with a token that JupyterHub is still asked about."""
    asked = threading.Event()
    monkeypatch.setattr(hub, "ticket_of", lambda site, token: asked.wait(20) and refuse())
    app, headers = make_app(site), {"content-type": "multipart/form-data; boundary=x", "content-length": str(1 << 20)}
    strangers = [
        Slow(app, "POST", f"/a/{NAME}", {**headers, **own}, [PART])
        for own in [{}, {"cookie": "session=made-up"}, {"authorization": "token made-up"}] * 40
    ]
    honest = [whole_upload(site, app, f"honest-{number}") for number in range(5)]
    said = asyncio.run(while_others_wait(strangers, honest, refused=80, let_go=asked.set))
    assert said == [303] * 5


def refuse() -> None:
    raise LtiError("no")


@pytest.mark.parametrize(
    ("received", "seconds", "slow"),
    [(0, 19, False), (0, 20, False), (0, 21, True), (8191, 21, True), (8192, 21, False), (80 << 10, 29, False), (80 << 10, 31, True)],
)  # fmt: skip
def test_a_least_rate_after_a_grace(received: int, seconds: float, slow: bool) -> None:
    assert guard.is_too_slow(received, seconds) == slow


def test_an_upload_that_only_holds_its_place_is_cut_off(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part comes in time, and the whole would, too; but it is a trickle."""
    moments = iter(range(0, 10_000, 7))
    monkeypatch.setattr(guard, "clock", lambda: next(moments), raising=False)
    monkeypatch.setattr(guard, "WHOLE_SECONDS", 1e6)
    parts: list[Message | float] = [{"type": "http.request", "body": b"--x\r\n", "more_body": True}]
    parts += [{"type": "http.request", "body": b"", "more_body": True} for _ in range(50)]
    status, asked = talk(site, upload_of(site, str(1 << 20)), parts)
    assert (status, asked < 10) == (408, True)


# ---------------------------------------------------------------- bodies that say one thing and are another


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-length": "4", "transfer-encoding": "chunked"}, 400),
        ({"content-length": "4", "transfer-encoding": "gzip, chunked"}, 400),
        ({"content-length": "4", "transfer-encoding": "identity"}, 400),
        ({"content-length": "4", "transfer-encoding": ""}, 400),
        ({"content-length": "4, 4"}, 411),
        ({"content-length": "+4"}, 411),
        ({"transfer-encoding": "chunked"}, 411),
    ],
    ids=str,
)
@pytest.mark.parametrize("path", [f"/a/{NAME}", "/in", "/out", "/lti/launch", f"/a/{NAME}/appeals"])
def test_two_lengths_of_one_body_are_refused_before_it_is_read(
    site: Site, headers: dict[str, str], status: int, path: str
) -> None:
    told = {**upload_of(site, None), **headers}
    assert talk(site, told, [], path) == (status, 0)


@pytest.mark.parametrize("length", ["4", "900", "70000"])
def test_a_body_that_is_longer_than_it_says_is_not_read_on(site: Site, length: str) -> None:
    parts: list[Message | float] = [
        {"type": "http.request", "body": b"-" * 100_000, "more_body": True} for _ in range(400)
    ]
    status, asked = talk(site, upload_of(site, length), parts)
    assert (status, asked) == (413, 1)


@pytest.mark.parametrize(
    "headers", [{"content-length": "4"}, {"transfer-encoding": "chunked"}, {"content-length": "x"}], ids=str
)
def test_a_page_is_asked_for_without_a_body(site: Site, headers: dict[str, str]) -> None:
    assert student(site).browser.get("/", headers=headers).status_code == 400


# ---------------------------------------------------------------- half-sent forms


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a moment to pass, and what is slow stays slow."""
    monkeypatch.setattr(guard, "MOMENT_SECONDS", 0.05, raising=False)
    monkeypatch.setattr(guard, "SMALL_SECONDS", 100.0, raising=False)


def sign_in_form(site: Site, app: ASGIApp, person: str) -> Slow:
    """Return the form by which somebody signs in, as it arrives from the same address as the others'."""
    browser = TestClient(app, base_url=URL)
    link = Person.of(site).link(person)
    body = f"form_token={token_in(browser.get(f'/in/{link}'))}&token={link}".encode()
    headers = {**FORM, "content-length": str(len(body)), "cookie": f"visit={browser.cookies['visit']}"}
    return Slow(app, "POST", "/in", headers, [{"type": "http.request", "body": body, "more_body": False}])


@pytest.mark.parametrize(
    ("path", "length"), [("/in", "300"), ("/in", "1000"), ("/lti/launch", "300"), ("/lti/launch", "60000"), ("/lti/login", "300")]
)  # fmt: skip
def test_half_sent_forms_lock_out_nobody_behind_the_same_address(
    site: Site, at_once: None, path: str, length: str
) -> None:
    app = make_app(site)
    half = [Slow(app, "POST", path, {**FORM, "content-length": length}, [HALF]) for _ in range(150)]
    honest = [sign_in_form(site, app, "ada"), sign_in_form(site, app, "bob")]
    assert asyncio.run(while_others_wait(half, honest, refused=50)) == [303, 303]


def test_slow_forms_of_strangers_are_few_and_none_of_a_person_who_is_signed_in(site: Site, at_once: None) -> None:
    """A person who is signed in has an own share, and a slow form of theirs waits in it."""
    app, session = make_app(site), {"cookie": f"session={student(site).browser.cookies['session']}"}
    strangers = [Slow(app, "POST", "/in", FORM, [HALF]) for _ in range(shares.SLOW_FORMS_OF_AN_ADDRESS + 5)]
    own = [Slow(app, "POST", "/out", {**FORM, **session}, [HALF]) for _ in range(shares.SLOW_FORMS_EACH + 2)]

    async def both() -> tuple[list[int], list[int]]:
        tasks = [asyncio.create_task(one.run()) for one in [*strangers, *own]]
        await until(lambda: sum(one.status > 0 for one in strangers) >= 5 and sum(one.status > 0 for one in own) >= 2)
        said = [one.status for one in strangers], [one.status for one in own]
        for one in [*strangers, *own]:
            one.end()
        await asyncio.gather(*tasks, return_exceptions=True)
        return said

    of_strangers, of_ada = asyncio.run(both())
    assert sorted(of_strangers) == [0] * shares.SLOW_FORMS_OF_AN_ADDRESS + [429] * 5
    assert sorted(of_ada) == [0] * shares.SLOW_FORMS_EACH + [429] * 2


def test_strangers_of_many_addresses_have_one_share_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "SLOW_FORMS_OF_STRANGERS", 3)
    with ExitStack() as stack:
        for number in range(3):
            stack.enter_context(shares.slow_form("", f"10.0.0.{number}"))
        with pytest.raises(HTTPException):
            stack.enter_context(shares.slow_form("", "10.0.0.9"))
        stack.enter_context(shares.slow_form("ada", "10.0.0.9"))
    with shares.slow_form("", "10.0.0.9"):
        pass  # what was refused in the second step gave back the first


def test_a_small_form_that_never_ends_is_cut_off(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SMALL_SECONDS", 0.05, raising=False)
    monkeypatch.setattr(guard, "MOMENT_SECONDS", 0.01, raising=False)
    status, asked = talk(site, {**FORM}, [HALF], "/in")
    assert (status, asked) == (408, 2)


@pytest.mark.parametrize("path", ["/in", "/out"])
def test_a_form_that_signs_in_or_out_is_tiny(site: Site, path: str) -> None:
    assert talk(site, {**FORM, "content-length": "1025"}, [], path) == (413, 0)


# ---------------------------------------------------------------- requests of one address


def test_what_strangers_send_takes_nothing_from_people_who_are_signed_in(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "ADDRESS_REQUESTS_A_MINUTE", 5)
    app = make_app(site)
    eve, ada, forger = (TestClient(app, base_url=URL, follow_redirects=False) for _ in range(3))
    ada.cookies.set("session", student(site).browser.cookies["session"])
    forger.cookies.set("session", "made-up")
    assert [eve.get("/").status_code for _ in range(7)] == [200] * 5 + [429] * 2
    assert [each.get("/").status_code for each in (ada, eve, forger, ada)] == [200, 429, 429, 200]


def test_people_who_have_no_cookie_yet_do_not_share_the_limit_of_one_browser(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "REQUESTS_A_MINUTE", 5)
    eve = TestClient(make_app(site), base_url=URL)
    assert {eve.get("/").status_code for _ in range(20)} == {200}


# ---------------------------------------------------------------- threads that wait for JupyterHub and for platforms


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """No service answers until this is set."""
    ends = threading.Event()

    def hangs(*asked: Any, **named: Any) -> None:
        ends.wait(30)
        raise TimeoutError("timed out")

    monkeypatch.setattr(lti_calls._opener, "open", hangs)
    monkeypatch.setattr(
        lti_calls, "breaker", lti_calls.Breaker() if hasattr(lti_calls, "Breaker") else None, raising=False
    )
    yield ends
    ends.set()


@pytest.mark.parametrize("path", ["/", f"/a/{NAME}", "/class", "/nowhere"])
def test_made_up_tokens_while_the_hub_hangs_block_no_page(site: Site, hanging: threading.Event, path: str) -> None:
    (site.root / "serve.toml").write_text('[hub]\nurl = "http://127.0.0.1:9"\n')
    app, session = make_app(site), {"cookie": f"session={student(site).browser.cookies['session']}"}
    mallory = [Slow(app, "GET", path, {"authorization": f"token made-up-{number}"}, [WHOLE]) for number in range(60)]
    honest = [Slow(app, "GET", where, session, [WHOLE]) for where in ("/", f"/a/{NAME}", f"/a/{NAME}/notebook")]
    try:
        assert asyncio.run(while_others_wait(mallory, honest, let_go=hanging.set)) == [200] * 3
    finally:
        (site.root / "serve.toml").unlink()
    assert {one.status for one in mallory} == {503} if path != "/nowhere" else {404}


def test_codes_that_the_hub_is_asked_about_block_no_page(
    site: Site, hanging: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "receive", lambda site, code, state: hanging.wait(30) and refuse())
    app, session = make_app(site), {"cookie": f"session={student(site).browser.cookies['session']}"}
    mallory = [Slow(app, "GET", "/hub/callback", {}, [WHOLE]) for _ in range(60)]
    honest = [Slow(app, "GET", "/", session, [WHOLE])]
    assert asyncio.run(while_others_wait(mallory, honest, let_go=hanging.set)) == [200]


@pytest.mark.parametrize("path", ["/lti/launch", "/lti/register/x"])
def test_a_platform_that_hangs_blocks_no_page(
    site: Site, hanging: threading.Event, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(lti, "launch", lambda site, token, state: hanging.wait(30) and refuse())
    monkeypatch.setattr(lti.sign_in, "link_ticket", lambda *asked: hanging.wait(30) and None)
    app, session = make_app(site), {"cookie": f"session={student(site).browser.cookies['session']}"}
    method = "POST" if path == "/lti/launch" else "GET"
    form = {"content-type": FORM["content-type"], "content-length": "3"} if method == "POST" else {}
    body: Message = {"type": "http.request", "body": b"a=b" if form else b"", "more_body": False}
    mallory = [Slow(app, method, path, form, [body]) for _ in range(60)]
    honest = [Slow(app, "GET", "/", session, [WHOLE])]
    assert asyncio.run(while_others_wait(mallory, honest, let_go=hanging.set)) == [200]


class Service:
    """What stands in for `urlopen`: it counts who asks, and answers as it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.now = 0, 1000.0
        self.error: Exception = TimeoutError("timed out")
        monkeypatch.setattr(lti_calls._opener, "open", self._open)
        monkeypatch.setattr(lti_calls, "breaker", lti_calls.Breaker())
        monkeypatch.setattr(lti_calls, "clock", lambda: self.now)

    def _open(self, *asked: Any, **named: Any) -> None:
        self.asked += 1
        raise self.error

    def ask(self, url: str = "https://hub.example.org/x") -> type[Exception]:
        with pytest.raises(LtiError) as said:
            fetch(lambda url: True, url)
        return said.type


@pytest.mark.parametrize(
    "error", [TimeoutError("timed out"), URLError("no route"), ConnectionRefusedError("refused")], ids=str
)
def test_after_some_failures_in_a_row_nobody_waits_for_a_service(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    service = Service(monkeypatch)
    service.error = error
    assert [service.ask() for _ in range(10)] == [NoAnswer] * 10
    assert service.asked == 3
    service.ask("https://another.example.org/x")  # each service by itself
    assert service.asked == 4
    service.now += 31
    assert [service.ask() for _ in range(5)] == [NoAnswer] * 5  # one tries again
    assert service.asked == 5
    service.now += 31
    service.error = HTTPError("https://hub.example.org/x", 403, "no", Headers(), None)
    assert [service.ask() for _ in range(5)] == [lti_calls.Refused] * 5
    assert service.asked == 10


def test_a_service_that_answers_now_and_then_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch)
    errors = [TimeoutError("timed out"), TimeoutError("timed out"), HTTPError("", 500, "wrong", Headers(), None)] * 4
    for error in errors:
        service.error = error
        service.ask()
    assert service.asked == 12


def test_while_one_tries_again_nobody_else_does() -> None:
    breaker = lti_calls.Breaker()
    for _ in range(3):
        breaker.record("hub", answered=False)
    breaker._until["hub"] = 0.0  # the pause is over
    breaker.check("hub")
    with pytest.raises(NoAnswer, match="Try again in half a minute"):
        breaker.check("hub")
    breaker.record("hub", answered=True)
    breaker.check("hub")
    breaker.check("hub")


def test_an_answer_that_drips_for_ever_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch)

    class Drips:
        headers = Headers()

        def __enter__(self) -> Drips:
            return self

        def __exit__(self, *error: object) -> None:
            """Close nothing."""

        def read1(self, size: int) -> bytes:
            service.now += 3.0
            return b" "

    monkeypatch.setattr(lti_calls._opener, "open", lambda *asked, **named: Drips())
    assert service.ask() is NoAnswer
