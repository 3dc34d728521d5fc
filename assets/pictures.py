"""Takes the pictures of docs/pictures: what students and instructors see. Run it with `make pictures`.

The pages are those of the example class and of the explorer. Pictures of programs that run, JupyterLab and
`grader serve`, are cut out of those that the tests in a browser take.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]
WIDTH = 1000  # pixels that a page is wide, and the most that a picture is


@dataclass(frozen=True)
class Picture:
    """A picture, and what it is cut out of."""

    name: str
    source: str  # a pattern for a file: a page of the class, a picture of a test, or a file of the repository
    box: tuple[int, int, int, int]  # left, top, right, bottom in pixels of the source


OF_TESTS = (
    Picture("self-check", "*-1-2-wrong.png", (288, 116, 1360, 416)),
    Picture("upload", "serve-graded-desk.png", (200, 0, 1000, 1084)),
    Picture("instructor", "serve-class-desk.png", (80, 0, 1120, 900)),
)
OF_PAGES = (
    Picture("feedback", "no-scaling/*/*.html", (0, 0, WIDTH, 1150)),
    Picture("class", "class.html", (0, 0, WIDTH, 1000)),
)
EXPLORER = Picture("explorer", "explorer.html", (0, 0, WIDTH, 960))


def shots(pages: Path) -> Iterator[tuple[Picture, Image.Image]]:
    """Yield the pictures of pages, as Chromium shows them.

    Args:
        pages: the folder that `grader grade --html` wrote.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=playwright_browser(), args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": 800}, color_scheme="light")
        for folder, picture in [*((pages, picture) for picture in OF_PAGES), (ROOT / "assets", EXPLORER)]:
            page.goto(only_file(folder, picture.source).as_uri())
            while picture is EXPLORER and page.get_by_text("Wrong:").count():  # a picture of the usual case: 98 of 100
                page.get_by_role("button", name="New scene").click()
            yield picture, Image.open(BytesIO(page.screenshot(full_page=True)))
        browser.close()


def playwright_browser() -> str:
    """Return the path of the system's Chromium, the one that the tests use."""
    sys.path.insert(0, str(ROOT))
    from tests.browser.chromium import chromium_or_skip

    return chromium_or_skip()


def only_file(folder: Path, pattern: str) -> Path:
    """Return the first file in a folder that matches a pattern.

    Raises:
        SystemExit: no file matches the pattern.
    """
    found = sorted(folder.glob(pattern))
    if not found:
        sys.exit(f"pictures: there is no {folder / pattern}; run: make pictures")
    return found[0]


def main(pages: Path, artefacts: Path) -> None:
    """Write all pictures as WebP, and print the size of each in kilobytes."""
    FOLDER.mkdir(exist_ok=True)
    of_tests = ((picture, Image.open(only_file(artefacts, picture.source))) for picture in OF_TESTS)
    for picture, image in [*of_tests, *shots(pages)]:
        left, top, right, bottom = picture.box
        cut = image.convert("RGB").crop((left, top, min(right, image.width), min(bottom, image.height)))
        cut.thumbnail((WIDTH, 10 * WIDTH))
        file = FOLDER / f"{picture.name}.webp"
        cut.save(file, quality=80, method=6)
        print(f"{file.relative_to(ROOT)}: {cut.width} × {cut.height}, {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
