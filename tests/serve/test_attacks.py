"""What people may try against the place to hand in; each is refused. The attacks on LTI are in test_lti.py."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from itsdangerous import Signer
from starlette.types import Message

from grader.records import Student
from grader.serve import attempts, guard, shares
from grader.serve.app import make_app
from grader.serve.settings import SettingsError, read_settings
from grader.serve.sign_in import STUDENT, Ticket, begin_session, digest_of, form_token, links_for, make_ticket, revoke
from grader.serve.site import Site
from grader.serve.store import now, text_of
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import Person, grade, instructor, open_course, solved, student, token_in

SCRIPT = "<script>alert(1)</script>"
EVIL = Student(id="evil", first_name=SCRIPT, last_name='"><img src=x onerror=alert(1)>')
AT_HOME = {"sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8000"}


@pytest.fixture(scope="module")
def victim(site: Site) -> Site:
    """The course after Bob has handed in and was graded, with a script in his answer."""
    bob = student(site, "bob")
    content = solved(site, "1.1").decode().replace("TODO 1.2", f"TODO 1.2 {SCRIPT}")
    bob.hands_in(content.encode())
    grade(site)
    return site


@contextmanager
def rules(site: Site, text: str) -> Iterator[None]:
    """Let serve.toml say this for a while."""
    path = site.root / "serve.toml"
    path.write_text(text)
    os.utime(path, (1e9, 1e9 + len(text)))  # another time than that of any other rules
    try:
        yield
    finally:
        path.unlink()


# ---------------------------------------------------------------- links


def test_a_link_with_a_changed_signature(site: Site) -> None:
    id, dot, signature = Person.of(site).link("ada").partition(".")
    # The last letter would not do: two of its six bits stand for nothing, so another letter may be the same signature.
    changed = ("A" if signature[0] != "A" else "B") + signature[1:]
    assert Person.of(site).opens_link(id + dot + changed).status_code == 403


def test_a_link_signed_with_another_key(site: Site) -> None:
    id = Person.of(site).link("ada").partition(".")[0]
    forged = links_for(site.store, b"another key", ["ada"], STUDENT, 200)["ada"]
    assert forged.partition(".")[0] == id
    assert Person.of(site).opens_link(forged).status_code == 403


def test_a_link_signed_for_another_purpose(site: Site) -> None:
    id = Person.of(site).link("ada").partition(".")[0]
    assert Person.of(site).opens_link(Signer(site.key).sign(id).decode()).status_code == 403


def test_the_id_of_a_link_without_its_signature(site: Site) -> None:
    assert Person.of(site).opens_link(Person.of(site).link("ada").partition(".")[0]).status_code == 403


def test_a_link_that_is_too_old(site: Site) -> None:
    old = links_for(site.store, site.key, ["old"], STUDENT, 200)["old"]
    with site.store.writing() as db:
        db.execute("UPDATE link SET expires = ? WHERE person = 'old'", (text_of(now() - timedelta(seconds=1)),))
    assert Person.of(site).opens_link(old).status_code == 403


def test_a_link_that_was_revoked_and_the_session_that_it_began(site: Site) -> None:
    carl = student(site, "carl")
    token = carl.link("carl")
    assert carl.get(f"/a/{NAME}").status_code == 200
    assert revoke(site.store, "carl") == 1
    assert carl.get(f"/a/{NAME}").status_code == 401
    assert Person.of(site).opens_link(token).status_code == 403
    assert Person.of(site).link("carl") != token


@pytest.mark.parametrize(
    "token", ["' OR 1=1 --", "x" * 60_000, "ü.ü", "a.b.c", "%00", "%0d%0aSet-Cookie:%20a=b"], ids=lambda one: one[:12]
)
def test_nonsense_in_the_place_of_a_link(site: Site, token: str) -> None:
    answer = Person.of(site).browser.get(f"/in/{token}")
    assert answer.status_code in (403, 404)
    assert "a" not in answer.cookies


@pytest.mark.parametrize("person", [".attempts", "..", "../../root", "a/b", "a\\b", "a\x00b", "", "x" * 121])
def test_a_link_for_a_name_that_leads_to_another_folder(site: Site, person: str) -> None:
    token = links_for(site.store, site.key, [person], STUDENT, 200)[person]
    assert Person.of(site).opens_link(token).status_code == 403


def test_one_who_tries_many_links_is_refused_shortly_and_locks_nobody_out(site: Site) -> None:
    eve = Person.of(site)
    answers = [eve.browser.get(f"/in/{number}").status_code for number in range(22)]
    assert answers == [403] * 20 + [429] * 2
    assert eve.opens_link(eve.link("ada")).status_code == 303


def test_a_ticket_works_once(site: Site) -> None:
    token = make_ticket(site.store, Ticket(person="ada", role=STUDENT, name="Ada", via="lti"))
    assert Person.of(site).opens_link(token).status_code == 303
    assert Person.of(site).opens_link(token).status_code == 403


# ---------------------------------------------------------------- sessions


def test_a_session_that_was_planted_before_signing_in(site: Site) -> None:
    ada = Person.of(site)
    ada.browser.cookies.set("session", "planted")
    assert ada.opens_link(ada.link("ada")).status_code == 303
    own = [cookie.value for cookie in ada.browser.cookies.jar if cookie.name == "session" and cookie.value != "planted"]
    assert len(own) == 1
    eve = Person.of(site)
    eve.browser.cookies.set("session", "planted")
    assert eve.get(f"/a/{NAME}").status_code == 401


def test_a_session_from_before_ends_where_the_same_browser_signs_in_anew(site: Site) -> None:
    shared = student(site, "ada", fresh=True)
    before = shared.browser.cookies["session"]
    shared.signs_in("bob")
    eve = Person.of(site)
    eve.browser.cookies.set("session", before)
    assert eve.get(f"/a/{NAME}").status_code == 401


def test_the_cookie_of_somebody_who_has_signed_out(site: Site) -> None:
    ada = student(site, fresh=True)
    kept = ada.browser.cookies["session"]
    assert ada.posts("/out").status_code == 303
    eve = Person.of(site)
    eve.browser.cookies.set("session", kept)
    assert eve.get(f"/a/{NAME}").status_code == 401


def test_what_the_store_holds_of_a_session_is_no_cookie(site: Site) -> None:
    eve = Person.of(site)
    eve.browser.cookies.set("session", digest_of(student(site).browser.cookies["session"]))
    assert eve.get(f"/a/{NAME}").status_code == 401


def test_a_session_that_is_too_old(site: Site) -> None:
    past = text_of(now() - timedelta(seconds=1))
    ticket = Ticket(person="ada", role=STUDENT, name="", via="link", until=past)
    eve = Person.of(site)
    eve.browser.cookies.set("session", begin_session(site.store, ticket, ""))
    assert eve.get(f"/a/{NAME}").status_code == 401


@pytest.mark.parametrize(
    "path", ["/class", f"/a/{NAME}", f"/a/{NAME}/feedback", f"/a/{NAME}/notebook", f"/a/{NAME}/events"]
)
def test_a_page_without_a_session(site: Site, path: str) -> None:
    assert Person.of(site).get(path).status_code == 401


def test_cookies_go_to_this_host_over_tls_alone_and_to_no_script(site: Site) -> None:
    with rules(site, 'url = "https://hand-in.example.org"\n'):
        ada = Person.of(site, "https://hand-in.example.org")
        answer = ada.opens_link(ada.link("ada"))
        cookies = answer.headers.get_list("set-cookie")
        assert answer.headers["strict-transport-security"].startswith("max-age=")
    session = next(one for one in cookies if one.startswith("__Host-session="))
    for wanted in ("Secure", "HttpOnly", "SameSite=lax", "Path=/"):
        assert wanted in session
    assert "Domain" not in session


@pytest.mark.parametrize(
    "url", ["http://hand-in.example.org", "http://192.168.1.5:8000", "ftp://127.0.0.1", "https://x.org/path"]
)
def test_an_address_without_tls_is_refused_at_the_start(site: Site, url: str) -> None:
    with rules(site, f'url = "{url}"\n'), pytest.raises(SettingsError, match="url"):
        read_settings(site.root)


# ---------------------------------------------------------------- forms from elsewhere


def count(site: Site) -> int:
    return len(attempts.everybodys(site.store))


@pytest.mark.parametrize("token", ["", "0" * 64, "ü"])
def test_an_upload_without_the_token_of_this_browser(site: Site, token: str) -> None:
    before = count(site)
    ada = student(site)
    upload = {"notebook": ("a.ipynb", solved(site, remark="forged"))}
    assert ada.browser.post(f"/a/{NAME}", data={"form_token": token}, files=upload).status_code == 403
    assert count(site) == before


def test_an_upload_with_the_token_of_another_session_and_of_another_key(site: Site) -> None:
    before = count(site)
    ada = student(site)
    upload = {"notebook": ("a.ipynb", solved(site, remark="forged"))}
    for token in (student(site, "bob").token(), form_token(b"other", digest_of(ada.browser.cookies["session"]))):
        assert ada.browser.post(f"/a/{NAME}", data={"form_token": token}, files=upload).status_code == 403
    assert count(site) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8000.evil.example"},
        {"sec-fetch-site": "cross-site", "origin": "null"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
    ids=str,
)  # fmt: skip
def test_a_form_that_another_site_sends(site: Site, headers: dict[str, str]) -> None:
    ada = student(site, fresh=True)
    told = {"form_token": ada.token()}
    assert ada.browser.post("/out", data=told, headers=headers).status_code == 403
    assert ada.browser.post("/out", data=told, headers=AT_HOME).status_code == 303


def test_another_site_signs_nobody_in_as_somebody_else(site: Site) -> None:
    """Neither by a form, as it has no cookie of the visit, nor by an address: that shows a page with a button."""
    ada, eve = student(site, fresh=True), Person.of(site)
    link = eve.link("evil")
    assert ada.browser.get(f"/in/{link}").status_code == 200
    assert "ada" in ada.get("/").text or "Ada" in ada.get("/").text
    token = token_in(eve.browser.get(f"/in/{link}"))
    assert ada.browser.post("/in", data={"form_token": token, "token": link}).status_code == 403


@pytest.mark.parametrize("path", ["/out", f"/a/{NAME}/appeals", "/class/show", "/class/again", "/class/appeals/1"])
def test_an_address_that_changes_something_is_no_link(site: Site, path: str) -> None:
    assert student(site).get(path).status_code in (404, 405)


FORMS = ["/class/show", "/class/again", "/class/appeals/1", "/class/due", f"/class/students/bob/{NAME}/extension"]


@pytest.mark.parametrize("path", FORMS)
def test_the_instructors_forms_need_the_token_too(site: Site, path: str) -> None:
    assert instructor(site).browser.post(path, data={"assignment": NAME, "comment": "x"}).status_code == 403


# ---------------------------------------------------------------- other people's pages


@pytest.mark.parametrize(
    "path",
    [
        "/class", "/class/report", "/class/table.csv", f"/class/feedback/bob/{NAME}", f"/class/students/bob/{NAME}",
        f"/class/students/bob/{NAME}/attempts/1", f"/class/students/bob/{NAME}/attempts/1/notebook",
    ],
)  # fmt: skip
def test_a_student_finds_no_page_of_the_class(victim: Site, path: str) -> None:
    assert instructor(victim).get(path).status_code == 200
    assert student(victim).get(path).status_code == 404


@pytest.mark.parametrize("path", FORMS)
def test_a_student_sends_no_form_of_the_instructor(victim: Site, path: str) -> None:
    ada = student(victim)
    assert (
        ada.browser.post(path, data={"form_token": ada.token(), "assignment": NAME, "comment": "x"}).status_code == 404
    )


@pytest.mark.parametrize("nth", ["1", "2", "0", "-1", "999999999999999999999", "1.0", "1 OR 1=1", "../1"])
def test_a_number_of_an_attempt_leads_to_ones_own_alone(victim: Site, nth: str) -> None:
    for file in ("", "/notebook"):
        assert student(victim, "bob").get(f"/a/{NAME}/attempts/1{file}").status_code == 200
        assert student(victim, "nobody").get(f"/a/{NAME}/attempts/{nth}{file}").status_code == 404


@pytest.mark.parametrize("query", ["?student=bob", "?person=bob&role=instructor", "?id=1"])
def test_no_parameter_names_another_student(victim: Site, query: str) -> None:
    page = student(victim, "nobody").get(f"/a/{NAME}{query}").text
    assert "Your attempts" not in page
    assert student(victim, "nobody").get(f"/a/{NAME}/feedback{query}").status_code == 404


def test_a_student_asks_for_no_look_at_another_ones_exercise(victim: Site) -> None:
    assert (
        student(victim, "nobody").posts(f"/a/{NAME}/appeals", exercise="1.1", text="x", student="bob").status_code
        == 404
    )


def test_an_exercise_that_is_not_there_is_no_appeal(victim: Site) -> None:
    answer = student(victim, "bob").posts(f"/a/{NAME}/appeals", exercise="9.9'; DROP TABLE grader_appeal", text="x")
    assert answer.status_code == 409


def test_feedback_that_is_not_shown_yet_is_at_no_address(victim: Site) -> None:
    bob, eva = student(victim, "bob"), instructor(victim)
    with rules(victim, '[every]\nfeedback = "by hand"\n'):
        assert "5 of 100" not in bob.get("/").text + bob.get(f"/a/{NAME}").text
        for path in (f"/a/{NAME}/feedback", f"/a/{NAME}/attempts/1"):
            assert bob.get(path).status_code == 404
        assert bob.posts(f"/a/{NAME}/appeals", exercise="1.2", text="x").status_code == 404
        assert eva.posts("/class/show", assignment="2-heads").status_code == 303
        assert bob.get(f"/a/{NAME}/feedback").status_code == 404
        assert eva.posts("/class/show", assignment=NAME).status_code == 303
        assert bob.get(f"/a/{NAME}/feedback").status_code == 200


def test_an_assignment_that_is_not_open_is_not_there(site: Site) -> None:
    ada = student(site)
    token = ada.token()
    with rules(site, f"[assignment.{NAME}]\nopen = false\n"):
        for path in (f"/a/{NAME}", f"/a/{NAME}/notebook"):
            assert ada.get(path).status_code == 404
        upload = {"notebook": ("a.ipynb", b"{}")}
        assert ada.browser.post(f"/a/{NAME}", data={"form_token": token}, files=upload).status_code == 404


# ---------------------------------------------------------------- names and paths


@pytest.mark.parametrize(
    "path",
    [
        "/a/..%2f..%2fgradebook.db", "/a/.attempts", "/a/%2e%2e/notebook", f"/a/{NAME}%00/notebook", "/a/submitted/notebook",
        "/static/..%2f..%2fserve.db", "/static/%2e%2e/app.py", "/static/serve.css", "/.grader/serve.key", "/a/1-attention%0d%0aX:y",
        "/a//notebook", f"/a/{NAME}/", "/class/", f"/a/{NAME}/../../class",
    ],
)  # fmt: skip
def test_a_path_to_something_else(site: Site, path: str) -> None:
    answer = student(site).browser.get(path)
    assert answer.status_code == 404
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    "filename", ["../../../../evil.ipynb", "/etc/evil.ipynb", "C:\\evil.ipynb", "evil.ipynb\x00.html", "x" * 5000 + ".ipynb", SCRIPT]
)  # fmt: skip
def test_the_name_of_an_uploaded_file_says_nothing(site: Site, filename: str) -> None:
    who = f"s{len(filename)}"
    answer = student(site, who).hands_in(solved(site, remark=repr(filename)[:50]), filename=filename)
    assert answer.status_code in (303, 400)
    written = [path.name for path in site.root.rglob("*") if "evil" in path.name or "script" in path.name]
    assert written == []
    for attempt in attempts.attempts_of(site.store, who):
        folder = attempts.folder_of(site.folder, who, NAME, attempt.place)
        assert {path.name for path in folder.iterdir()} == {f"{NAME}.ipynb", "timestamp.txt"}


@pytest.mark.parametrize("student_id", ["..", "..%2f..", "bob%2f..", ".attempts"])
def test_the_instructors_addresses_lead_to_students_alone(victim: Site, student_id: str) -> None:
    for path in (
        f"feedback/{student_id}/{NAME}",
        f"students/{student_id}/{NAME}",
        f"students/{student_id}/{NAME}/attempts/1",
    ):
        assert instructor(victim).get(f"/class/{path}").status_code == 404


# ---------------------------------------------------------------- much, and slowly


def talk(
    site: Site, headers: dict[str, str], messages: list[Message | float], path: str = f"/a/{NAME}"
) -> tuple[int, int]:
    """Send a request by hand; return the status, and how many parts of its body were asked for.

    Args:
        messages: the parts; a number is a pause in seconds.
    """
    asked, sent = 0, []

    async def receive() -> Message:
        nonlocal asked
        asked += 1
        if not messages:
            await asyncio.sleep(60)
        message = messages.pop(0)
        if isinstance(message, float):
            await asyncio.sleep(message)
            message = messages.pop(0)
        return message

    async def send(message: Message) -> None:
        sent.append(message)

    lines = {"host": "127.0.0.1:8000", **headers}
    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "root_path": "", "scheme": "http", "server": ("127.0.0.1", 8000), "client": ("127.0.0.9", 1), "state": {},
        "headers": [(name.encode(), value.encode()) for name, value in lines.items()],
    }  # fmt: skip
    asyncio.run(make_app(site)(scope, receive, send))
    return sent[0]["status"], asked


def upload_of(site: Site, length: str | None) -> dict[str, str]:
    """Return the headers of Ada's upload of so many bytes."""
    session = student(site).browser.cookies["session"]
    told = {"cookie": f"session={session}", "content-type": "multipart/form-data; boundary=x"}
    return told if length is None else {**told, "content-length": length}


@pytest.mark.parametrize("length", [str(guard.LARGEST_BODY + 1), "9" * 30, "-1", "1e3", "", None])
def test_a_body_of_a_wrong_length_is_refused_before_it_is_read(site: Site, length: str | None) -> None:
    status, asked = talk(site, upload_of(site, length), [])
    assert (status, asked) == (413 if length and length[0] in "59" else 411, 0)


def test_a_body_that_is_longer_than_it_says(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LARGEST_BODY", 1000)
    parts = [{"type": "http.request", "body": b"--x\r\n" + b"a" * 600, "more_body": True} for _ in range(9)]
    status, asked = talk(site, upload_of(site, "900"), list(parts))
    assert status in (400, 413)
    assert asked <= 2


def test_a_body_that_comes_too_slowly(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "QUIET_SECONDS", 0.05)
    part: Message = {"type": "http.request", "body": b"--x\r\n", "more_body": True}
    assert talk(site, upload_of(site, "900"), [part, 5.0, part])[0] == 408


def test_a_body_that_comes_byte_by_byte_for_ever(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "WHOLE_SECONDS", 0.2)
    parts: list[Message | float] = []
    for _ in range(100):
        parts += [0.02, {"type": "http.request", "body": b"-", "more_body": True}]
    status, asked = talk(site, upload_of(site, "900"), parts)
    assert status in (400, 408)
    assert asked < 60


def test_a_large_form_where_a_small_one_is_meant(site: Site) -> None:
    ada = student(site)
    big = {"form_token": ada.token(), "text": "x" * (guard.SMALL_BODY + 1)}
    assert ada.browser.post(f"/a/{NAME}/appeals", data=big).status_code == 413
    assert ada.browser.post("/in", data=big).status_code == 413


def multipart(*parts: tuple[str, str]) -> bytes:
    """Return a body of these parts: what stands behind `form-data; `, and the content."""
    text = "".join(f"--x\r\nContent-Disposition: form-data; {about}\r\n\r\n{content}\r\n" for about, content in parts)
    return (text + "--x--\r\n").encode()


@pytest.mark.parametrize(
    "body",
    [
        multipart(*[(f'name="a{number}"', "1") for number in range(2000)]),
        multipart(*[(f'name="notebook"; filename="{number}.ipynb"', "{}") for number in range(50)]),
        multipart(('name="form_token"', "x" * 70_000)),
        multipart(('name="notebook"; filename="a.ipynb"', "{}"))[:-20],
        b"--x\r\nContent-Disposition: form-data; name=" + b"a" * 60_000,
        b"\x00" * 1000,
        b"",
    ],
    ids=["fields", "files", "long field", "cut off", "long header", "zeros", "nothing"],
)  # fmt: skip
def test_a_form_that_is_none_or_has_too_much(site: Site, body: bytes) -> None:
    before = count(site)
    ada = student(site)
    answer = ada.browser.post(f"/a/{NAME}", content=body, headers={"content-type": "multipart/form-data; boundary=x"})
    assert answer.status_code in (400, 403)
    assert count(site) == before


def test_more_attempts_an_hour_than_are_allowed(site: Site) -> None:
    with rules(site, f"[assignment.{NAME}]\nattempts_an_hour = 2\n"):
        eager = student(site, "eager")
        answers = [eager.hands_in(solved(site, remark=f"eager {number}")) for number in range(4)]
    assert [answer.status_code for answer in answers] == [303, 303, 429, 429]
    assert "Try again in 60 minutes" in answers[2].text
    assert len(attempts.attempts_of(site.store, "eager")) == 2
    assert len(list((site.folder / "submitted" / ".attempts" / "eager" / NAME).iterdir())) == 2


def test_a_flood_of_requests(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "REQUESTS_A_MINUTE", 20)
    ada = student(site, fresh=True)
    answers = {ada.browser.get("/static/live.js").status_code for _ in range(guard.REQUESTS_A_MINUTE + 1)}
    assert answers == {200, 429}
    assert student(site, "bob").get("/").status_code == 200


def test_a_flood_with_another_cookie_each_time(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "ADDRESS_REQUESTS_A_MINUTE", 5)
    eve = Person.of(site)
    answers = [eve.browser.get("/", headers={"cookie": f"session={number}"}).status_code for number in range(7)]
    assert answers == [200] * 5 + [429] * 2


def test_uploads_that_would_fill_the_disk(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.serve.student_pages.LEAST_FREE", 1 << 60)
    before = count(site)
    answer = student(site).hands_in(solved(site, remark="the last byte"))
    assert (answer.status_code, "nearly full" in answer.text, count(site)) == (503, True, before)


def test_too_many_uploads_at_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "UPLOADS_AT_ONCE", 0)
    assert talk(site, upload_of(site, str(1 << 20)), [])[0] == 429


def test_many_open_streams_of_one_student(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.serve.student_pages._streams", {"ada": 4})
    assert student(site).get(f"/a/{NAME}/events").status_code == 429


# ---------------------------------------------------------------- text that would run


def runs_nothing(page: str) -> bool:
    """Tell whether a page has no script but ours, and no attribute that is one."""
    scripts = re.findall(r"<script[^>]*>", page)
    return all('src="/static/live.js"' in one for one in scripts) and not re.search(r"<[^>]*\son\w+=", page)


def test_a_script_as_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    site = open_course(tmp_path / "course", [EVIL])
    evil = Person.of(site)
    shown = evil.browser.get(f"/in/{evil.link('evil')}").text
    evil.signs_in("evil")
    pages = [shown, evil.get("/").text, instructor(site).get("/class").text]
    assert all(runs_nothing(page) and "&lt;script&gt;" in page for page in pages)


def test_a_script_in_a_notebook_a_request_and_a_comment(victim: Site) -> None:
    bob, eva = student(victim, "bob"), instructor(victim)
    bob.posts(f"/a/{NAME}/appeals", exercise="1.3", text=SCRIPT)
    shown = eva.get("/class").text
    number = re.findall(r"#appeal-(\d+)", shown)[-1]
    eva.posts(f"/class/appeals/{number}", comment=SCRIPT)
    pages = [
        shown,
        bob.get(f"/a/{NAME}/feedback").text,
        bob.get(f"/a/{NAME}/attempts/1").text,
        eva.get("/class/report").text,
        eva.get(f"/class/students/bob/{NAME}").text,
    ]
    assert all(runs_nothing(page) for page in pages)
    assert all("&lt;script&gt;" in pages[place] for place in (0, 1, 4))


@pytest.mark.parametrize("path", [f"/a/{NAME}/feedback", f"/a/{NAME}/attempts/1"])
def test_a_page_with_students_text_could_run_nothing_and_send_nothing(victim: Site, path: str) -> None:
    policy = student(victim, "bob").get(path).headers["content-security-policy"]
    assert {"default-src 'none'", "form-action 'none'", "frame-ancestors 'none'", "sandbox"} <= set(policy.split("; "))
    assert "script-src" not in policy


@pytest.mark.parametrize("path", ["/", f"/a/{NAME}", "/nowhere", "/static/live.js", "/health", "/in/x"])
def test_every_answer_has_the_headers_that_protect_it(site: Site, path: str) -> None:
    headers = student(site).browser.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY")
    assert "server" not in headers


def test_an_uploaded_notebook_is_never_handed_out_as_a_page(victim: Site) -> None:
    answer = student(victim).get(f"/a/{NAME}/notebook")
    assert answer.headers["content-type"] == "application/x-ipynb+json"
    assert answer.headers["content-disposition"].startswith("attachment")


# ---------------------------------------------------------------- elsewhere


@pytest.mark.parametrize(
    "leads_to", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a/../.."]
)
def test_signing_in_leads_to_no_other_site(site: Site, leads_to: str) -> None:
    ticket = Ticket(person="ada", role=STUDENT, name="", via="lti", leads_to=leads_to)
    place = Person.of(site).opens_link(make_ticket(site.store, ticket)).headers["location"]
    assert re.fullmatch(r"/(?![/\\])[\w%./-]*", place), place


def test_a_link_with_an_address_to_go_to_next(site: Site) -> None:
    ada = Person.of(site)
    page = ada.browser.get(f"/in/{ada.link('ada')}?next=https://evil.example&url=//evil.example")
    assert "evil" not in page.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "hand-in.example.org@evil.example", ""])
def test_a_request_for_another_host(site: Site, host: str) -> None:
    assert Person.of(site).browser.get("/", headers={"host": host}).status_code == 421


def test_what_a_proxy_is_said_to_have_said_changes_no_address(site: Site) -> None:
    headers = {"x-forwarded-host": "evil.example", "forwarded": "host=evil.example"}
    assert "evil" not in Person.of(site).browser.get("/", headers=headers).text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT", "PROPFIND"])
def test_a_method_that_is_not_known_here(site: Site, method: str) -> None:
    assert student(site).browser.request(method, f"/a/{NAME}").status_code == 405


# ---------------------------------------------------------------- what is left behind


def test_no_secret_is_in_the_log_and_each_sign_in_is(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ada = Person.of(site)
    link = ada.link("ada")
    ada.signs_in("ada")
    ada.hands_in(solved(site, remark="for the log"))
    ada.browser.get("/in/wrong-link-of-somebody")
    text = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith(("grader", "uvicorn")))
    for secret in (
        link,
        link.partition(".")[2],
        ada.browser.cookies["session"],
        ada.token(),
        site.key.decode(),
        "wrong-link",
    ):
        assert secret not in text
    assert "signed in: 'ada', student, by link, from testclient" in text
    assert "a link that does not work, from testclient" in text


def test_the_password_of_a_gradebook_that_does_not_answer_is_on_no_page(site: Site) -> None:
    away = replace(site, gradebook="postgresql://eva:s3cret@127.0.0.1:1/grades")
    answer = student(site, fresh=True).browser  # signed in at the same store
    eva = Person.of(away)
    eva.browser.cookies = answer.cookies
    page = eva.get("/")
    assert (page.status_code, "grades cannot be read" in page.text, "eva" in page.text) == (503, True, False)
    eva.browser.cookies = instructor(site).browser.cookies
    page = eva.get("/class")
    assert (page.status_code, "eva:***@" in page.text) == (409, True)
    assert "s3cret" not in page.text


def test_a_line_of_the_log_is_one_request(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    student(site).browser.get("/a/x%0d%0asigned%20in:%20'eva'")
    assert all("\n" not in record.getMessage() and "\r" not in record.getMessage() for record in caplog.records)


def test_others_on_the_machine_read_neither_key_nor_sessions(site: Site) -> None:
    for name in ("serve.key", "serve.db"):
        assert stat.S_IMODE((site.folder / ".grader" / name).stat().st_mode) == 0o600
    assert stat.S_IMODE((site.folder / ".grader").stat().st_mode) == 0o700


def test_the_store_without_the_key_opens_nothing(site: Site) -> None:
    tokens = [student(site).browser.cookies["session"], Person.of(site).link("ada")]
    held = (
        (site.folder / ".grader" / "serve.db").read_bytes() + (site.folder / ".grader" / "serve.db-wal").read_bytes()
        if (site.folder / ".grader" / "serve.db-wal").exists()
        else (site.folder / ".grader" / "serve.db").read_bytes()
    )
    assert all(token.encode() not in held for token in tokens)
