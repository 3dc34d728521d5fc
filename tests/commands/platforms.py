"""Canvas and Moodle, as far as a class passes through them: their downloads, and whose feedback they take a file for.

No platform is here. Names are written as lib/content_zipper.rb of canvas-lms and mod/assign/classes/downloader.php of
Moodle write them, and read as infer_comment_context_from_filename (canvas-lms) and
mod/assign/feedback/file/importziplib.php (Moodle) read them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

CANVAS = {
    "12": "lovelaceada_12_901_1-attention.ipynb",
    "13": "hoppergrace_LATE_13_902_1-attention-2.ipynb",
    "14": "ünalözge_14_903_1-attention (1).ipynb",
    "15": "=1+1_15_904_my, own_2 notes_1-attention.ipynb",
    "x7Kq2": "anon_x7Kq2_905_1-attention.ipynb",
    "16": "gausscarl_16_text.html",
}
MOODLE = {
    "4711": "Ada Lovelace_4711_assignsubmission_file/1-attention.ipynb",
    "4712": "Ünal Özge 曉_4712_assignsubmission_file_/work/1-attention.ipynb",  # as before Moodle 4.1
    "4713": "=1+1, Inc_4713_assignsubmission_file/1-attention.ipynb",
    "4714": "Gauß Carl_4714_assignsubmission_onlinetext/onlinetext.html",
}
MOODLE_WITHOUT_FOLDERS = {
    "4711": "Ada Lovelace_4711_assignsubmission_file_1-attention.ipynb",
    "4713": "=1+1, Inc_4713_assignsubmission_file_my_notes_1-attention.ipynb",
}


def download(place: Path, names: Mapping[str, str], notebook: bytes) -> Path:
    """Write the zip that a platform hands out; everybody's notebook differs by their id alone."""
    with zipfile.ZipFile(place, "w") as archive:
        for student, name in names.items():
            own = notebook.replace(b'"cells"', f' "of-{student}": 1, "cells"'.encode(), 1)
            archive.writestr(name, own if name.endswith(".ipynb") else b"<p>typed in</p>")
    return place


def canvas_takes(name: str) -> tuple[str, str] | None:
    """Return the student and the attachment that Canvas takes an uploaded file for; None if it ignores the file."""
    parts = [part for part in name.rpartition("/")[2].split("_") if part != "LATE"]
    if parts[0] == "anon":
        return parts[1], parts[2]
    numbers = [part for part in parts if part.isdecimal()][:2]
    return (numbers[0], numbers[1]) if len(numbers) == 2 and not parts[-1].startswith("link") else None


def moodle_takes(path: str) -> tuple[str, str] | None:
    """Return the participant and the name that Moodle takes an uploaded file for; None if it ignores the file."""
    parts = path.split("/")
    if parts[-1].startswith((".", "~")):
        return None
    for place, part in enumerate(parts):
        words = part.split("_", 4)
        if len(words) >= 4 and words[1].isdecimal() and words[2] == "assignsubmission":
            rest = words[4] if len(words) == 5 else ""
            return words[1], "/".join([rest, *parts[place + 1 :]])
    return None
