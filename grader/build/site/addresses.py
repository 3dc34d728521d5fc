"""Maps files of the course to their paths on the site, and links between files to links on the site."""

from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import dirname, join, normpath, relpath
from urllib.parse import unquote

from grader.build.links import Repository

ELSEWHERE = ("https://", "http://", "mailto:", "data:")


@dataclass(frozen=True)
class Addresses:
    """The files of the course that are on the site, and the repository that contains all other files."""

    places: Mapping[str, str]  # the path in the course → the path on the site
    repository: Repository | None

    def resolve(self, file: str, address: str) -> str | None:
        """Return the link on a page of the site that replaces a link in a file of the course.

        Return None if the target is not on the site, and no repository is known that contains it.

        Args:
            file: the file that contains the link.
            address: the link in this file.
        """
        if self.repository and address.startswith(here := self.repository.file("")):
            target, _, anchor = address.removeprefix(here).partition("#")
        elif address.startswith(ELSEWHERE):
            return address
        else:
            relative, _, anchor = address.partition("#")
            target = normpath(join(dirname(file), unquote(relative)))
        if place := self.places.get(target):
            return relative_link(self.places[file], place) + (f"#{anchor}" if anchor else "")
        if self.repository is None or target.startswith(".."):
            return None
        return self.repository.file(target) + (f"#{anchor}" if anchor else "")


def relative_link(page: str, target: str) -> str:
    """Return the link from one file of the site to another, such as "../index.html" from "docs/students.html"."""
    return relpath(target, dirname(page) or ".")
