"""A student submits from Colab: a wrong answer, its cause in the notebook, a correct answer, and all points.

Colab itself is not here. In its place is a kernel that cannot import the grader, and whose package `google.colab`
gives the page's copy of the notebook and the student's secrets. The server and the cells are the real ones.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client import BlockingKernelClient, KernelManager

from examples.make import colab
from grader.course import lessons
from grader.records import Student
from grader.serve.sign_in import new_code
from grader.serve.site import open_site
from grader.submission.cells import with_server
from tests.classes.gradebook.small_course import NAME, answers
from tests.notebooks.test_colab import BLOCK
from tests.serve.people import solved
from tests.serve.running import PATIENCE, course_on_free_port, running

CELLS = ("setup", "start", "tools", "exercise-1-1", "submit")  # that the student runs
RIGHT, WRONG, MISTAKE = "->...qk", "->...kq", "queries_in_columns"
PACKAGE = {
    "sitecustomize.py": BLOCK,
    "google/__init__.py": "",
    "google/colab/__init__.py": "from . import _message, userdata\n",
    "google/colab/_message.py": """\
import json

def blocking_request(request_type, request="", timeout_sec=5, parent=None):
    return {"ipynb": json.load(open("../page.ipynb"))} if request_type == "get_ipynb" else None
""",
    "google/colab/userdata.py": """\
import json

class SecretNotFoundError(Exception):
    pass

def get(key):
    secrets = json.load(open("../secrets.json"))
    if key not in secrets:
        raise SecretNotFoundError(f"Secret {key} does not exist.")
    return secrets[key]
""",
}


class Colab:
    """A student's notebook in Colab: a page, its secrets, and a kernel."""

    def __init__(self, folder: Path, client: BlockingKernelClient) -> None:
        self._folder, self._client = folder, client
        self.prompts: list[tuple[str, bool]] = []  # that the cells showed, and whether each hid the answer

    def keep(self, **secrets: str) -> None:
        """Write the secrets."""
        (self._folder / "secrets.json").write_text(json.dumps(secrets))

    def write(self, notebook: str) -> None:
        """Let the page show a notebook. Nothing saves it as a file for the kernel."""
        self._cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(notebook)["cells"]}
        (self._folder / "page.ipynb").write_bytes(colab(notebook.encode()))

    def run(self, *cells: str, typed: tuple[str, ...] = ()) -> str:
        """Run cells, answer their questions, and return what the last one prints."""
        waiting, printed = list(typed), list[str]()

        def answer(message: dict[str, Any]) -> None:
            self.prompts.append((message["content"]["prompt"], message["content"]["password"]))
            self._client.input(waiting.pop(0))

        def show(message: dict[str, Any]) -> None:
            assert message["msg_type"] != "error", message["content"]["traceback"]
            printed.append(message["content"].get("text", "") if message["msg_type"] == "stream" else "")

        for cell in cells:
            printed.clear()
            self._client.execute_interactive(
                self._cells[cell], timeout=PATIENCE, output_hook=show, stdin_hook=answer, store_history=True
            )
        assert waiting == []
        return "".join(printed)


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Colab]:
    for name, text in PACKAGE.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("content", "home"):
        (tmp_path / name).mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "HOME": str(tmp_path / "home")}
    for name in ("COURSE_CODE", "JPY_SESSION_NAME", "JUPYTERHUB_API_TOKEN"):
        environment.pop(name, None)
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=environment, cwd=str(tmp_path / "content"))
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=PATIENCE)
    yield Colab(tmp_path, client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.slow(held_by="tests/serve/test_api.py::test_a_journey_from_a_wrong_answer_to_all_its_points")
def test_a_wrong_answer_is_submitted_explained_fixed_and_gets_all_its_points(
    tmp_path: Path, page: Colab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    course = course_on_free_port(tmp_path / "course", [Student(id="ada")])
    site = open_site(course.root, None)
    (exercise,) = (each for each in lessons()[NAME].exercises if each.id == "1.1")
    (cause,) = (mistake.hint for mistake in exercise.mistakes if mistake.name == MISTAKE)
    with running(course) as server:
        right = with_server(solved(site, *answers()).decode(), server)
        assert right.count(RIGHT) == 1
        page.keep()
        page.write(right.replace(RIGHT, WRONG))
        code = new_code(site.store, site.key, "ada", 30)
        said = page.run(*CELLS, typed=(code, "yes"))
        assert "To keep it, store it in Colab's Secrets as COURSE_CODE." in said
        assert f"✘ 1.1 {exercise.title}, 0 of {exercise.points:g} points: {cause}" in said
        assert code not in said
        page.keep(COURSE_CODE=code)  # in a new machine, the file with the code is gone
        (tmp_path / "home" / ".attention-course" / server.partition("//")[2].replace(":", "_")).unlink()
        page.write(right)
        said = page.run(*CELLS[-2:], typed=("yes",))
        assert "Attempt 2: 100 of 100 points" in said
        assert f"{server}/a/{NAME}/feedback" in said
    assert page.prompts == [("Your code: ", True), *[(f"Submit {NAME} now? Type yes: ", False)] * 2]
