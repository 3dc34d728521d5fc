"""docs/serve.md: what it says of serve.toml, and of moving to another machine."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from grader.serve import attempts
from grader.serve.settings import Platform, Policy, read_settings
from grader.serve.site import Site, open_site
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import Person, grade, solved, student

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "serve.md").read_text("utf-8")
BLOCKS = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_a_copy_of_the_folder_goes_on_where_the_server_stopped(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = student(site)
    ada.hands_in(solved(site, "1.1"))
    link = ada.link("ada")
    copy = tmp_path / "other machine" / "course"
    shutil.copytree(site.root, copy)
    moved = open_site(copy, None)
    grade(moved)
    assert [one.score for one in attempts.attempts_of(moved.store, "ada")] == [5.0]
    again = Person.of(moved)
    assert again.opens_link(link).status_code == 303
    assert "5 of 100" in again.get("/").text
    assert attempts.attempts_of(site.store, "ada")[0].is_open  # the first machine's copy is as it was


def test_the_rules_of_the_page_are_read_as_it_says(site: Site) -> None:
    (site.root / "serve.toml").write_text("\n".join(BLOCKS), "utf-8")
    try:
        settings = read_settings(site.root)
        with_preset, by_hand = site.settings.lti.values()
    finally:
        (site.root / "serve.toml").unlink()
    assert settings.every == Policy()
    assert settings.policy("4-modern") == Policy(open=False, counts="best")
    assert settings.policy(NAME) == Policy()
    assert settings.secure
    assert settings.link_days == read_settings(site.root).link_days == 200
    assert with_preset.issuer == "https://canvas.instructure.com"
    assert by_hand.issuer == "https://lms.example.org"


def test_the_page_names_each_key(site: Site) -> None:
    told = [tomllib.loads(block) for block in BLOCKS]
    assert set(told[0]["every"]) == {"open", "counts", "attempts_an_hour", "kept_megabytes", "feedback"}
    (keys,) = re.findall(r"^### The keys of `\[lti.NAME\]`\n\n(.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL)
    named = {name for row in keys.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == set(Platform.model_fields)
