"""Finds the course's address on GitHub, and makes the links to it in notebooks and pages.

The address is in pyproject.toml. If pyproject.toml still contains the placeholder, the address is
that of git's remote `origin`, if the remote is on GitHub. Without an address, neither badges nor
links are made, because they would lead nowhere. The address of the course's site (`grader site`) is
in pyproject.toml, too; without it, no link leads to the site.
"""

import re
import subprocess
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.build.errors import BuildError

BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
BADGE_CELL = "colab"  # id of the cell with the badge
COLAB = re.compile(r"colab\.research\.google\.com/github/([\w.-]+/[\w.-]+)/blob/([\w./-]+?)/notebooks/")
REMOTE = re.compile(r"(?:https?://|ssh://)?(?:[^@/\s]+@)?github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?")
PAGE = re.compile(r"\]\(\.\./\.\./docs/([\w-]+\.md)((?:#[\w-]+)?)\)")  # a link of a notebook to a page of docs/


@dataclass(frozen=True)
class Repository:
    """The GitHub repository and branch to which the links lead."""

    name: str  # "account/name"
    branch: str
    site: str = ""  # the address of the course's site, as "https://account.github.io/name"; "" without a site

    @property
    def is_placeholder(self) -> bool:
        """Return True if the name is still the placeholder.

        The placeholder has a dot before the slash, which no account's name can have.
        """
        return "." in self.name.partition("/")[0]

    @property
    def is_none(self) -> bool:
        """Return True if pyproject.toml states that the course is not on GitHub."""
        return not self.name

    def colab(self, assignment: str) -> str:
        """Return the link that opens a student notebook in Colab."""
        path = f"notebooks/{assignment}/{assignment}.ipynb"
        return f"https://colab.research.google.com/github/{self.name}/blob/{self.branch}/{path}"

    def rendered(self, assignment: str) -> str:
        """Return the link to the lesson's page on the course's site, or "" if the course has no site."""
        return f"{self.site.rstrip('/')}/lessons/{assignment}.html" if self.site else ""

    def file(self, path: str) -> str:
        """Return the link to a file of the repository, such as "docs/glossary.md"."""
        return f"https://github.com/{self.name}/blob/{self.branch}/{path}"


def setting_of(root: Path) -> Repository:
    """Return the repository and branch in [tool.course] of pyproject.toml.

    Without that file, the course is not on GitHub.

    Raises:
        BuildError: repository or branch is missing, or contains a character that is not allowed in
            a link.
    """
    path = root / "pyproject.toml"
    if not path.exists():
        return Repository("", "main")
    try:
        course = tomllib.loads(path.read_text("utf-8"))["tool"]["course"]
        repository = Repository(course["repository"], course["branch"], course.get("site", ""))
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise BuildError(
            f"{path}: no repository and branch of the course ({type(error).__name__}: {error}); "
            'add [tool.course] with repository = "account/name" and branch = "main"'
        ) from error
    if not re.fullmatch(r"(?:[\w.-]+/[\w.-]+)?", str(repository.name)):
        raise BuildError(f'{path}: repository is {repository.name!r}; write it as "account/name"')
    if not re.fullmatch(r"(?:https?://[\w./:~-]+)?", str(repository.site)):
        raise BuildError(f'{path}: site is {repository.site!r}; write its address, as "https://account.github.io/name"')
    if not re.fullmatch(r"[\w./-]+", str(repository.branch)):
        raise BuildError(f"{path}: branch is {repository.branch!r}; letters, digits and . _ / - can stand in a link")
    return repository


def repository_of(root: Path) -> Repository | None:
    """Return the repository in pyproject.toml, or the one of git's remote in place of the placeholder.

    Return None if the course is not on GitHub, or if neither repository is known.
    """
    setting = setting_of(root)
    if setting.is_none:
        return None
    return _remote(root, setting) if setting.is_placeholder else setting


def repository_in(root: Path, assignment: str) -> Repository | None:
    """Return the repository to which the built notebooks must link, for `grader build --check`.

    It is the repository in pyproject.toml. In place of the placeholder, it is the repository to
    which a notebook already links. So the check gives the same answer in every clone, whatever its
    remote is.

    Returns:
        None if the course is not on GitHub, or if no repository is known.
    """
    setting = setting_of(root)
    if setting.is_none or not setting.is_placeholder:
        return None if setting.is_none else setting
    notebook = root / "notebooks" / assignment / f"{assignment}.ipynb"
    found = COLAB.search(notebook.read_text("utf-8")) if notebook.is_file() else None
    carried = Repository(found[1], found[2], setting.site) if found else None
    return None if carried is None or carried.is_placeholder else carried


def _remote(root: Path, setting: Repository) -> Repository | None:
    """Return the repository of git's remote `origin`, with the branch and site of a setting.

    Return None without git, without a remote, or if the remote is not on GitHub.
    """
    try:
        command = ["git", "-C", str(root), "remote", "get-url", "origin"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = REMOTE.fullmatch(ran.stdout.strip()) if ran.returncode == 0 else None
    return replace(setting, name=found[1]) if found else None


def badge(link: str) -> str:
    """Return Colab's badge with this link as Markdown."""
    return f"[![Open in Colab]({BADGE})]({link})"


def with_links(notebook: NotebookNode, assignment: str, repository: Repository | None) -> NotebookNode:
    """Return a copy of a notebook with Colab's badge, and with links that also work in Colab.

    The badge is in a new first cell. If the course has a site, that cell also links to the lesson's
    page on the site.

    Without a repository, return the notebook itself. Its links are then relative and work in a copy
    of the repository. The zip for students adapts them.
    """
    if repository is None:
        return notebook
    links = [badge(repository.colab(assignment))]
    if rendered := repository.rendered(assignment):
        links.append(f"[View rendered]({rendered})")
    cells = [nbformat.v4.new_markdown_cell(" · ".join(links), id=BADGE_CELL)]
    for cell in notebook.cells:
        source = cell.source
        if cell.cell_type == "markdown":
            source = PAGE.sub(lambda match: f"]({repository.file(f'docs/{match[1]}')}{match[2]})", source)
        cells.append(NotebookNode({**cell, "source": source}))
    return NotebookNode({**notebook, "cells": cells})


def linked_pages(text: str) -> set[str]:
    """Return the names of the pages of docs/ to which a notebook's text has relative links."""
    return {match[1] for match in PAGE.finditer(text)}


def with_pages_beside(text: str) -> str:
    """Return a notebook's text in which relative links lead to pages in the notebook's own folder."""
    return PAGE.sub(r"](\1\2)", text)
