"""The course as people meet it: `make lab` in a real browser. Screenshots are left in artefacts/."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect, sync_playwright

from examples.make import ROOT
from grader.course import lessons
from tests.browser.chromium import FLAGS, chromium_or_skip

CHROMIUM = chromium_or_skip()

ARTEFACTS = ROOT / "artefacts"
PATIENCE = 240_000  # milliseconds; a busy machine takes its time
STUDENT = "no-scaling"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of JupyterLab, started by `make lab` in a copy of the course."""
    folder = tmp_path_factory.mktemp("lab")
    course = folder / "course"
    for name in ("solutions", "notebooks"):
        shutil.copytree(ROOT / name, course / name, ignore=shutil.ignore_patterns("*.py"))
    for name in ("Makefile", "nbgrader_config.py"):
        shutil.copy(ROOT / name, course)
    shutil.copytree(ROOT / "examples" / "submitted" / STUDENT, course / "submitted" / STUDENT)
    # Or a question about news from Jupyter stands on every picture.
    settings = folder / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    options = "--no-browser --allow-root --ip=127.0.0.1 --port=0 --IdentityProvider.token=test"
    options += " --LabApp.expose_app_in_browser=True"
    environment = {
        **os.environ,
        "HOME": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "GRADER_SECRET": "test",
    }
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            ["make", "-o", "setup", "lab", f"VENV={ROOT / '.venv'}", f"LAB={options}"],
            cwd=course,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield address(folder / "runtime", process, folder / "log")
    finally:
        for file in (folder / "runtime").glob("jpserver-*.json"):
            os.kill(json.loads(file.read_text())["pid"], 15)
        process.wait(PATIENCE / 1000)  # it ends the kernels first


def address(runtime: Path, process: subprocess.Popen, log: Path) -> str:
    """Where the server listens, once it answers."""
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline and process.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            try:
                url = json.loads(file.read_text())["url"]
                urllib.request.urlopen(f"{url}api/status?token=test", timeout=5).close()
            except (OSError, ValueError):
                continue
            return url
        time.sleep(0.2)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()}")


@pytest.fixture(scope="module")
def page(lab: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("chromium"),
            executable_path=CHROMIUM,
            args=FLAGS,
            viewport={"width": 1400, "height": 1000},
        )
        one = browser.pages[0]
        one.set_default_timeout(PATIENCE)
        yield one
        browser.close()


class Notebook:
    """A student notebook, open in JupyterLab."""

    def __init__(self, page: Page, lab: str, name: str) -> None:
        self.page, self.name = page, name
        solution = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4)
        self.answers = {cell.id: cell.source for cell in solution.cells}
        page.goto(f"{lab}lab/tree/notebooks/{name}/{name}.ipynb?reset&token=test")
        page.wait_for_function(
            """name => {
                const shown = window.jupyterapp?.shell.currentWidget;
                return shown?.title?.label === name && shown.content?.widgets?.length > 20
                    && shown.sessionContext.session?.kernel?.status === 'idle';
            }""",
            arg=f"{name}.ipynb",
        )

    def _in_notebook(self, script: str, argument: object = None) -> object:
        start = "const notebook = window.jupyterapp.shell.currentWidget.content;"
        start += "const place = id => notebook.widgets.findIndex(cell => cell.model.id === id);"
        return self.page.evaluate(f"async argument => {{ {start} {script} }}", argument)

    def select(self, cell: str) -> None:
        """Make a cell the active one, in sight."""
        script = "notebook.activeCellIndex = place(argument); notebook.deselectAll(); notebook.mode = 'command';"
        self._in_notebook(script + "await notebook.scrollToItem(place(argument), 'start');", cell)
        self.page.locator(".jp-Notebook .jp-mod-active").scroll_into_view_if_needed()

    def type_answer(self, cell: str) -> None:
        """Write the solution into an exercise's cell, as with the keyboard."""
        self.select(cell)
        self.page.locator(".jp-Notebook .jp-mod-active .cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(self.answers[cell])

    def fill(self, *cells: str) -> None:
        """Put the solutions of other exercises in."""
        for cell in cells:
            script = "notebook.widgets[place(argument[0])].model.sharedModel.setSource(argument[1])"
            self._in_notebook(script, [cell, self.answers[cell]])

    def press_run(self, cell: str) -> str:
        """Run a cell with Shift+Enter; what it says, as text."""
        self.select(cell)
        self.page.keyboard.press("Shift+Enter")
        return self.said(cell)

    def run_until(self, cell: str) -> str:
        """Run everything above a cell, and the cell."""
        self.select(cell)
        self._in_notebook(
            "await window.jupyterapp.commands.execute('notebook:run-all-above');"
            "notebook.activeCellIndex = place(argument);"
            "await window.jupyterapp.commands.execute('notebook:run-cell');",
            cell,
        )
        return self.said(cell)

    def run_all(self, last: str) -> str:
        """Run all cells, as the menu does, and return what the last one says."""
        self._in_notebook("await window.jupyterapp.commands.execute('notebook:run-all-cells');")
        return self.said(last)

    def said(self, cell: str) -> str:
        """The outputs of a cell when nothing runs any more."""
        self.page.wait_for_function(
            """id => {
                const panel = window.jupyterapp.shell.currentWidget;
                const cell = panel.content.widgets.find(cell => cell.model.id === id);
                return panel.sessionContext.session.kernel.status === 'idle'
                    && cell.model.executionState !== 'running' && cell.model.executionCount !== null;
            }""",
            arg=cell,
        )
        self.select(cell)
        return json.dumps(
            self._in_notebook("return notebook.widgets[place(argument)].model.outputs.toJSON()", cell),
            ensure_ascii=False,
        )

    def figure(self, cell: str) -> None:
        """Wait for a picture under a cell, and see that it has a size."""
        self.select(cell)
        picture = self.page.locator(".jp-Notebook .jp-mod-active .jp-OutputArea img").first
        picture.wait_for()
        assert picture.evaluate("image => image.naturalWidth") > 200

    def picture(self) -> str:
        """The picture under the active cell."""
        return self.page.locator(".jp-Notebook .jp-mod-active .jp-OutputArea img").first.get_attribute("src")

    def another_picture(self, before: str) -> None:
        """Wait until another picture stands under the active cell."""
        self.page.wait_for_function(
            """before => {
                const picture = document.querySelector('.jp-Notebook .jp-mod-active .jp-OutputArea img');
                return picture && picture.src && picture.src !== before;
            }""",
            arg=before,
        )

    def screenshot(self, what: str) -> None:
        ARTEFACTS.mkdir(exist_ok=True)
        self.page.wait_for_timeout(300)
        self.page.screenshot(path=ARTEFACTS / f"{self.name}-{what}.png")

    def close(self) -> None:
        """Give its kernel's memory back."""
        self._in_notebook("await window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")


def solve(notebook: Notebook, exercise: str) -> None:
    """The check says "not solved yet" before, and that it is right afterwards."""
    slug = exercise.replace(".", "-")
    said = notebook.run_until(f"check-{slug}")
    assert f"☐ {exercise}" in said
    assert "Traceback" not in said
    notebook.screenshot(f"{slug}-todo")
    notebook.type_answer(f"exercise-{slug}")
    notebook.press_run(f"exercise-{slug}")
    said = notebook.press_run(f"check-{slug}")
    assert f"✔ {exercise}" in said
    notebook.screenshot(f"{slug}-passed")


def see_what_is_wrong(notebook: Notebook) -> None:
    """A wrong 1.2 is told what to do; its numbers are folded until they are wanted. On a desk, in the dark, on a phone."""
    page = notebook.page
    source = "def scaled_scores(query, key):\n    return attention_scores(query, key) / key.shape[-1]"
    notebook._in_notebook("notebook.widgets[place('exercise-1-2')].model.sharedModel.setSource(argument)", source)
    notebook.press_run("exercise-1-2")
    notebook.press_run("check-1-2")
    shown = page.locator(".jp-Notebook .jp-mod-active .jp-OutputArea")
    expect(shown.locator("strong")).to_contain_text("Take its square root")
    expect(shown.locator("details pre")).not_to_be_visible()
    notebook.screenshot("1-2-wrong")
    shown.locator("summary").click()
    expect(shown.locator("details pre")).to_contain_text("d_k =")
    notebook.screenshot("1-2-wrong-unfolded")
    command = "window.jupyterapp.commands.execute"
    page.evaluate(f"{command}('apputils:change-theme', {{theme: 'JupyterLab Dark'}})")
    page.evaluate(f"{command}('application:toggle-left-area')")
    page.set_viewport_size({"width": 375, "height": 800})
    notebook.screenshot("1-2-wrong-phone")
    page.set_viewport_size({"width": 1400, "height": 1000})
    page.evaluate(f"{command}('application:toggle-left-area')")
    page.evaluate(f"{command}('apputils:change-theme', {{theme: 'JupyterLab Light'}})")


def see_it_change(notebook: Notebook, cell: str, act: Callable[[], object]) -> None:
    """Run as far as a cell with a picture, do something to its control, and wait for another picture."""
    notebook.run_until(cell)
    notebook.figure(cell)
    notebook.screenshot(cell)
    before = notebook.picture()
    act()
    notebook.another_picture(before)
    notebook.screenshot(f"{cell}-changed")


def test_lesson_1_solved_in_the_browser_and_the_slider_moves_the_maps(page: Page, lab: str) -> None:
    notebook = Notebook(page, lab, "1-attention")
    notebook.screenshot("opened")
    assert "Next: exercise 1.1." in notebook.run_all("stand")
    solve(notebook, "1.1")
    see_what_is_wrong(notebook)
    notebook.type_answer("exercise-1-2")
    slider = page.locator(".jp-Notebook .jp-mod-active [role=slider]").first
    see_it_change(notebook, "scale-slider", lambda: slider.press("ArrowLeft"))
    notebook.close()


@pytest.mark.slow(
    held_by="tests/browser/test_jupyterlab.py::test_lesson_1_solved_in_the_browser_and_the_slider_moves_the_maps"
)
def test_lesson_2_solved_in_the_browser_until_its_first_maps(page: Page, lab: str) -> None:
    notebook = Notebook(page, lab, "2-heads")
    notebook.screenshot("opened")
    solve(notebook, "2.1")
    notebook.fill("exercise-2-2", "exercise-2-3")
    notebook.run_until("draw-similarities")
    notebook.figure("draw-similarities")
    notebook.screenshot("maps")
    notebook.close()


@pytest.mark.slow(
    held_by="tests/browser/test_jupyterlab.py::test_lesson_1_solved_in_the_browser_and_the_slider_moves_the_maps"
)
def test_lesson_3_solved_in_the_browser_and_a_head_is_picked(page: Page, lab: str) -> None:
    notebook = Notebook(page, lab, "3-vlm")
    notebook.screenshot("opened")
    solve(notebook, "3.1")
    exercises = [one.id.replace(".", "-") for one in lessons()["3-vlm"].exercises if one.id.split(".")[1] in "2345678"]
    notebook.fill(*(f"exercise-{slug}" for slug in exercises))
    notebook._in_notebook(
        "const setup = notebook.widgets[place('setup')].model.sharedModel;"
        "setup.setSource(setup.getSource().replace('train_steps = None', 'train_steps = 30'))"
    )
    picker = page.locator(".jp-Notebook .jp-mod-active select").last
    see_it_change(notebook, "pick-map", lambda: picker.select_option("head 2"))
    notebook.close()


@pytest.mark.slow(held_by="tests/classes/gradebook/test_formgrader.py::test_a_comment_goes_round")
def test_formgrader_generates_autogrades_and_shows_a_score(page: Page, lab: str) -> None:
    page.goto(f"{lab}formgrader?token=test")
    row = page.locator("tr", has_text="1-attention")
    row.locator(".assign a").click()
    finished(page, "Successfully created")
    row.locator(".preview a").wait_for()
    page.screenshot(path=ARTEFACTS / "formgrader-assignments.png")
    page.goto(f"{lab}formgrader/manage_submissions/1-attention")
    row = page.locator("tr", has_text=STUDENT)
    row.locator(".autograde a").click()
    finished(page, "Successfully autograded")
    row.locator(".score", has_text=re.compile(r"80\s*/\s*100")).wait_for()
    row.locator(".generate-feedback a").click()
    finished(page, "Successfully generated feedback")
    row.locator(".score", has_text="80").wait_for()
    page.screenshot(path=ARTEFACTS / "formgrader-submissions.png")
    page.goto(f"{lab}formgrader/gradebook/1-attention/1-attention")
    page.get_by_text("Submission #1").click()
    expect(page.locator("input.score")).to_have_count(11)  # nine exercises and two questions
    page.screenshot(path=ARTEFACTS / "formgrader-submission.png")


def finished(page: Page, message: str) -> None:
    """Wait for formgrader's dialogue, read it and close it."""
    dialogue = page.locator(".modal.in, .modal.show").last
    dialogue.wait_for()
    assert message in dialogue.inner_text()
    page.reload()
