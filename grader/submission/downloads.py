"""The file names in the class downloads of learning platforms.

`DOWNLOADS` has a row for each form of names that a platform writes. A row matches the path of a file, beginning with
the folder that contains all students' files. Such a path consists of the name of this folder, the text that the
platform wrote, and the student's own name for the file. The patterns follow the programs that write the names, if they
are public: canvas-lms (lib/content_zipper.rb), Moodle (mod/assign/classes/downloader.php), Sakai
(AssignmentServiceImpl.java), ILIAS (SubmissionManager), OpenOlat (GTACourseNode). The other patterns follow public
scripts that read the names (Blackboard: kwurst/bb-file-cleanup; Brightspace; Gradescope's submission_metadata.yml).

Students choose the names of their files and of the folders in them. So if a student could have chosen a name that a
row matches, the row applies only if all notebooks match.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import yaml

from grader.complaint import Complaint

METADATA = "submission_metadata.yml"  # in Gradescope's export, beside the folders
GROUPS = ("student", "name", "attempt")  # that the pattern of `--names` may have


@dataclass(frozen=True, kw_only=True)
class Named:
    """The information that a platform wrote into the name of a file."""

    platform: str
    student: str  # the platform's own id
    name: str = ""
    file: str = ""  # the student's own name for the file; "" where the platform does not tell
    late: bool = False
    attempt: str = ""  # of two attempts, the newer one is greater


@dataclass(frozen=True)
class Download:
    """The pattern of one platform's file names."""

    platform: str
    path: re.Pattern[str]  # groups: student, name, last, file, typed, late, attempt
    least: int = 0  # what one student names could look alike: all notebooks must match, and be of so many students
    beside: str = ""  # a file that lies beside the students

    def match(self, above: str, parts: Sequence[str]) -> Named | None:
        """Return the information in a path below the folder `above`, or None if the platform writes no such path."""
        found = self.path.fullmatch("/".join((above, *parts)))
        return found and named_by(self.platform, found)


def named_by(platform: str, found: re.Match[str]) -> Named:
    """Return the information that the named groups of a matched path contain."""
    said = {key: value.strip() for key, value in found.groupdict(default="").items()}
    name = f"{said.get('name', '')} {said.get('last', '')}".strip()
    return Named(
        platform=platform,
        student=said["student"] or name,
        name=name,
        file=said.get("file") or said.get("typed") or "",
        late=bool(said.get("late")),
        attempt=_order(said.get("attempt", "")),
    )


def _row(platform: str, pattern: str, *, least: int = 0, beside: str = "", above: str = "[^/]*") -> Download:
    return Download(platform, re.compile(f"{above}/{pattern}"), least, beside)


# What stands for any file below a folder: its last part is the student's name for it, and an empty folder has none.
INSIDE = r"(?:.*/)?(?P<file>[^/]*)"
CANVAS_FILE = r"_(?:[0-9]{1,20}_(?P<file>[^/]+)|(?P<typed>(?:text|link)\.html))"
DOWNLOADS = (
    _row(
        "moodle", r"(?P<name>[^_/]+)(?:_(?P<student>[0-9]{1,20}))?_assignsubmission_[a-z0-9]+"
        rf"(?:(?:_[^/]*)?/{INSIDE}|_(?P<typed>[^/]*))",
    ),
    _row("canvas", rf"(?P<late>LATE_)?anon_(?!LATE_)(?P<student>[A-Za-z0-9]+){CANVAS_FILE}"),
    _row("canvas", rf"(?P<name>[^/]+?)(?P<late>_LATE)?_(?P<student>[0-9]{{1,20}}){CANVAS_FILE}"),
    _row(
        "blackboard", r"(?P<student>[^/]+?)_attempt_(?P<attempt>[0-9]{4}(?:-[0-9]{2}){5})(?:_(?P<file>[^/]+)|\.txt)",
    ),
    _row(
        "brightspace", r"(?P<student>[0-9]+)-[0-9]+ - (?P<name>[^/]+?) - "
        rf"(?P<attempt>[A-Z][a-z]{{2}} [0-9]{{1,2}}, [0-9]{{4}} [0-9]{{3,4}} [AP]M)(?: - (?P<typed>[^/]+)|/{INSIDE})",
    ),
    _row(
        "sakai",
        rf"(?:(?P<last>[^/(),]+), )?(?P<name>[^/()]+)\((?P<student>[^/()]+)\)(?:/{INSIDE}|_[^_/]+_(?P<typed>[^/]+))",
    ),
    _row("gradescope", rf"(?P<student>submission_[0-9]+)/{INSIDE}", beside=METADATA),
    _row("openolat", rf"[^_/]+_[^_/]+_(?P<student>[^/]+)/[0-9]_[^/]+/{INSIDE}", least=1),
    _row(
        "ilias", r"[^_/]+_[^_/]+_(?P<student>[^/]+)_[0-9]+/(?P<late>Late Submission - )?"
        r"(?P<file>[^/]*?(?: \((?P<attempt>[0-9]+)\))?\.[^/.]+)",
        least=2,
    ),
    _row("github", rf"(?P=title)-(?P<student>[^/]+)/{INSIDE}", above="(?P<title>[^/]+)-submissions", least=1),
    # A Google form in which a file is uploaded puts the name of whoever did it behind the file's own name.
    _row("google", r"(?P<typed>[^/]+) - (?P<student>(?P<name>[^/0-9]+))\.ipynb", least=2),
)  # fmt: skip
# Files and folders that a platform, or the instructor, puts beside what a student handed in.
NOT_HANDED_IN = {
    "sakai": re.compile(r"[^/]*/[^/]*/(?:Feedback Attachment\(s\)/.*|feedbackText\.html|comments\.txt|timestamp\.txt)"),
    "openolat": re.compile(r"[^/]*/[^/]*/(?!2_)[0-9]_[^/]*/.*"),
}


def _order(attempt: str) -> str:
    """Return a string that sorts attempts by their time.

    It is a date in ISO format, or the given text with all numbers padded to the same length.
    """
    with suppress(ValueError):
        day, _, clock = attempt.removesuffix(" AM").removesuffix(" PM").rpartition(" ")
        return datetime.strptime(f"{day} {clock.zfill(4)}{attempt[-3:]}", "%b %d, %Y %I%M %p").isoformat()
    return re.sub(r"[0-9]+", lambda number: number[0].zfill(20), attempt)


def platform_of(above: str, files: Collection[Sequence[str]]) -> str:
    """Return the platform that wrote the names in a folder, or "" if no platform wrote them.

    Args:
        above: the name of the folder.
        files: all paths, relative to the folder; the path of an empty folder ends with "".
    """
    notebooks = [parts for parts in files if parts[-1].lower().endswith(".ipynb")]
    for row in DOWNLOADS:
        if row.beside and not any(tuple(parts) == (row.beside,) for parts in files):
            continue
        found = [row.match(above, parts) for parts in (notebooks if row.least else files)]
        students = {said.student for said in found if said}
        if students and len(students) >= row.least and (all(found) or not row.least):
            return row.platform
    return ""


def named(platform: str, above: str, parts: Sequence[str]) -> Named | None:
    """Return the information in a path of a platform's download, or None if this platform does not write such a path.

    For a file that was not submitted by a student, such as the instructor's feedback, `student` is "".
    """
    if (other := NOT_HANDED_IN.get(platform)) and other.fullmatch("/".join((above, *parts))):
        return Named(platform=platform, student="")
    rows = (row for row in DOWNLOADS if row.platform == platform)
    return next(filter(None, (row.match(above, parts) for row in rows)), None)


def place_of(platform: str, parts: Sequence[str]) -> int | None:
    """Return the index of the part of a path that names the student, or None if no part names one."""
    whole = ("", *parts)
    return next((at for at in range(len(parts)) if named(platform, whole[at], parts[at:])), None)


# ---------------------------------------------------------------- what stands in a file of the platform's own


Read = Callable[[Sequence[str]], str]  # returns the text of a file, "" if it cannot be read


def students_by_key(platform: str, paths: Iterable[Sequence[str]], read: Read) -> Mapping[str, tuple[Named, ...]]:
    """Map the id of each group or upload in the paths to its students.

    Return {} for a platform whose paths contain the students' ids.

    Args:
        paths: all paths, relative to the folder that contains the students.
        read: returns the text of a file, or "" if the file cannot be read.

    Raises:
        ValueError: Gradescope's metadata cannot be read.
    """
    if platform == "gradescope":
        return _gradescope_submitters(read((METADATA,)))
    if platform == "blackboard":
        texts: dict[str, str] = {}
        for parts in paths:
            if said := named(platform, "", parts):
                texts[said.student] = texts.get(said.student) or ("" if said.file else read(parts))
        return {head: (_blackboard_student(head, texts, text),) for head, text in texts.items()}
    return {}


def _blackboard_student(head: str, heads: Collection[str], text: str) -> Named:
    """Return the student that a name of the form `TITLE_USERNAME` belongs to.

    The title and the user name may both contain underscores.

    Args:
        head: the name of this student's files.
        heads: the names of all students' files; all begin with the same title.
        text: the content of Blackboard's text file about the attempt, or "" if the download does not contain it.
    """
    said = re.match(r"\s*Name:\s*(?P<name>[^\n]*?)\s*\((?P<student>[^()\n]+)\)\s*(?:\n|$)", text)
    if said and head.endswith(f"_{said['student']}"):
        return named_by("blackboard", said)
    title = head.rpartition("_")[0]
    while title and not all(each.startswith(f"{title}_") for each in heads):
        title = title.rpartition("_")[0]
    return Named(platform="blackboard", student=head.removeprefix(f"{title}_") if title else head)


def _gradescope_submitters(text: str) -> Mapping[str, tuple[Named, ...]]:
    """Map each folder of Gradescope's export to the people who submitted it.

    A student's id is the school's own, `:sid:`. Without such an id, it is the email address, `:email:`.
    """
    try:
        listed = yaml.load(text, _Plain)
    except yaml.YAMLError as error:
        raise ValueError(f"{METADATA} cannot be read: {str(error).splitlines()[0]}") from error
    if not isinstance(listed, dict):
        raise ValueError(f"{METADATA} cannot be read: it lists no submissions")
    people = {str(folder): tuple(_submitters(about)) for folder, about in listed.items()}
    return {folder: submitters for folder, submitters in people.items() if submitters}


class _Plain(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # that of C is several times as fast
    """Reads YAML with plain values. Ruby's own types, which Gradescope may write, become None."""


_Plain.add_multi_constructor("!", lambda loader, suffix, node: None)


def _submitters(about: Any) -> Iterable[Named]:
    people = about.get(":submitters") if isinstance(about, dict) else None
    for person in people if isinstance(people, list) else ():
        said = {key: str(value or "").strip() for key, value in person.items()} if isinstance(person, dict) else {}
        if student := said.get(":sid") or said.get(":email"):
            yield Named(platform="gradescope", student=student, name=said.get(":name", ""))


# ---------------------------------------------------------------- names of no platform that is known here


class WrongPattern(Complaint):
    """The pattern of `--names` is invalid, or a notebook does not match it."""


def pattern_of_names(pattern: str) -> re.Pattern[str]:
    """Compile the pattern of `--names`: the instructor's regular expression for a whole path.

    Its named group `student` matches the student's id. The groups `name` and `attempt` are optional.

    Raises:
        WrongPattern: the pattern is not a regular expression, lacks the group `student`, or has other groups.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise WrongPattern(f"--names {pattern!r} is not a regular expression: {error}") from error
    if not {"student"} <= set(compiled.groupindex) <= set(GROUPS):
        raise WrongPattern(
            f"--names {pattern!r} needs the group (?P<student>…), and may have (?P<name>…) and (?P<attempt>…)"
        )
    return compiled
