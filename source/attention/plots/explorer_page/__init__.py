"""The explorer's page, without the model.

HTML, CSS and JavaScript in one text. Its parts are files beside this one. `attention.plots.explorer` puts the numbers
of a model where the page says `{{data}}`.
"""

import re
from pathlib import Path


def put_together(folder: Path) -> str:
    """Return page.html with each `{{name}}` replaced by the file of that name; `{{data}}` stays."""

    def content(slot: re.Match) -> str:
        return slot[0] if slot[1] == "data" else (folder / slot[1]).read_text("utf-8").rstrip()

    return re.sub(r"\{\{([\w.]+)\}\}", content, (folder / "page.html").read_text("utf-8"))


PAGE = put_together(Path(__file__).parent)
