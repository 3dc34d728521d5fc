"""Handing in from a notebook: what the server's API says, whom it lets in, and what `submit()` shows in the notebook."""

from __future__ import annotations

import json
import re
import stat
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from urllib.request import Request

import httpx2
import pytest
from IPython.core.interactiveshell import InteractiveShell

from grader.build import submit
from grader.records import Student
from grader.serve import attempts
from grader.serve.sign_in import new_code
from grader.serve.site import Site, open_site
from tests.classes.gradebook.small_course import NAME, answers
from tests.serve.people import URL, Person, grade, instructor, open_course, solved, student
from tests.serve.running import course_on_free_port, running

PATH = "/api/submissions"
UNKNOWN_CODE = "The server does not know this code or token. Create a new code on the submission page."


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return open_course(tmp_path_factory.mktemp("api") / "course", [Student(id=name) for name in ("ada", "bob", "cem")])


def code_of(site: Site, person: str) -> str:
    return new_code(site.store, site.key, person, 30)


def sends(site: Site, code: str, content: bytes, assignment: str = NAME) -> httpx2.Response:
    files, headers = {"notebook": (f"{NAME}.ipynb", content)}, {"authorization": f"Bearer {code}"}
    return Person.of(site).browser.post(PATH, data={"assignment": assignment}, files=files, headers=headers)


def looks(site: Site, code: str, id: object) -> httpx2.Response:
    return Person.of(site).browser.get(f"{PATH}/{id}", headers={"authorization": f"Bearer {code}"})


def test_a_notebook_is_handed_in_and_its_points_are_read(site: Site) -> None:
    code = code_of(site, "ada")
    answer = sends(site, code, solved(site, "1.1", "1.2", **{"d_k**-0.5": "d_k"}))
    told = answer.json()
    assert (answer.status_code, told["state"], told["is_done"], told["score"]) == (202, "waiting", False, None)
    assert answer.headers["location"] == f"{PATH}/{told['id']}"
    assert told["message"] == "Your attempt is next in the queue."
    grade(site)
    told = looks(site, code, told["id"]).json()
    assert (told["state"], told["is_done"], told["attempt"], told["counts"]) == ("graded", True, 1, True)
    assert told["max_score"] == 100
    assert sum(one["max_points"] for one in told["exercises"]) == 100
    assert told["score"] == sum(one["points"] for one in told["exercises"]) == 5
    (wrong,) = (one for one in told["exercises"] if one["id"] == "1.2")
    assert len(wrong["message"]) > 20
    assert told["url"] == f"{URL}/a/{NAME}/feedback"


def test_what_is_wrong_is_said_as_json(site: Site) -> None:
    code = code_of(site, "ada")
    for answer, status, words in (
        (
            sends(site, code, b"{}", "9-none"),
            404,
            "The assignment '9-none' is not open. The open assignments are: 1-attention",
        ),
        (sends(site, code, b"no notebook"), 400, "This file is not a notebook."),
        (looks(site, code, 999_999), 404, "There is no such submission"),
        (looks(site, code, "../../x"), 404, ""),
        (sends(site, "made-up", b"{}"), 401, "does not know this code or token. Create a new code"),
    ):
        assert answer.status_code == status
        if answer.headers["content-type"].startswith("application/json"):
            assert words in answer.json()["error"]


def test_nobody_sees_the_submission_of_somebody_else(site: Site) -> None:
    bob = code_of(site, "bob")
    id = sends(site, bob, solved(site, remark="bob")).json()["id"]
    assert looks(site, bob, id).status_code == 200
    assert looks(site, code_of(site, "cem"), id).status_code == 404


def test_a_code_works_until_a_new_one_is_made_and_signs_no_browser_in(site: Site) -> None:
    cem = student(site, "cem")
    page = cem.posts("/code").text
    (code,) = hand_codes(page)
    id = sends(site, code, solved(site, remark="cem")).json()["id"]
    assert Person.of(site).opens_link(code).status_code == 403
    headers = {"authorization": f"Bearer {code}"}
    assert Person.of(site).browser.get("/class", headers=headers).status_code == 404
    (newer,) = hand_codes(cem.posts("/code").text)
    assert looks(site, code, id).status_code == 401
    assert looks(site, newer, id).status_code == 200


def hand_codes(page: str) -> list[str]:
    return re.findall(r'<code class="code">([^<]+)</code>', page)


def test_a_personal_link_is_no_code_and_an_instructor_has_none(site: Site) -> None:
    assert sends(site, Person.of(site).link("ada"), solved(site, remark="link")).status_code == 401
    assert instructor(site).posts("/code").status_code == 403


def test_a_form_of_another_site_makes_no_code(site: Site) -> None:
    assert student(site, "cem").browser.post("/code", data={}).status_code == 403


def test_the_limits_of_uploads_hold(site: Site) -> None:
    (site.root / "serve.toml").write_text("[every]\nattempts_an_hour = 2\n")
    code = code_of(site, "bob")
    statuses = [sends(site, code, solved(site, remark=f"limit {number}")).status_code for number in range(3)]
    (site.root / "serve.toml").unlink()
    assert statuses[-1] == 429
    assert sends(site, code, b"{" + b" " * (60 << 20)).status_code == 413


def test_scores_wait_where_feedback_waits(site: Site) -> None:
    code = code_of(site, "cem")
    id = sends(site, code, solved(site, "1.1", remark="later")).json()["id"]
    grade(site)
    (site.root / "serve.toml").write_text('[every]\nfeedback = "by hand"\n')
    told = looks(site, code, id).json()
    (site.root / "serve.toml").unlink()
    assert (told["state"], told["score"], told["exercises"], told["url"]) == ("graded", None, None, f"{URL}/a/{NAME}")


# ---------------------------------------------------------------- in the notebook


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What the student types; the home folder is an empty one, and nothing else tells a code."""
    lines: list[str] = []

    def answer(question: str = "") -> str:
        if not lines:
            raise EOFError
        return lines.pop(0)

    monkeypatch.setattr("builtins.input", answer)
    monkeypatch.setattr("getpass.getpass", answer)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("JPY_SESSION_NAME", "JUPYTERHUB_API_TOKEN", submit.SECRET):
        monkeypatch.delenv(name, raising=False)
    return lines


def that_ran(*sources: str) -> dict[str, object]:
    """Return the names of a notebook in which these cells ran."""
    shell = SimpleNamespace(history_manager=SimpleNamespace(input_hist_raw=list(sources)))
    return {"get_ipython": lambda: shell}


def saved(folder: Path, content: bytes) -> Path:
    path = folder / f"{NAME}.ipynb"
    path.write_bytes(content)
    return path


def test_a_journey_from_a_wrong_answer_to_all_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The real server grades: the cause is read in the notebook, and then the points."""
    monkeypatch.setenv("GRADER_SECRET", "test")
    course = course_on_free_port(tmp_path / "course", [Student(id="ada")])
    site = open_site(course.root, None)
    monkeypatch.setattr(submit, "LOOK_SECONDS", 0.2)
    with running(course) as server:
        path = saved(tmp_path, solved(site, "1.1", "1.2", **{"d_k**-0.5": "d_k"}))
        names = {"__vsc_ipynb_file__": str(path), **that_ran("", answers()["1.1"])}
        code = code_of(site, "ada")
        typed += [code, "yes"]
        submit.submit(names, NAME, server)
        said = capsys.readouterr().out
        assert "create a code under “Submit from the notebook”" in said
        assert "Attempt 1: 5 of 100 points" in said
        assert re.search("✘ 1.2 .*, 0 of 5 points: .{20}", said)
        assert f"{server}/a/{NAME}/feedback" in said
        kept = submit._file_of_code(server)
        assert (kept.read_text(), stat.S_IMODE(kept.stat().st_mode)) == (code, 0o600)
        assert code not in said
        saved(tmp_path, solved(site, "1.1", "1.2"))
        typed += ["yes"]  # the code is not asked for again
        submit.submit(names, NAME, server)
        said = capsys.readouterr().out
        assert "Attempt 2: 10 of 100 points" in said
        assert "☐ not solved yet: 1.3, 1.4" in said
        typed += ["no"]
        submit.submit(names, NAME, server)
        assert "Nothing was submitted." in capsys.readouterr().out
        student_code = code_of(site, "ada")  # a new code: the old one works no more, and is forgotten
        typed += ["yes"]
        submit.submit(names, NAME, server)
        said = capsys.readouterr().out
        assert said == f"✘ Nothing was submitted: {UNKNOWN_CODE} Then run this cell again.\n"
        assert not kept.exists()
        monkeypatch.setenv(submit.SECRET, "of last year")
        typed += ["yes"]
        submit.submit(names, NAME, server)
        assert f"{UNKNOWN_CODE} Replace {submit.SECRET} with it. Then" in capsys.readouterr().out
        assert student_code
    assert attempts.attempts_of(site.store, "ada")[0].score == 10.0


Way = Callable[[pytest.MonkeyPatch, Path], dict[str, object]]


def by_session(patched: pytest.MonkeyPatch, path: Path) -> dict[str, object]:
    patched.setenv("JPY_SESSION_NAME", str(path))
    return {}


def by_vs_code(patched: pytest.MonkeyPatch, path: Path) -> dict[str, object]:
    return {"__vsc_ipynb_file__": str(path)}


def in_colab(patched: pytest.MonkeyPatch, path: Path) -> dict[str, object]:
    colab, message, userdata = (ModuleType(f"google.colab{name}") for name in ("", "._message", ".userdata"))
    told = {"ipynb": json.loads(path.read_bytes())}
    message.blocking_request = lambda what, request="", timeout_sec=None: told if what == "get_ipynb" else None
    userdata.get = lambda name: "from the secrets" if name == submit.SECRET else None
    colab._message, colab.userdata = message, userdata
    for name, module in (("google.colab", colab), ("google.colab._message", message)):
        patched.setitem(sys.modules, name, module)
    patched.setitem(sys.modules, "google", ModuleType("google"))
    return {}


def elsewhere(patched: pytest.MonkeyPatch, path: Path) -> dict[str, object]:
    """Find nothing: the student types the path."""
    patched.setattr("builtins.input", lambda question: f" {path} " if "path of this notebook" in question else "")
    return {}


@pytest.mark.parametrize("way", [by_session, by_vs_code, in_colab, elsewhere])
def test_the_notebook_is_found_in_each_front_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str], way: Way
) -> None:
    path = saved(tmp_path, json.dumps({"nbformat": 4, "cells": [{"source": ["# @exercise 1.1\n", "x = 1"]}]}).encode())
    names = way(monkeypatch, path)
    assert json.loads(submit._content(names, NAME, "")) == json.loads(path.read_bytes())
    if way is in_colab:
        assert submit._token("https://grade.example.org") == "from the secrets"
    other = path.rename(path.with_name("other.ipynb"))  # since the kernel started
    assert json.loads(submit._content(names, NAME, str(other))) == json.loads(other.read_bytes())


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("# @exercise 1.1\nx = 2", "differs from the answer that you ran (exercise 1.1). Save the notebook"),
        ("# @exercise 1.1\nx = 1\n", ""),
        ("y = 3", "differs from the answer that you ran (exercise 1.1)"),
    ],
)
def test_a_file_that_was_not_saved_is_not_handed_in(
    tmp_path: Path, typed: list[str], capsys: pytest.CaptureFixture[str], run: str, message: str
) -> None:
    cells = [{"source": "# @exercise 1.1\nx = 1"}]
    path = saved(tmp_path, json.dumps({"nbformat": 4, "cells": cells}).encode())
    names = {"__vsc_ipynb_file__": str(path), **that_ran("", "# @exercise 1.1\nx = 0", run)}
    submit.submit(names, NAME, "https://127.0.0.1:9")
    said = capsys.readouterr().out
    assert (message in said) if message else ("differs from" not in said)
    assert said.startswith(("✘ ", "Open https"))


def test_an_answer_with_a_magic_is_compared_as_it_was_typed() -> None:
    shell, source = InteractiveShell(), "# @exercise 1.1\n%time x = 1"
    shell.run_cell(source, store_history=True)
    assert source not in {text.strip() for text in shell.user_ns["In"]}
    assert submit._not_saved({"get_ipython": lambda: shell}, [source]) == []
    assert submit._not_saved({"get_ipython": lambda: shell}, ["# @exercise 1.1\nx = 1"]) == ["1.1"]


def test_what_fails_after_handing_in_does_not_say_that_nothing_was_handed_in(
    tmp_path: Path, typed: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, b'{"nbformat": 4, "cells": []}')
    typed += ["a code", "yes"]
    sent = {"id": 7, "attempt": 3, "is_done": False, "message": "In the queue.", "url": "https://grade.example.org/a/1"}

    def refuse(*arguments: object) -> None:
        raise submit.CannotSubmit("Too many requests. Wait a minute.")

    monkeypatch.setattr(submit, "_post", lambda *arguments: sent)
    monkeypatch.setattr(submit, "_wait", refuse)
    submit.submit({"__vsc_ipynb_file__": str(path)}, NAME, "https://grade.example.org")
    *_, first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Attempt 3 is submitted, but its points cannot be shown here: Too many requests.")
    assert second == sent["url"]


def test_who_is_refused_by_jupyterhub_submits_with_a_code(
    typed: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refusal, codes = "JupyterHub does not allow you to submit here. Tell your instructor.", []

    def answer(request: Request) -> dict[str, object]:
        if request.full_url.endswith("/api"):
            return {"hub": True}
        codes.append(request.get_header("Authorization"))
        if codes[-1] == "Bearer of the hub":
            raise submit._WrongToken(refusal)
        return {"id": 7, "attempt": 1, "state": "waiting", "is_done": request.data is None, "message": "In the queue.",
                "score": None, "counts": True, "exercises": None, "url": "https://grade.example.org/a/1"}  # fmt: skip

    monkeypatch.setattr(submit, "_ask", answer)
    monkeypatch.setattr(submit, "LOOK_SECONDS", 0.0)
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of the hub")
    path = saved(tmp_path, b'{"nbformat": 4, "cells": []}')
    for typed_in in (["yes", "my code"], ["yes"]):  # the second time, the file has the code
        typed += typed_in
        submit.submit({"__vsc_ipynb_file__": str(path)}, NAME, "https://grade.example.org")
    said = capsys.readouterr().out
    assert (
        said.count(f"{refusal} You can submit with a code instead.\nOpen https://grade.example.org, create a code") == 1
    )
    assert said.count("Attempt 1: In the queue.") == 2
    assert codes == ["Bearer of the hub", *["Bearer my code"] * 4]  # also while the grade is waited for


def test_many_requests_with_one_code_are_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.serve.guard.REQUESTS_A_MINUTE", 5)
    browser, headers = Person.of(site).browser, {"authorization": f"Bearer {code_of(site, 'cem')}"}
    statuses = [browser.get(f"{PATH}/0", headers=headers).status_code for _ in range(8)]
    assert statuses == [404] * 5 + [429] * 3


def test_whoever_runs_all_cells_hands_in_nothing_and_reads_one_line(
    tmp_path: Path, typed: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(submit.SECRET, "a code")
    path = saved(tmp_path, b'{"nbformat": 4, "cells": []}')
    for names, server, words in (
        ({}, "", "upload the file 1-attention.ipynb to the page that your instructor has named"),
        ({}, "http://grade.example.org", "does not begin with https://"),
        ({}, "https://grade.example.org", "Run only this cell"),
        ({"__vsc_ipynb_file__": str(path)}, "https://grade.example.org", "Run only this cell"),
        ({"__vsc_ipynb_file__": str(tmp_path / "none.ipynb")}, "https://grade.example.org", "cannot be read"),
        ({"__vsc_ipynb_file__": __file__.replace(".py", ".ipynb")}, "https://grade.example.org", "cannot be read"),
    ):
        submit.submit(names, NAME, server)
        said = capsys.readouterr().out
        assert words in said
        assert said.count("\n") == 1


def test_the_code_goes_to_no_other_host(typed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by a redirect, nor JupyterHub's token to a server that has no hub."""
    seen: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers.get("Authorization", "")))
            if self.path == "/api":
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b'{"hub": false}')
            else:
                self.send_response(302)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

        def log_message(self, *arguments: object) -> None:
            """Be quiet."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        with pytest.raises(submit.CannotSubmit):
            submit._wait(address, "secret", {"is_done": False, "message": "", "id": 1})
        monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of the hub")
        typed.append("typed")
        assert submit._token(address) == "typed"
        server.shutdown()
    assert [path for path, _ in seen] == [f"{PATH}/1", "/api"]
    assert "of the hub" not in {signed for _, signed in seen}
