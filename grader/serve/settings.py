"""Reads serve.toml: the server's address, and for each assignment which attempt counts and when feedback is shown."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

FILE = "serve.toml"
AT_ONCE, AFTER_DUE, BY_HAND = "at once", "after the due date", "by hand"
LAST, BEST = "last", "best"
CHOICES = {"counts": (LAST, BEST), "feedback": (AT_ONCE, AFTER_DUE, BY_HAND)}


class SettingsError(Exception):
    """serve.toml cannot be used; the message names the line's key and what to write."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The rules of one assignment."""

    open: bool = True  # students see the assignment
    counts: str = LAST  # which attempt
    attempts_an_hour: int = 10
    feedback: str = AT_ONCE  # when score and feedback page are shown


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What serve.toml says."""

    url: str = "http://127.0.0.1:8000"  # as people type it
    host: str = "127.0.0.1"  # the address to listen on
    port: int = 8000
    link_days: int = 200  # how long a personal link works
    every: Policy = Policy()
    by_assignment: Mapping[str, Policy] = field(default_factory=dict)
    lti: Mapping[str, Any] = field(default_factory=dict)  # read by `lti`

    def policy(self, assignment: str) -> Policy:
        """Return the rules of an assignment."""
        return self.by_assignment.get(assignment, self.every)

    @property
    def secure(self) -> bool:
        """Tell whether cookies go over TLS alone."""
        return self.url.startswith("https://")

    @property
    def origin(self) -> str:
        """The origin of all pages, as browsers name it."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}".lower()


def read_settings(root: Path) -> Settings:
    """Read serve.toml of a course; without one, the defaults.

    Raises:
        SettingsError: the file is no TOML, or a value cannot be used.
    """
    path = root / FILE
    try:
        told = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: {error}. Mend that line.") from error
    every = _policy(path, "every", told.pop("every", {}), Policy())
    each = told.pop("assignment", {})
    if not isinstance(each, dict):
        raise SettingsError(f"{path}: write the rules of an assignment below [assignment.1-attention]")
    rules = {name: _policy(path, f"assignment.{name}", values, every) for name, values in each.items()}
    own = _typed(path, "", told, Settings())
    _check_url(path, own.url)
    return replace(own, every=every, by_assignment=rules)


_read: dict[Path, tuple[float, Settings]] = {}


def current_settings(root: Path) -> Settings:
    """Read serve.toml anew if it has changed; the rules of an assignment may change while the server runs."""
    path = root / FILE
    changed = path.stat().st_mtime if path.exists() else 0.0
    if root not in _read or _read[root][0] != changed:
        _read[root] = changed, read_settings(root)
    return _read[root][1]


def _policy(path: Path, table: str, values: object, base: Policy) -> Policy:
    policy = _typed(path, table, values, base)
    if policy.attempts_an_hour < 1:
        raise SettingsError(f"{path}: [{table}] attempts_an_hour must be 1 or more")
    return policy


def _typed(path: Path, table: str, values: object, base: Any) -> Any:
    """Return a copy of a record with the values of a table, each of the type that the record has.

    Raises:
        SettingsError: a key is unknown, or a value is of another type or no choice.
    """
    place = f"{path}: [{table}]" if table else f"{path}:"
    if not isinstance(values, dict):
        raise SettingsError(f"{place} must be a table")
    types = {one.name: type(getattr(base, one.name)) for one in fields(base)}
    for key, value in values.items():
        if key not in types or key in ("every", "by_assignment"):
            raise SettingsError(f"{place} there is no {key!r}; known are {', '.join(types)}")
        if key in CHOICES and value not in CHOICES[key]:
            choices = " or ".join(f'"{choice}"' for choice in CHOICES[key])
            raise SettingsError(f"{place} {key} must be {choices}, not {value!r}")
        if type(value) is not types[key]:
            raise SettingsError(f"{place} {key} must be of the type {types[key].__name__}, not {value!r}")
    return replace(base, **values)


def _check_url(path: Path, url: str) -> None:
    """Refuse an address without TLS that other machines reach: cookies and links would go over the network unprotected.

    Raises:
        SettingsError: it is such an address, or none.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise SettingsError(f"{path}: url must be an address without a path, as in https://hand-in.example.org")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise SettingsError(
            f"{path}: url = {url!r} is not protected. Write https://, and put nginx or Caddy in front; http:// is for "
            "127.0.0.1 alone."
        )


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
