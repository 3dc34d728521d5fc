"""A person can use the explorer: with a mouse, with the keyboard alone, with a screen reader. Pictures: artefacts/."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
import torch
from attention.data.digits import POSITIONS
from attention.data.tokens import EOS, decode, encode
from attention.experiments.recipe import MODEL, draw_start
from attention.generation import generate
from attention.grounding import value_weighted_map
from attention.measures.evaluation import looked
from attention.plots.explorer import export_explorer
from attention.vlm import MiniVLM
from playwright.sync_api import Page, expect
from torch import Tensor

from examples.make import ROOT
from tests.browser.explorer_models import COMMITTED, in_page, patches_of, without

ARTEFACTS = ROOT / "artefacts"


@pytest.fixture
def explorer(offline_page: Page) -> Page:
    """The committed page with the scene 1 … 9, asked where the 1 is."""
    offline_page.goto(COMMITTED.as_uri())
    offline_page.evaluate(
        """() => {
            state.scene = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(label => nextWithLabel(digits, label, -1));
            state.question.digit = 1;
            state.picked = 0;
            render();
        }"""
    )
    return offline_page


def labels(page: Page) -> list[int | None]:
    """The labels of the scene, None where it is blank."""
    return page.evaluate("state.scene.map(digit => digit === null ? null : digits[digit].label)")


def tensors_of(page: Page) -> tuple[Tensor, Tensor]:
    """The prompt (P,) and the patches (9, 64) as the page has them, from what it shows alone."""
    asked = page.locator("#task option:checked").inner_text()
    shown = page.locator(".ask select:visible").last.locator("option:checked").inner_text()
    return encode(f"{asked} {shown} ?"), patches_of(page.evaluate("state.scene"))


def said_by_pytorch(page: Page, model: MiniVLM) -> str:
    """What the model answers to the question about the scene on the page."""
    prompt, patches = tensors_of(page)
    token_ids = generate(model, prompt.unsqueeze(0), patches.unsqueeze(0), 4, EOS)
    return decode(token_ids[0, len(prompt) :])


def press_tab_until(page: Page, target: str) -> None:
    """Go on with the Tab key until the element that a selector names has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("target => document.activeElement.matches(target)", target):
            return
    raise AssertionError(f"Tab does not lead to {target}")


def test_with_the_keyboard_alone(explorer: Page) -> None:
    model = in_page(COMMITTED)[0]
    press_tab_until(explorer, "#task")
    explorer.keyboard.press("ArrowDown")
    press_tab_until(explorer, "#position")
    explorer.keyboard.press("ArrowDown")
    expect(explorer.get_by_role("status")).to_contain_text("top-center shows 2")
    assert explorer.locator("#said").inner_text() == said_by_pytorch(explorer, model) == "2"

    press_tab_until(explorer, "[name=cell]")
    explorer.keyboard.press("ArrowRight")
    explorer.keyboard.press("7")
    assert labels(explorer) == [1, 7, 3, 4, 5, 6, 7, 8, 9]
    expect(explorer.get_by_role("radio", name="top-center: 7, the patch in question")).to_be_focused()
    expect(explorer.get_by_role("status")).to_contain_text("Before: 2")
    assert explorer.locator("#said").inner_text() == said_by_pytorch(explorer, model) == "7"
    explorer.keyboard.press("ArrowDown")
    explorer.keyboard.press("Delete")
    assert labels(explorer) == [1, 7, 3, 4, None, 6, 7, 8, 9]
    expect(explorer.get_by_role("radio", name="center: blank")).to_be_focused()

    press_tab_until(explorer, "#palette button[aria-label='Put in a 0']")
    explorer.keyboard.press("Enter")
    assert labels(explorer) == [1, 7, 3, 4, 0, 6, 7, 8, 9]
    press_tab_until(explorer, "#swap-with")
    explorer.keyboard.press("Home")
    press_tab_until(explorer, "#swap")
    explorer.keyboard.press("Enter")
    assert labels(explorer) == [0, 7, 3, 4, 1, 6, 7, 8, 9]
    expect(explorer.locator("#swap")).to_be_focused()

    press_tab_until(explorer, "[role=switch][aria-label='Head 0 on']")
    explorer.keyboard.press("Space")
    expect(explorer.get_by_role("switch", name="Head 0 on", exact=True)).to_be_focused()
    expect(explorer.get_by_role("status")).to_contain_text("Without head 0.")
    silent = without(model, ["blocks.1.cross_attn/0"])
    assert explorer.locator("#said").inner_text() == said_by_pytorch(explorer, silent)

    press_tab_until(explorer, "summary")
    explorer.keyboard.press("Enter")
    press_tab_until(explorer, "[role=switch][aria-label='Block 2, head 2 on']")
    explorer.keyboard.press("Space")
    expect(explorer.get_by_role("switch", name="Block 2, head 2 on")).to_be_focused()
    expect(explorer.get_by_role("status")).to_contain_text("Without Block 2, head 2, head 0.")


def test_every_control_has_a_name_and_the_focus_goes_as_the_eye_does(explorer: Page) -> None:
    name = """(document.activeElement.ariaLabel || document.activeElement.labels?.[0]?.textContent
        || document.activeElement.textContent).trim()"""
    top = "document.activeElement.closest('section, details').getBoundingClientRect().y + scrollY"
    names, tops = [], []
    for _ in range(60):
        explorer.keyboard.press("Tab")
        if explorer.evaluate("document.activeElement === document.body"):
            break
        names.append(explorer.evaluate(name))
        tops.append(explorer.evaluate(top))
        if names[-1] == "Where the words look":
            explorer.keyboard.press("Enter")
    assert all(names)
    assert tops == sorted(tops)
    assert names[-1] == "Block 2, head 3 on"
    palette = [f"Put in a {label}" for label in range(10)]
    assert [name for name in names if name.startswith("Put")] == palette
    assert [name for name in names if re.fullmatch(r"Head \d on", name)] == [f"Head {head} on" for head in range(4)]


def test_a_map_can_be_read_without_seeing_it(explorer: Page) -> None:
    model = in_page(COMMITTED)[0]
    prompt, patches = tensors_of(explorer)
    asking, image_tokens, weights = looked(model, prompt.unsqueeze(0), patches.unsqueeze(0))
    with torch.no_grad():
        weighted = value_weighted_map(model.blocks[-1].cross_attn, asking, image_tokens)[0, -1]
    shares = [weighted / weighted.sum(), *weights[0, :, -1]]
    tables = explorer.locator("table.scene-map").all()
    assert len(tables) == 5
    for table, share in zip(tables, shares, strict=True):
        read = [cell.text_content() for cell in table.get_by_role("cell").all()]
        told = [(place, str(label)) for place, label in zip(POSITIONS, range(1, 10), strict=True)]
        assert [tuple(text.split(": ")[0].split(", ")) for text in read] == told
        for text, value in zip(read, share.tolist(), strict=True):
            assert abs(float(text.split(": ")[1].removesuffix(" %")) - 100 * value) <= 0.51
        best = POSITIONS[int(share.argmax())]
        assert table.locator("caption").inner_text().endswith(f" on {best}")


def test_dragging_puts_a_digit_in_and_swaps_two(explorer: Page) -> None:
    drag(explorer, "#palette button:nth-child(1)", ".cell[data-place='4']")
    assert labels(explorer) == [1, 2, 3, 4, 0, 6, 7, 8, 9]
    drag(explorer, ".cell[data-place='4']", ".cell[data-place='8']")
    assert labels(explorer) == [1, 2, 3, 4, 9, 6, 7, 8, 0]
    drag(explorer, ".cell[data-place='4']", "h1")  # dropped beside the scene
    assert labels(explorer) == [1, 2, 3, 4, 9, 6, 7, 8, 0]
    explorer.get_by_role("button", name="Undo").click()
    explorer.get_by_role("button", name="Undo").click()
    assert labels(explorer) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    expect(explorer.get_by_role("button", name="Undo")).to_be_disabled()


def drag(page: Page, source: str, target: str) -> None:
    for selector, act in ((source, page.mouse.down), (target, page.mouse.up)):
        box = page.locator(selector).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
        act()


def draw_a_seven(explorer: Page) -> None:
    """Open the dialogue, and draw a 7 with the mouse."""
    explorer.get_by_role("button", name="Write one").click()
    expect(explorer.get_by_role("button", name="Put it in")).to_be_disabled()
    box = explorer.locator("#pad").bounding_box()
    for number, (x, y) in enumerate([(0.3, 0.2), (0.75, 0.2), (0.45, 0.85)]):
        explorer.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=5)
        if number == 0:
            explorer.mouse.down()
    explorer.mouse.up()


def test_a_digit_of_ones_own(explorer: Page) -> None:
    explorer.evaluate("pick(4)")
    draw_a_seven(explorer)
    explorer.get_by_label("Which digit is it?").select_option("7")
    explorer.get_by_role("button", name="Put it in").click()
    expect(explorer.get_by_role("button", name="Write one")).to_be_focused()
    assert labels(explorer) == [1, 2, 3, 4, 7, 6, 7, 8, 9]
    explorer.locator("#task").select_option("what")
    explorer.locator("#position").select_option("center")
    assert explorer.locator("#said").inner_text() == "7"
    explorer.get_by_role("button", name="Undo").click()
    assert labels(explorer) == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_a_drawn_digit_has_no_label_until_somebody_gives_it_one(explorer: Page) -> None:
    """It gets neither the label of the digit before it nor that of the question, and answers about it are not judged."""
    explorer.evaluate("pick(0)")  # the 1, which the question is about
    draw_a_seven(explorer)
    explorer.get_by_role("button", name="Put it in").click()
    assert labels(explorer) == [None, 2, 3, 4, 5, 6, 7, 8, 9]
    expect(explorer.locator(".cell[data-place='0'] .hidden").last).to_have_text("top-left: drawn")
    expect(explorer.locator("table.scene-map td .hidden").first).to_have_text("top-left, drawn: ")
    not_judged = "Not judged: you did not say which digit you drew."
    expect(explorer.locator("#verdict")).to_have_text(not_judged)  # perhaps it is a 1
    for task, field, value in (("what", "#position", "top-left"), ("read", "#row", "top-row")):
        explorer.locator("#task").select_option(task)
        explorer.locator(field).select_option(value)
        expect(explorer.locator("#verdict")).to_have_text(not_judged)
    explorer.locator("#row").select_option("bottom-row")  # no drawn digit is there
    expect(explorer.locator("#verdict")).to_have_text(re.compile("^(Right|Wrong): the bottom-row reads 7 8 9"))


def test_strokes_become_pixels_as_the_data_set_was_made(explorer: Page) -> None:
    line = [[10, 5], [60, 5], [110, 5]]  # it fills the width, and is 4 of 32 points high: half of two rows of blocks
    pixels = torch.tensor(explorer.evaluate("line => Array.from(pixelsOf([line]))", line)).reshape(8, 8)
    assert (pixels[3:5, 1:7] == 8).all()
    assert pixels[3:5].sum() == pixels.sum()
    assert pixels[3, 0] == pixels[3, 7] > 0
    larger = [[3 * x - 40, 3 * y + 9] for x, y in line]
    assert explorer.evaluate("line => Array.from(pixelsOf([line]))", larger) == pixels.flatten().tolist()


# The canvas of a browser that keeps to the standard to the letter: a line without length is left out, with its round ends.
TO_THE_LETTER = """() => {
    const { moveTo, lineTo } = CanvasRenderingContext2D.prototype;
    let last;
    CanvasRenderingContext2D.prototype.moveTo = function (...to) { moveTo.apply(this, (last = to)); };
    CanvasRenderingContext2D.prototype.lineTo = function (...to) {
        if (to[0] !== last[0] || to[1] !== last[1]) lineTo.apply(this, (last = to));
    };
}"""


@pytest.mark.parametrize("stroke", [[[7, 9]], [[7, 9], [7, 9]]], ids=["a click", "a click that trembles"])
def test_a_dot_leaves_ink_in_every_browser(explorer: Page, stroke: list) -> None:
    explorer.evaluate(TO_THE_LETTER)
    dot = torch.tensor(explorer.evaluate("stroke => Array.from(pixelsOf([stroke]))", stroke))
    assert dot.nonzero().flatten().tolist() == [27, 28, 35, 36]  # the four blocks around the middle
    line = torch.tensor(explorer.evaluate("Array.from(pixelsOf([[[7, 9], [8, 9]]]))"))
    assert line.count_nonzero() > dot.count_nonzero()


def test_a_click_on_the_pad_is_seen_there(explorer: Page) -> None:
    explorer.evaluate(TO_THE_LETTER)
    explorer.evaluate("pick(4)")
    explorer.get_by_role("button", name="Write one").click()
    explorer.locator("#pad").click(position={"x": 20, "y": 30})
    expect(explorer.get_by_role("button", name="Put it in")).to_be_enabled()
    ink = """pad => {
        const image = pad.getContext("2d").getImageData(0, 0, pad.width, pad.height).data;
        return image.filter((value, place) => place % 4 === 3 && value > 127).length / (pad.width * pad.height);
    }"""
    assert 0.005 < explorer.locator("#pad").evaluate(ink) < 0.02  # a disc, a ninth of the pad wide: π / 18² of it


def test_reading_a_row_gives_three_words_and_the_maps_of_each(explorer: Page) -> None:
    explorer.locator("#task").select_option("read")
    explorer.locator("#row").select_option("middle-row")
    assert explorer.locator("#said").inner_text() == "4 5 6"
    for word, place in enumerate(("middle-left", "center", "middle-right")):
        explorer.get_by_role("radio", name=f"word {word + 1}").check()
        expect(explorer.locator("table.scene-map caption").first).to_contain_text(f"on {place}")
        expect(explorer.locator("#bars th").first).to_have_text(str(4 + word))
        asked = explorer.locator(".cell.asked")
        assert asked.get_attribute("data-place") == str(3 + word)


def test_what_is_not_there(explorer: Page) -> None:
    """The trained model names a place for a digit that is not there; the other model says "nowhere"."""
    trained, cautious = in_page(COMMITTED)
    explorer.locator("#digit").select_option("0")
    expect(explorer.locator("#verdict")).to_have_text("Wrong: there is no 0 in this scene.")
    said = explorer.locator("#said").inner_text()
    assert said in POSITIONS
    assert said == said_by_pytorch(explorer, trained)
    explorer.locator("#model").select_option("taught to say nowhere")
    assert explorer.locator("#said").inner_text() == said_by_pytorch(explorer, cautious) == "nowhere"
    expect(explorer.locator("#verdict")).to_have_text("Right: there is no 0 in this scene.")
    assert explorer.locator(".asked").count() == 0


def test_the_page_says_whether_it_computes_what_the_model_computes(offline_page: Page, tmp_path: Path) -> None:
    class Doubled(MiniVLM):
        def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
            logits, maps = super().forward(token_ids, image_patches)
            return 2 * logits, maps

    for kind, words in ((MiniVLM, "Compared with PyTorch on 12 questions"), (Doubled, "does not compute what")):
        model = kind(**MODEL)
        draw_start(model, 3)
        offline_page.goto(export_explorer(model, tmp_path / "explorer.html").as_uri())
        expect(offline_page.locator("#witness")).to_contain_text(words)
        expect(offline_page.locator("#model-field")).to_be_hidden()


LOOKS = list(itertools.product(("light", "dark"), (1200, 375)))


def in_look(explorer: Page, scheme: str, width: int) -> None:
    """Open all of the page, with one head off, in a colour scheme and a width."""
    explorer.emulate_media(color_scheme=scheme)
    explorer.set_viewport_size({"width": width, "height": 900})
    explorer.locator("summary").click()
    explorer.get_by_role("switch", name="Head 2 on", exact=True).click()
    explorer.wait_for_timeout(300)


@pytest.mark.fast_cases("light-375", "dark-1200")
@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_it_fits_the_window(explorer: Page, scheme: str, width: int) -> None:
    in_look(explorer, scheme, width)
    assert explorer.evaluate("document.documentElement.scrollWidth") == width
    ARTEFACTS.mkdir(exist_ok=True)
    explorer.screenshot(path=ARTEFACTS / f"explorer-{scheme}-{width}.png", full_page=True)


@pytest.mark.fast_cases("dark-375")
@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing(explorer: Page, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: make setup")
    in_look(explorer, scheme, width)
    explorer.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    for is_writing in (False, True):
        if is_writing:
            explorer.get_by_role("button", name="Write one").click()
        found = explorer.evaluate("axe.run()")
        assert len(found["passes"]) > 20
        assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]] == []
