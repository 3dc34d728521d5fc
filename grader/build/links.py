"""Where the course lives on GitHub, and the links that open its notebooks in Colab: one setting, in pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.build.errors import BuildError

BADGE = "https://colab.research.google.com/assets/colab-badge.svg"


@dataclass(frozen=True)
class Home:
    """The repository and the branch that the links lead to."""

    repository: str  # "account/name"
    branch: str

    def colab(self, assignment: str) -> str:
        """The link that opens a student notebook in Colab."""
        path = f"notebooks/{assignment}/{assignment}.ipynb"
        return f"https://colab.research.google.com/github/{self.repository}/blob/{self.branch}/{path}"


def home(root: Path) -> Home:
    """[tool.course] of pyproject.toml.

    Raises:
        BuildError: it is not there, or holds what cannot stand in a link.
    """
    path = root / "pyproject.toml"
    try:
        course = tomllib.loads(path.read_text("utf-8"))["tool"]["course"]
        found = Home(course["repository"], course["branch"])
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise BuildError(
            f"{path}: no repository and branch of the course ({type(error).__name__}: {error}); "
            'add [tool.course] with repository = "account/name" and branch = "main"'
        ) from error
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", str(found.repository)):
        raise BuildError(f'{path}: repository is {found.repository!r}; write it as "account/name"')
    if not re.fullmatch(r"[\w./-]+", str(found.branch)):
        raise BuildError(
            f"{path}: branch is {found.branch!r}; letters, digits and . _ / - can stand in a link"
        )
    return found


def badge(link: str) -> str:
    """The badge, as Markdown."""
    return f"[![Open in Colab]({BADGE})]({link})"


def with_badge(notebook: NotebookNode, link: str) -> NotebookNode:
    """The notebook, with the badge in front."""
    cells = [nbformat.v4.new_markdown_cell(badge(link), id="colab"), *notebook.cells]
    return NotebookNode({**notebook, "cells": cells})
