"""The course as people meet it: `make lab` in a real browser. Screenshots are left in artefacts/."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from examples.make import ROOT
from grader.course import lessons
from tests.browser.chromium import chromium_or_skip
from tests.browser.lab import ARTEFACTS, OPTIONS, Notebook, open_browser, running_lab

CHROMIUM = chromium_or_skip()
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
    command = ["make", "-o", "setup", "lab", f"VENV={ROOT / '.venv'}", f"LAB={' '.join(OPTIONS)}"]
    with running_lab(folder, course, command) as address:
        yield address


@pytest.fixture(scope="module")
def page(lab: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = open_browser(playwright, tmp_path_factory.mktemp("chromium"))
        yield browser.pages[0]
        browser.close()


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
    expect(shown.locator("strong")).to_contain_text("Divide them by its square root")
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
