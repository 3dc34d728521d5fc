"""Reads the course's GitHub repository from pyproject.toml, and makes links that open notebooks in Colab."""

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
class Repository:
    """The GitHub repository and branch to which the links lead."""

    name: str  # "account/name"
    branch: str

    def colab(self, assignment: str) -> str:
        """Return the link that opens a student notebook in Colab."""
        path = f"notebooks/{assignment}/{assignment}.ipynb"
        return f"https://colab.research.google.com/github/{self.name}/blob/{self.branch}/{path}"


def repository_of(root: Path) -> Repository:
    """Read the repository and the branch from [tool.course] of pyproject.toml.

    Raises:
        BuildError: one of the two is missing, or has a character that is not allowed in a link.
    """
    path = root / "pyproject.toml"
    try:
        course = tomllib.loads(path.read_text("utf-8"))["tool"]["course"]
        repository = Repository(course["repository"], course["branch"])
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise BuildError(
            f"{path}: no repository and branch of the course ({type(error).__name__}: {error}); "
            'add [tool.course] with repository = "account/name" and branch = "main"'
        ) from error
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", str(repository.name)):
        raise BuildError(f'{path}: repository is {repository.name!r}; write it as "account/name"')
    if not re.fullmatch(r"[\w./-]+", str(repository.branch)):
        raise BuildError(
            f"{path}: branch is {repository.branch!r}; letters, digits and . _ / - can stand in a link"
        )
    return repository


def badge(link: str) -> str:
    """Return Colab's badge as Markdown; a click on it opens the link."""
    return f"[![Open in Colab]({BADGE})]({link})"


def with_badge(notebook: NotebookNode, link: str) -> NotebookNode:
    """Return a notebook with the badge as a new first cell; the given notebook does not change."""
    cells = [nbformat.v4.new_markdown_cell(badge(link), id="colab"), *notebook.cells]
    return NotebookNode({**notebook, "cells": cells})
