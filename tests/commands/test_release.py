"""`make release`: what it refuses, and that a tag gives the same bytes again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from grader import __version__
from grader.commands.release import CannotRelease, date_of_tag, main, release, wheel
from tests.warm_python import run_python

ROOT = Path(__file__).resolve().parents[2]
TAG = f"v{__version__}"
DATE = 1_700_000_001  # odd: a zip counts in steps of two seconds
RELEASED = ("grader", "source", "solutions", "notebooks", "assets", "docs")
FILES = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE", ".gitignore")


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    when = {"GIT_AUTHOR_DATE": f"{DATE} +0000", "GIT_COMMITTER_DATE": f"{DATE} +0000"}
    subprocess.run(
        ["git", "-C", str(folder), *who, *arguments], env={**os.environ, **when}, capture_output=True, check=True
    )


def commit(folder: Path, *tags: str) -> Path:
    """Make a repository of a folder, with one commit that has these tags."""
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "All")
    for tag in tags:
        git(folder, "tag", tag)
    return folder


def sources(to: Path, repository: str) -> Path:
    """Copy what a release is made from, of a course in this repository."""
    for name in RELEASED:
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, to)
    project = to / "pyproject.toml"
    text = re.sub(r"(?m)^repository = .*$", f'repository = "{repository}"', project.read_text("utf-8"))
    project.write_text(text, "utf-8")
    return to


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A repository with one file, whose commit has the version's tag."""
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "a.txt").write_text("1")
    return commit(tmp_path / "small", TAG)


def test_the_date_is_that_of_the_tags_commit(small: Path) -> None:
    assert date_of_tag(small) == str(DATE)


@pytest.mark.parametrize("name", ["a.txt", "new.txt"])
def test_a_changed_or_new_file_is_named(small: Path, name: str) -> None:
    (small / name).write_text("2")
    with pytest.raises(CannotRelease, match=rf"not as they were committed: {name}; commit them"):
        date_of_tag(small)


@pytest.mark.parametrize("tags", [(), ("v99.0",), (__version__,)])
def test_a_commit_without_the_versions_tag_is_refused(tmp_path: Path, tags: tuple[str, ...]) -> None:
    (tmp_path / "a.txt").write_text("1")
    with pytest.raises(CannotRelease, match=rf"but the version is {TAG}; run git checkout {TAG}, or set the version"):
        date_of_tag(commit(tmp_path, *tags))


def test_a_folder_without_a_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(CannotRelease, match="run this command in a git clone of the repository"):
        date_of_tag(tmp_path)


def test_make_says_a_refusal_in_one_line(tmp_path: Path) -> None:
    course = commit(sources(tmp_path, "your.account/course"), TAG)
    environment = {**os.environ, "GRADER_COURSE": str(course)}
    ran = run_python("grader.commands.release", "dist", folder=course, environment=environment)
    assert (ran.returncode, ran.out) == (2, "")
    assert re.fullmatch(r"release: no Colab link can be made: set repository = .*\n", ran.err)
    assert not (course / "dist").exists()


def test_what_the_build_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = commit(sources(tmp_path, ""), TAG)
    # The build itself takes minutes; what counts here is that it wrote.
    monkeypatch.setattr("grader.commands.release.build", lambda root: (root / "README.md").write_text("new"))
    with pytest.raises(CannotRelease, match=r"README\.md; commit what `grader build` wrote, and move the tag"):
        release(course, course / "dist")


@pytest.mark.slow(held_by="tests/test_wheel.py::test_the_wheel_is_small_and_has_no_file_of_the_machine")
def test_the_same_tag_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two copies with other dates, permissions and umask. The build is left out: here it would have nothing to do."""
    monkeypatch.setattr("grader.commands.release.build", lambda root: [])
    made = []
    for number, (mode, umask) in enumerate([(0o644, 0o022), (0o600, 0o077)]):
        (folder := tmp_path / f"copy {number}").mkdir()
        course = commit(sources(folder, ""), TAG)
        for path in course.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                path.chmod(mode)
                os.utime(path, (DATE + number * 1000,) * 2)
        git(course, "config", "core.fileMode", "false")
        before = os.umask(umask)
        try:
            made.append(release(course, course / "dist"))
        finally:
            os.umask(before)
    first, second = ({path.name: path.read_bytes() for path in paths} for paths in made)
    assert first == second
    assert len(first) == 4
    sums = first.pop("SHA256SUMS").decode().splitlines()
    assert {line.split()[1]: line.split()[0] for line in sums} == {
        name: sha256(content).hexdigest() for name, content in first.items()
    }
    (built,) = (path for path in made[0] if path.suffix == ".whl")
    with zipfile.ZipFile(built) as archive:
        dates = {info.date_time for info in archive.infolist()}
        metadata = next(archive.read(name) for name in archive.namelist() if name.endswith("/METADATA"))
    assert dates == {datetime.fromtimestamp(DATE - 1, UTC).timetuple()[:6]}
    assert f"\nVersion: {__version__}\n" in metadata.decode()


def test_why_pip_built_no_wheel_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotRelease, match=r"pip did not build the wheel: .*run: pip wheel --no-deps"):
        wheel(tmp_path, tmp_path / "dist", str(DATE))


def test_the_version_stands_in_one_place_and_the_changelog_begins_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = re.findall(r"(?m)^## (\S+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert versions[0] == __version__
    found = subprocess.run(
        ["git", "grep", "-lF", f'"{__version__}"', "--", "*.py", "*.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.split() == ["grader/__init__.py"]
    monkeypatch.setattr(sys, "argv", ["release", "/nowhere"])
    monkeypatch.setenv("GRADER_COURSE", "/nowhere")
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
