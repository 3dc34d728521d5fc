"""Signing in by a learning platform, and sending it scores: against lti1p3platform, and against who pretends to be it."""

from __future__ import annotations

import base64
import hmac
import json
import math
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from joserfc import jws, jwt
from joserfc.jwk import RSAKey

from grader.serve import attempts, lti_calls, lti_scores
from grader.serve.lti_calls import LtiError
from grader.serve.lti_scores import Sender
from grader.serve.settings import SettingsError, read_settings
from grader.serve.site import Site
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import URL, Person, grade, instructor, open_course, solved, student
from tests.serve.school import CLAIM, CLIENT, MEMBERSHIP, School, asked, sent, signed_in

Claims = dict[str, Any]
CONTEXT = f"{CLAIM}context"


class Raw(str):
    """A value as it is written in JSON: deeper than Python's own encoder can write."""


def nested(depth: int) -> Raw:
    """Return lists in each other."""
    return Raw("[" * depth + "]" * depth)


def short(change: Claims) -> str:
    return str(change).replace(CLAIM, "")[:40]


# ---------------------------------------------------------------- what works


def test_a_student_comes_from_the_platform_to_the_task(site: Site, school: School) -> None:
    ada, answer = signed_in(site, school, "lti-ada", assignment=NAME, name="Ada Lovelace")
    assert answer.headers["location"] == f"/a/{NAME}"
    assert "Ada Lovelace" in ada.get(f"/a/{NAME}").text
    assert site.students()["lti-ada"].name == "Ada Lovelace"
    assert "lti-ada" in instructor(site).get("/class").text


def test_an_instructor_comes_to_the_class(site: Site, school: School) -> None:
    eva, answer = signed_in(site, school, "lti-eva", role="Instructor")
    assert answer.headers["location"] == "/class"
    assert eva.get("/class").status_code == 200
    assert "lti-eva" not in site.students()


def test_the_page_in_the_platforms_frame_may_be_there_and_no_other(site: Site, school: School) -> None:
    ada = Person.of(site)
    page = sent(ada, school.launch(asked(ada, school), "ada"))
    assert f"frame-ancestors {school.url}" in page.headers["content-security-policy"]
    assert "x-frame-options" not in page.headers
    assert "session" not in page.headers.get("set-cookie", "")


def test_who_is_refused_reads_why_in_any_frame(site: Site, school: School) -> None:
    """A platform that is not registered here shows our refusal in its frame, too."""
    answers = [
        Person.of(site).get("/lti/login?iss=https://unknown.example"),
        student(site).get(
            "/lti/login?iss=https://unknown.example"
        ),  # signed in: a frame of the same site has the cookie
        Person.of(site).get("/lti/register/an-old-link?openid_configuration=https://unknown.example/x"),
        sent(Person.of(site), {"id_token": "", "state": ""}),
    ]
    for answer in answers:
        assert answer.status_code == 403
        assert "frame-ancestors *" in answer.headers["content-security-policy"]
        assert "x-frame-options" not in answer.headers
        assert "<form" not in answer.text


def test_the_key_that_is_published_is_the_public_one(site: Site, school: School) -> None:
    (key,) = Person.of(site).get("/lti/keys").json()["keys"]
    assert (key["kty"], key["alg"], "d" in key, "p" in key) == ("RSA", "RS256", False, False)


# ---------------------------------------------------------------- another course of the same platform


def refused(site: Site, school: School, course: str, **told: Any) -> str:
    """Come from another course; return what the page says."""
    person = Person.of(site)
    answer = sent(person, school.launch(asked(person, school, "eve"), "eve", **{CONTEXT: {"id": course}}, **told))
    assert answer.status_code == 403
    return answer.text


@pytest.mark.parametrize("role", ["Instructor", "Learner"])
def test_an_instructor_of_another_course_is_none_here(tmp_path: Path, school: School, role: str) -> None:
    with course_with(tmp_path, school.toml) as own:
        signed_in(own, school, "before", **{CONTEXT: {"id": "9"}})  # nobody has said yet which course it is
        signed_in(own, school, "eva", role="Instructor", **{CONTEXT: {"id": "7"}})
        assert "courses = [&#34;7&#34;, &#34;8&#34;]" in refused(own, school, "8", role=role)
        signed_in(own, school, "ada", **{CONTEXT: {"id": "7"}})


def test_the_operator_names_the_courses(tmp_path: Path, school: School) -> None:
    with course_with(tmp_path, school.toml + 'courses = ["7", "8"]\n') as own:
        for course in ("8", "7"):
            signed_in(own, school, "eva", role="Instructor", **{CONTEXT: {"id": course}})
        assert "another course" in refused(own, school, "9", role="Instructor")


@contextmanager
def course_with(folder: Path, rules: str) -> Iterator[Site]:
    """Open a course of its own with a serve.toml."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADER_SECRET", "test")
        site = open_course(folder / "course")
        (site.root / "serve.toml").write_text(rules)
        yield site


# ---------------------------------------------------------------- keys and clocks


def test_a_platform_that_changes_its_key(site: Site, school: School, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new key is fetched for the first launch that it has signed; the old one is worth nothing then."""
    signed_in(site, school, "lti-ada")
    before, after = school.key, RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
    monkeypatch.setattr(lti_calls, "KEYS_SECONDS", 0.0)
    monkeypatch.setattr(lti_calls, "fetch", lambda *told: ({"keys": [after.as_dict(private=False)]}, {}))
    answers = []
    for key in (after, before):
        ada = Person.of(site)
        told = asked(ada, school)
        token = jwt.encode({"alg": "RS256", "kid": key.kid or kid(school)}, good(school, told), key)
        answers.append(sent(ada, {"id_token": token, "state": told["state"]}).status_code)
    lti_calls._keys.clear()
    assert answers == [200, 403]


@pytest.mark.parametrize(("seconds", "status"), [(30, 200), (-30, 200), (120, 403)])
def test_a_launch_that_is_valid_only_later(site: Site, school: School, seconds: int, status: int) -> None:
    ada = Person.of(site)
    told = asked(ada, school)
    claims = {**good(school, told), "nbf": int(time.time()) + seconds}
    assert sent(ada, {"id_token": signed(school, claims), "state": told["state"]}).status_code == status


@pytest.mark.parametrize(("seconds", "status"), [(30, 200), (-30, 200), (120, 403)])
def test_clocks_may_differ_a_little(site: Site, school: School, seconds: int, status: int) -> None:
    ada = Person.of(site)
    told, moment = asked(ada, school), int(time.time()) + seconds
    claims = {**good(school, told), "iat": moment, "exp": moment + 10}
    token = jwt.encode({"alg": "RS256", "kid": kid(school)}, claims, school.key)
    assert sent(ada, {"id_token": token, "state": told["state"]}).status_code == status


def test_another_claim_can_be_the_students_id(site: Site, school: School) -> None:
    text = (site.root / "serve.toml").read_text()
    (site.root / "serve.toml").write_text(text + 'student = "ext.user_username"\nprefix = "school-"\n')
    try:
        _, answer = signed_in(site, school, "4711", **{f"{CLAIM}ext": {"user_username": "zoe"}})
    finally:
        (site.root / "serve.toml").write_text(text)
    assert answer.status_code == 303
    assert "school-zoe" in site.students()


def test_without_a_platform_nobody_comes_from_one(site: Site, school: School) -> None:
    text = (site.root / "serve.toml").read_text()
    (site.root / "serve.toml").write_text("# none\n")
    try:
        answers = [
            Person.of(site).get("/lti/login?iss=x").status_code,
            sent(Person.of(site), {"id_token": "", "state": ""}).status_code,
        ]
    finally:
        (site.root / "serve.toml").write_text(text)
    assert answers == [403, 403]


# ---------------------------------------------------------------- launches that are refused


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"aud": "another-tool"}, "audience"),
        ({"aud": [CLIENT, "another"], "azp": "another"}, "authorised party"),
        ({"aud": []}, "audience"),
        ({"iss": "https://evil.example"}, "issuer"),
        ({"nonce": "another"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"exp": 1}, "time"),
        ({"exp": None}, "time"),
        ({"exp": "9999999999"}, "time"),
        ({"iat": 1}, "time"),
        ({"iat": 9_999_999_999}, "time"),
        ({f"{CLAIM}deployment_id": "another"}, "deployment"),
        ({f"{CLAIM}version": "1.1"}, "version"),
        ({f"{CLAIM}message_type": "LtiSubmissionReviewRequest"}, "message"),
        ({f"{CLAIM}target_link_uri": "https://evil.example/a"}, "target"),
        ({f"{CLAIM}roles": []}, "neither a student nor an instructor"),
        ({f"{CLAIM}roles": ["http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator"]}, "neither"),
        ({"sub": ""}, "does not say who you are"),
        ({"sub": None}, "does not say who you are"),
        ({"sub": "../../root"}, "cannot use the id that your platform sends"),
        ({"sub": ".attempts"}, "cannot use the id that your platform sends"),
        ({"sub": "漢" * 100}, "cannot use the id that your platform sends"),
        ({f"{CLAIM}target_link_uri": "http://["}, "target"),
        ({f"{CLAIM}roles": [{}, 7]}, "neither a student nor an instructor"),
        *[
            ({f"{CLAIM}roles": value}, "neither a student nor an instructor")
            for value in (5, True, 1.5, "Learner", {"a": 1})
        ],
        *[({name: nested(5000)}, "not valid") for name in ("sub", "x", "nonce", f"{CLAIM}context", f"{CLAIM}roles")],
        *[({name: nested(200)}, "nested more than 20 deep") for name in ("sub", "x", "nonce", f"{CLAIM}context")],
        *[({name: "a\ud800"}, "an incomplete character") for name in ("sub", "name", "nonce", "x")],
        ({CONTEXT: {"id": "\udfff"}}, "an incomplete character"),
        ({"azp": "another"}, "authorised party"),
        ({"azp": None}, "authorised party"),
        ({"azp": [CLIENT]}, "authorised party"),
        ({"azp": ""}, "authorised party"),
        ({"aud": [CLIENT], "azp": "another"}, "authorised party"),
        ({"aud": {CLIENT: 1}}, "audience"),
        *[({"nbf": value}, "time") for value in (9_999_999_999, "0", None, True, math.nan, math.inf, 10**400)],
        *[({"exp": value}, "time") for value in (math.nan, True, [], -(10**400))],
        *[({"iat": value}, "time") for value in (math.nan, math.inf, True, {}, 10**400)],
        *[
            ({"sub": value}, "cannot use the id that your platform sends")
            for value in ("a\u202eda", "ada\u200b", "ada ", " ada", "\ufeffada", "ada\t", "class.html")
        ],
        ({"sub": "$User.id"}, "&#39;$User.id&#39; as sub"),
        ({"sub": " $User.id"}, "name of a variable"),
        ({"sub": "$User.username\u202e" + "x" * 500}, "x…&#39; as sub"),
        ({f"{CLAIM}custom": {"assignment": "$ResourceLink.title"}}, "$ResourceLink.title&#39; as assignment"),
        ({CONTEXT: {"id": "$Context.id"}}, "$Context.id&#39; as context"),
    ],
    ids=short,
)
def test_a_launch_with_a_wrong_claim(site: Site, school: School, change: Claims, said: str) -> None:
    ada = Person.of(site)
    told = asked(ada, school)
    claims = {**good(school, told), **change}
    answer = sent(ada, {"id_token": signed(school, claims), "state": told["state"]})
    assert answer.status_code == 403
    assert said in answer.text


def signed(school: School, claims: Claims) -> str:
    """Sign claims with the platform's key, also those that joserfc's own encoder cannot write."""
    return jws.serialize_compact({"alg": "RS256", "kid": kid(school)}, written(claims).encode(), school.key)


def written(value: object) -> str:
    """Return JSON, with values that are JSON already."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{written(inner)}" for name, inner in value.items()) + "}"
    return str(value) if isinstance(value, Raw) else json.dumps(value)


@pytest.mark.parametrize(
    "change",
    [
        {"azp": CLIENT}, {"aud": [CLIENT]}, {"aud": [CLIENT, "other"], "azp": CLIENT}, {"nbf": 0},
        {"x": nested(10)}, {"sub": "a$da"}, {"sub": "José"}, {"name": "$Person.name.full"}, {"name": 5},
    ],
    ids=short,
)  # fmt: skip
def test_a_launch_with_an_unusual_claim_that_is_right(site: Site, school: School, change: Claims) -> None:
    ada = Person.of(site)
    told = asked(ada, school)
    claims = {**good(school, told), "nbf": int(time.time()) + 30, **change}
    page = sent(ada, {"id_token": signed(school, claims), "state": told["state"]})
    assert page.status_code == 200, page.text
    assert "$" not in "".join(one.name for one in site.students().values())


@pytest.mark.parametrize("payload", ["[" * 5000 + "]" * 5000, "5", "null", '"x"', "[[]]", "{" * 3, ""])
def test_a_payload_that_holds_no_claims(site: Site, school: School, payload: str) -> None:
    ada = Person.of(site)
    told = asked(ada, school)
    for header in ({"alg": "RS256", "kid": kid(school)}, {"alg": "RS256", "kid": kid(school), "typ": "x" * 900}):
        token = jws.serialize_compact(header, payload.encode(), school.key)
        assert sent(ada, {"id_token": token, "state": told["state"]}).status_code == 403


def test_a_variable_that_the_platform_did_not_fill_in_is_no_student(site: Site, school: School) -> None:
    """All students would share one account. The message names claim and variable."""
    text = (site.root / "serve.toml").read_text()
    (site.root / "serve.toml").write_text(text + 'student = "custom.user"\nprefix = "school-"\n')
    try:
        person = Person.of(site)
        form = school.launch(asked(person, school), "ada", **{f"{CLAIM}custom": {"user": "$User.username"}})
        page = sent(person, form)
    finally:
        (site.root / "serve.toml").write_text(text)
    assert (page.status_code, "&#39;$User.username&#39; as custom.user" in page.text) == (403, True)
    assert not any(student.startswith("school-") and "$" in student for student in site.students())


def good(school: School, told: dict[str, str]) -> Claims:
    """Return the claims of a launch that is right."""
    return {
        "iss": school.url, "aud": CLIENT, "sub": "ada", "nonce": told["nonce"], "iat": int(time.time()), "exp": int(time.time()) + 60,
        f"{CLAIM}deployment_id": "3", f"{CLAIM}version": "1.3.0", f"{CLAIM}message_type": "LtiResourceLinkRequest",
        f"{CLAIM}roles": [f"{MEMBERSHIP}#Learner"], f"{CLAIM}target_link_uri": f"{URL}/",
    }  # fmt: skip


def kid(school: School) -> str:
    return school.registration.get_kid() or ""


def test_the_launch_that_the_others_change_is_right(site: Site, school: School) -> None:
    ada = Person.of(site)
    told = asked(ada, school)
    token = jwt.encode({"alg": "RS256", "kid": kid(school)}, good(school, told), school.key)
    assert sent(ada, {"id_token": token, "state": told["state"]}).status_code == 200


def segment(told: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).rstrip(b"=").decode()


def no_signature(school: School, claims: Claims) -> str:
    return f"{segment({'alg': 'none', 'typ': 'JWT'})}.{segment(claims)}."


def public_key_as_a_secret(school: School, claims: Claims) -> str:
    told = f"{segment({'alg': 'HS256', 'kid': kid(school), 'typ': 'JWT'})}.{segment(claims)}"
    signature = hmac.digest(school.key.as_pem(private=False), told.encode(), "sha256")
    return f"{told}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def another_key(school: School, claims: Claims) -> str:
    return jwt.encode({"alg": "RS256", "kid": kid(school)}, claims, RSAKey.generate_key(2048))


def a_key_of_its_own(school: School, claims: Claims) -> str:
    own = RSAKey.generate_key(2048)
    return jwt.encode({"alg": "RS256", "jwk": own.as_dict(private=False)}, claims, own)


def a_key_elsewhere(school: School, claims: Claims) -> str:
    return jwt.encode(
        {"alg": "RS256", "kid": "x", "jku": "https://evil.example/keys"}, claims, RSAKey.generate_key(2048)
    )


def another_algorithm(school: School, claims: Claims) -> str:
    return jwt.encode({"alg": "RS512", "kid": kid(school)}, claims, school.key, algorithms=["RS512"])


def changed_after_signing(school: School, claims: Claims) -> str:
    head, _, signature = jwt.encode({"alg": "RS256", "kid": kid(school)}, claims, school.key).split(".")
    return f"{head}.{segment({**claims, 'sub': 'bob'})}.{signature}"


def nonsense(school: School, claims: Claims) -> str:
    return "x.y.z"


def nothing(school: School, claims: Claims) -> str:
    return ""


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
@pytest.mark.parametrize(
    "forge",
    [
        no_signature, public_key_as_a_secret, another_key, a_key_of_its_own, a_key_elsewhere, another_algorithm,
        changed_after_signing, nonsense, nothing,
    ],
    ids=lambda forge: forge.__name__,
)  # fmt: skip
def test_a_launch_with_a_forged_signature(site: Site, school: School, forge: Callable[[School, Claims], str]) -> None:
    ada = Person.of(site)
    told = asked(ada, school)
    answer = sent(ada, {"id_token": forge(school, good(school, told)), "state": told["state"]})
    assert answer.status_code == 403
    assert "signature of your platform is not valid" in answer.text


def test_a_launch_that_is_sent_twice(site: Site, school: School) -> None:
    ada = Person.of(site)
    form = school.launch(asked(ada, school), "ada")
    assert sent(ada, form).status_code == 200
    again = sent(Person.of(site), form)
    assert (again.status_code, "too old, or was used already" in again.text) == (403, True)


@pytest.mark.parametrize("state", ["", "made-up", "x" * 4000])
def test_a_launch_that_nobody_began_here(site: Site, school: School, state: str) -> None:
    ada = Person.of(site)
    form = school.launch(asked(ada, school), "ada")
    assert sent(ada, {**form, "state": state}).status_code == 403


def test_the_nonce_of_another_launch(site: Site, school: School) -> None:
    ada = Person.of(site)
    first, second = asked(ada, school), asked(ada, school)
    form = school.launch(first, "ada")
    assert "nonce" in sent(ada, {**form, "state": second["state"]}).text


def test_a_launch_that_is_too_old(site: Site, school: School) -> None:
    ada = Person.of(site)
    form = school.launch(asked(ada, school), "ada")
    with site.store.writing() as db:
        db.execute("UPDATE token SET expires = '2020' WHERE kind = 'state'")
    assert sent(ada, form).status_code == 403


@pytest.mark.parametrize("query", ["", "iss=https://evil.example", "iss={issuer}&client_id=another"])
def test_a_login_of_a_platform_that_is_not_registered(site: Site, school: School, query: str) -> None:
    answer = Person.of(site).get("/lti/login?" + query.format(issuer=school.url))
    assert answer.status_code == 403
    assert "location" not in answer.headers


def test_a_login_leads_to_the_registered_address_whatever_it_asks_for(site: Site, school: School) -> None:
    query = f"iss={school.url}&target_link_uri=https://evil.example&login_hint=%0d%0aX:%20y&redirect_uri=https://evil.example"
    place = Person.of(site).get(f"/lti/login?{query}").headers["location"]
    assert place.startswith(f"{school.url}/auth?")
    assert dict(parse_qsl(urlsplit(place).query))["redirect_uri"] == f"{URL}/lti/launch"
    assert "\r" not in place


@pytest.mark.parametrize(
    "lineitem",
    ["https://evil.example/items/1", "http://169.254.169.254/latest", "file:///etc/passwd", "//evil.example", 7, None],
)
def test_an_address_for_scores_that_is_not_the_platforms(site: Site, school: School, lineitem: object) -> None:
    claims = {"https://purl.imsglobal.org/spec/lti-ags/claim/endpoint": {"lineitem": lineitem}}
    signed_in(site, school, "lti-elsewhere", assignment=NAME, **claims)
    assert site.store.rows("SELECT * FROM lti_place WHERE person = 'lti-elsewhere'") == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("keys_url = 'http://school.example/keys'", r"\[lti.school\] keys_url: is not protected. Use https://"),
        ("keys_url = 'https://a'\ntypo = 1", r"\[lti.school\] typo: there is no such key"),
        ("keys_url = 7", "keys_url: Input should be a valid string"),
    ],
)
def test_a_wrong_registration_is_said_in_one_line(site: Site, school: School, change: str, said: str) -> None:
    text = (site.root / "serve.toml").read_text()
    (site.root / "serve.toml").write_text(re.sub(r"keys_url = .*", change, text))
    try:
        with pytest.raises(SettingsError, match=said):
            read_settings(site.root)
    finally:
        (site.root / "serve.toml").write_text(text)


# ---------------------------------------------------------------- scores


def test_a_score_arrives_once_and_again_until_the_platform_has_it(
    site: Site, school: School, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.serve.lti_scores.ROUND_SECONDS", 0.0)
    carl, _ = signed_in(site, school, "lti-carl", assignment=NAME)
    sender = Sender(site)
    assert sender.send_all() == 0  # nothing is graded
    carl.hands_in(solved(site, "1.1", remark="carl"))
    grade(site)
    school.broken = 2
    assert [sender.send_all() for _ in range(4)] == [0, 0, 1, 0]
    (score,) = school.scores
    assert (score["userId"], score["scoreGiven"], score["scoreMaximum"]) == ("lti-carl", 5.0, 100.0)
    assert (score["activityProgress"], score["gradingProgress"]) == ("Completed", "FullyGraded")
    assert score["comment"] == f"Feedback: {URL}/a/{NAME}"
    assert Sender(site).send_all() == 0  # neither after a restart
    carl.hands_in(solved(site, "1.1", "1.2", remark="carl"))
    grade(site)
    assert Sender(site).send_all() == 1
    assert [one["scoreGiven"] for one in school.scores] == [5.0, 10.0]
    assert school.scores[1]["timestamp"] > school.scores[0]["timestamp"]


@pytest.mark.slow(held_by="tests/serve/test_lti.py::test_a_score_arrives_once_and_again_until_the_platform_has_it")
def test_a_score_whose_answer_was_lost_goes_out_with_the_same_time(site: Site, school: School) -> None:
    school.scores.clear()
    dora, _ = signed_in(site, school, "lti-dora", assignment=NAME)
    dora.hands_in(solved(site, "1.1", remark="dora"))
    grade(site)
    school.lost = 1
    assert Sender(site).send_all() == 0
    assert Sender(site).send_all() == 1
    first, second = school.scores
    assert first == second


def test_a_sender_goes_on_whatever_a_platform_answers(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever one step meets, the other one is made, and so is the next round."""
    sender, made = Sender(site), []

    def fails() -> None:
        made.append("rosters")
        raise TypeError("not what a platform should answer")

    def ends(seconds: float) -> None:
        if len(made) >= 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(sender, "take_rosters", fails)
    monkeypatch.setattr(sender, "send_all", lambda: made.append("scores"))
    fails.__name__ = "take_rosters"
    monkeypatch.setattr(lti_scores.time, "sleep", ends)
    with pytest.raises(KeyboardInterrupt):
        sender.run()
    assert made == ["rosters", "scores"] * 2


@pytest.mark.parametrize(
    "answer", [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000], ids=["no HTTP", "a long line"]
)
def test_an_answer_that_is_none_is_told(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        platform = threading.Thread(target=lambda: answers_once(server, answer), daemon=True)
        platform.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/token"
        with pytest.raises(LtiError, match="does not answer as it should"):
            lti_calls.fetch(lambda asked: True, url)
        platform.join(10)


def test_nobody_waits_for_the_rest_of_a_refusal() -> None:
    """The reason is what has arrived with the refusal."""
    answer = b"HTTP/1.1 422 Unprocessable\r\nContent-Length: 100000\r\nRetry-After: 7\r\n\r\nno such\n user"
    with socket.create_server(("127.0.0.1", 0)) as server:
        over = threading.Event()
        platform = threading.Thread(target=lambda: answers_once(server, answer, over), daemon=True)
        platform.start()
        began = time.monotonic()
        with pytest.raises(LtiError) as refused:
            lti_calls.fetch(lambda asked: True, f"http://127.0.0.1:{server.getsockname()[1]}/scores")
        seconds = time.monotonic() - began
        over.set()
        platform.join(10)
    error = refused.value
    assert (error.status, error.reason, error.wait) == (422, "422 Unprocessable: no such user", 7.0)
    assert error.is_final
    assert seconds < lti_calls.FETCH_SECONDS / 2


def answers_once(server: socket.socket, answer: bytes, over: threading.Event | None = None) -> None:
    """Answer one request, and keep the connection until something is over."""
    connection, _ = server.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(answer)
        if over is not None:
            over.wait(60)


@pytest.mark.slow(held_by="tests/serve/test_lti.py::test_a_score_arrives_once_and_again_until_the_platform_has_it")
def test_a_score_that_the_student_must_not_see_is_not_sent(site: Site, school: School) -> None:
    school.scores.clear()
    erik, _ = signed_in(site, school, "lti-erik", assignment=NAME)
    erik.hands_in(solved(site, "1.1", remark="erik"))
    grade(site)
    text = (site.root / "serve.toml").read_text()
    (site.root / "serve.toml").write_text('[every]\nfeedback = "by hand"\n' + text)
    try:
        assert Sender(site).send_all() == 0
    finally:
        (site.root / "serve.toml").write_text(text)
    assert Sender(site).send_all() == 1
    assert [one["userId"] for one in school.scores] == ["lti-erik"]
    assert attempts.counting(site.store, "lti-erik", NAME) is not None


def test_no_other_address_than_the_platforms_is_asked_for_anything(site: Site, school: School) -> None:
    (platform,) = site.settings.lti.values()
    for url in ("https://evil.example/keys", "http://127.0.0.1:1/keys", "file:///etc/passwd"):
        with pytest.raises(LtiError, match="not an address of a registered platform"):
            lti_calls.fetch(platform.may_fetch, url)
