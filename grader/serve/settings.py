"""Reads serve.toml: the server's address, the ways to sign in, and the rules of each assignment."""

import json
import logging
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from grader.complaint import Complaint
from grader.paths import write_atomically
from grader.serve.platforms import PRESETS, STANDARD, Preset, filled_in

FILE = "serve.toml"
AT_ONCE, AFTER_DUE, BY_HAND = "at once", "after the due date", "by hand"
LAST, BEST = "last", "best"
# A host with its scheme. Its first label may be `*` if two more follow: *.com would be everybody.
SERVICE = re.compile(r"(https?)://((?:\*\.(?=[^.:]+\.))?[a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?")


class SettingsError(Complaint):
    """serve.toml cannot be used. The message names the key and the correct form."""


def origin(url: str) -> str:
    """Return the origin of an address, such as https://example.org, or "" if the text is not an address."""
    with suppress(ValueError):  # a bracket that is not closed
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}".lower()
    return ""


def is_loopback(host: str) -> bool:
    """Return True if a host name or address means this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def is_protected(url: str) -> bool:
    """Return True if an address uses TLS or is on this machine."""
    parts = urlsplit(origin(url))
    host = parts.hostname or ""
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))


def _protected(url: str) -> str:
    """Return an address, or refuse it if other machines reach it without TLS.

    Without TLS, cookies, links and keys would be readable.
    """
    if not is_protected(url):
        raise ValueError("is not protected. Use https://, through nginx or Caddy; http:// works only for 127.0.0.1")
    return url


def _bare(url: str) -> str:
    """Return an address without the slash at its end, or refuse an address with a path."""
    if urlsplit(url).path.strip("/") or urlsplit(url).query:
        raise ValueError("must be an address without a path, as in https://hand-in.example.org")
    return url.rstrip("/")


def _services(patterns: list[str]) -> list[str]:
    """Return origins without the slash at their end, or refuse a text that is not an origin.

    `*.example.org` means https.
    """
    patterns = [f"https://{each}" if each.startswith("*.") else each for each in patterns]
    patterns = [each.lower().rstrip("/") for each in patterns]
    if not all(SERVICE.fullmatch(each) and is_protected(each.replace("*.", "")) for each in patterns):
        raise ValueError('must be origins, as in ["https://school.instructure.com", "https://*.example.org"]')
    return patterns


def is_within(address: str, pattern: str) -> bool:
    """Return True if an origin matches an entry of `services`, which may begin with `*.` for all hosts below."""
    scheme, wildcard, rest = pattern.partition("://*.")
    below = rf"{scheme}://[a-z0-9.-]+\.{re.escape(rest)}"
    return bool(re.fullmatch(below, address)) if wildcard else address == pattern


Address = Annotated[str, AfterValidator(_protected)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Policy(_Table):
    """The rules of one assignment."""

    open: bool = True  # students see the assignment
    counts: Literal["last", "best"] = "last"  # which attempt
    attempts_an_hour: Annotated[int, Field(ge=1)] = 10
    kept_megabytes: Annotated[int, Field(ge=1)] = 200  # for the attempts of one student
    feedback: Literal["at once", "after the due date", "by hand"] = "at once"  # when score and feedback page are shown


class Platform(_Table):
    """A learning platform, as [lti.NAME] in serve.toml registers it. A preset supplies the missing values."""

    issuer: str
    client_id: str
    deployments: list[str]  # "*" allows all deployments of this client
    courses: list[str] = []  # the platform's ids; [] for the course of the first instructor who arrives
    login_url: Address
    token_url: Address
    keys_url: Address
    audience: str = ""  # recipient in our signed request for a token; "" for the token's address
    services: Annotated[
        list[str], AfterValidator(_services)
    ] = []  # other hosts of scores, rosters, choices and frames; a leading *. is allowed
    student: str = "sub"  # the claim that is the student's id in the gradebook
    prefix: str = ""  # in front of that id, where two platforms have the same ids
    platform: str = ""  # the name of a preset
    school: Address | None = None  # the school's address there
    tool: str = ""  # the platform's own number of this tool, where its addresses contain that

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, told: Any) -> Any:
        """Return the values of the table [lti.NAME], and the values of its preset that the table does not set."""
        if not isinstance(told, dict) or "platform" not in told:
            return told
        values = [told.get(key, "") for key in ("platform", "school", "client_id", "tool")]
        name, school, client, tool = (each if isinstance(each, str) else "" for each in values)
        if name not in PRESETS:
            raise ValueError(f"platform must be one of {', '.join(PRESETS)}")
        if not is_protected(school):
            raise ValueError('a platform needs school = "https://…", its address')
        return {**filled_in(name, school.rstrip("/"), client, tool), **told}

    @property
    def preset(self) -> Preset:
        """The differences between this kind of platform and others."""
        return PRESETS.get(self.platform, STANDARD)

    @property
    def signer(self) -> tuple[str, str, str]:
        """The issuer, client id and address of the keys. Entries that share them differ only in their deployments."""
        return self.issuer, self.client_id, self.keys_url

    def may_fetch(self, url: str) -> bool:
        """Return True if an address belongs to the platform. The server sends requests to no other address."""
        return is_protected(url) and any(is_within(origin(url), each) for each in self.origins)

    @property
    def origins(self) -> set[str]:
        """The origins (scheme, host and port) of issuer, login, tokens and keys, and the entries of `services`."""
        own = (self.issuer, self.token_url, self.keys_url, self.login_url)
        return {*map(origin, own), *self.services}


class Hub(_Table):
    """A JupyterHub, as [hub] in serve.toml names it."""

    url: Annotated[Address, AfterValidator(_bare)]
    service: str = "hand-in"  # this server's name there
    instructors: list[str] = []  # in addition to the group formgrade-COURSE

    def may_fetch(self, url: str) -> bool:
        """Return True if an address belongs to the API of the hub."""
        return url.startswith(f"{self.url}/hub/api/")


class Settings(_Table):
    """The settings of serve.toml."""

    url: Annotated[Address, AfterValidator(_bare)] = "http://127.0.0.1:8000"  # the address that people type
    host: str = "127.0.0.1"  # the address to listen on
    port: int = 8000
    link_days: int = 200  # how long a personal link works
    grading_seconds_an_hour: Annotated[int, Field(ge=1)] = 1800  # for each student, over all assignments
    every: Policy = Policy()
    assignment: Mapping[str, Policy] = {}
    lti: Mapping[str, Platform] = {}
    hub: Hub | None = None
    formgrader: Address | None = None  # address in the instructor's own Jupyter

    def policy(self, assignment: str) -> Policy:
        """Return the rules of an assignment. For rules that the assignment does not set, [every] counts."""
        own = self.assignment.get(assignment, Policy())
        return self.every.model_copy(update=own.model_dump(exclude_unset=True))

    @property
    def origin(self) -> str:
        """The origin (scheme, host and port) of this server's pages."""
        return origin(self.url)

    @property
    def secure(self) -> bool:
        """Return True if browsers reach the server over TLS, so that they send its cookies only over TLS."""
        return self.url.startswith("https://")


def read_settings(root: Path) -> Settings:
    """Read a course's serve.toml, or return the default settings if the file does not exist.

    Raises:
        SettingsError: the file cannot be read, or a value in it cannot be used.
    """
    path = root / FILE
    try:
        return _settings(path, path.read_text("utf-8") if path.exists() else "")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from error


def _settings(path: Path, text: str) -> Settings:
    """Return the settings in the text of a serve.toml.

    Raises:
        SettingsError: the text cannot be used. The message names `path` and the key.
    """
    try:
        return Settings.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: {error}. Fix this line.") from error
    except ValidationError as error:
        first = error.errors()[0]
        *table, key = map(str, first["loc"])
        of_table = first["type"] == "value_error" and isinstance(first["input"], dict)
        place = f"[{'.'.join([*table, key])}]" if of_table else f"[{'.'.join(table)}] {key}" if table else key
        said = {"extra_forbidden": "there is no such key", "missing": "it is missing"}.get(first["type"], first["msg"])
        raise SettingsError(f"{path}: {place}: {said.removeprefix('Value error, ')}.") from error


def add_platform(root: Path, name: str, values: Mapping[str, Any]) -> None:
    """Write the table [lti.NAME] at the end of serve.toml.

    Raises:
        SettingsError: the table exists already, or its values cannot be used.
    """
    path = root / FILE
    if name in read_settings(root).lti:
        raise SettingsError(f"{path}: [lti.{name}] exists already. Remove it to register the platform again")
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    before = path.read_text("utf-8").rstrip() + "\n\n" if path.exists() else ""
    text = before + "\n".join([f"[lti.{name}]", *lines, ""])
    _settings(path, text)
    write_atomically(path, text)


_read: dict[Path, tuple[float, Settings]] = {}


def current_settings(root: Path) -> Settings:
    """Return the settings. If serve.toml has changed while the server runs, read it again.

    If the changed file contains a mistake, log the mistake and return the earlier settings.

    Raises:
        SettingsError: the file contains a mistake, and there are no earlier settings.
    """
    path = root / FILE
    changed = path.stat().st_mtime if path.exists() else 0.0
    if root not in _read:
        _read[root] = changed, read_settings(root)
    elif _read[root][0] != changed:
        try:
            rules = read_settings(root)
        except SettingsError as error:
            rules = _read[root][1]
            logging.getLogger("grader.serve").warning("%s The earlier rules stay in force.", error)
        _read[root] = changed, rules
    return _read[root][1]
