"""JupyterLab in a temporary folder, and a notebook that is open in it, for tests in a browser."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import BrowserContext, Page, Playwright

from examples.make import ROOT
from tests.browser.chromium import FLAGS, chromium_or_skip

ARTEFACTS = ROOT / "artefacts"
PATIENCE = 240_000  # milliseconds; a busy machine takes its time
OPTIONS = (
    *("--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", "--IdentityProvider.token=test"),
    "--LabApp.expose_app_in_browser=True",
)


@contextmanager
def running_lab(folder: Path, course: Path, command: Sequence[str]) -> Iterator[str]:
    """Run JupyterLab with a command, and yield its address.

    Args:
        folder: the home folder of the person who works there, with all of Jupyter's files.
        course: the folder in which the command runs.
        command: the command, with OPTIONS in it.
    """
    # Without this, JupyterLab asks about news, and the question covers a part of each picture.
    settings = folder / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    environment = {
        **os.environ,
        "HOME": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "GRADER_SECRET": "test",
    }
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=course, env=environment, stdout=log, stderr=subprocess.STDOUT)
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


def open_browser(playwright: Playwright, profile: Path) -> BrowserContext:
    """Open Chromium with its profile in a folder."""
    browser = playwright.chromium.launch_persistent_context(
        profile, executable_path=chromium_or_skip(), args=FLAGS, viewport={"width": 1400, "height": 1000}
    )
    browser.set_default_timeout(PATIENCE)
    return browser


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
