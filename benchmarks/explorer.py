"""How large assets/explorer.html is, and how fast: python -m benchmarks.explorer [--rounds 7].

Each round opens the page in a fresh profile of the system's own Chromium. "load" is the time from the start of the
navigation until the page has answered its first question and compared itself with PyTorch; "slow" is the same with
the processor throttled to a quarter by the browser. "change" is the time that the page takes for one change of the
scene: the answer, all maps, and what is shown of them. Medians, and the largest.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from benchmarks import publish
from grader.paths import course_root

PAGE = course_root() / "assets" / "explorer.html"
READY = "() => document.getElementById('witness').textContent !== ''"
CHANGE = """() => {
    const times = [];
    for (let place = 0; place < 9; place++) {
        const start = performance.now();
        put(place, place);
        document.body.getBoundingClientRect();
        times.push((performance.now() - start) / 1000);
    }
    return times.sort((one, other) => one - other)[4];
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("explorer: no Chromium was found; run: sh tests/browser/install-chromium.sh")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        usual = [opened(browser) for _ in range(rounds)]
        slow = [opened(browser, slower=4) for _ in range(rounds)]
        browser.close()
    rows, figures = [], {"megabytes": PAGE.stat().st_size / 1e6}
    for name, runs in (("", usual), ("slow_", slow)):
        for number, what in enumerate(("load", "change")):
            seconds = [run[number] for run in runs]
            figures[f"{name}{what}_s"] = median(seconds)
            rows.append({"what": f"{name}{what}", "seconds": median(seconds), "largest": max(seconds)})
    publish("explorer", figures, rows)


def opened(browser: Browser, slower: int = 1) -> tuple[float, float]:
    """Open the page once: seconds until it is ready, and seconds of a change."""
    context = browser.new_context()
    page = context.new_page()
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.goto(PAGE.as_uri(), wait_until="commit")
    page.wait_for_function(READY)
    load = page.evaluate("performance.now() / 1000")
    change = page.evaluate(CHANGE)
    context.close()
    return load, change


if __name__ == "__main__":
    main()
