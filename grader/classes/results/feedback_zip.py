"""Packs the feedback pages of a class into a zip that the learning platform can import.

The zip must contain the platform's own names. Only the platform's download of the submissions
contains these names:

- Moodle, "Upload multiple feedback files in a zip": it finds the student by the number in the
  folder's name, as mod/assign/feedback/file/importziplib.php reads it. So each page has the place
  of the submission in the download.
- Canvas, "Upload Submissions": it finds the student by the numbers in the file's name, and shows
  the file under the name of the submitted file (infer_comment_context_from_filename of canvas-lms).
  So each file is a notebook that has exactly the name of the downloaded file.
- Brightspace expects the folders of its download, Sakai a folder for feedback in each student's
  folder, and OpenOlat a folder with the student's user name.
"""

import io
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from grader.classes.results.folders import autograded_notebook
from grader.classes.results.pages import page_of
from grader.complaint import Complaint
from grader.records import GradebookEntry
from grader.report.markdown import feedback_notebook
from grader.submission.downloads import place_of
from grader.submission.file import IntakeError, SubmissionFile
from grader.submission.intake import content
from grader.submission.people import is_notebook

FEEDBACK_TO = ("canvas", "moodle", "brightspace", "sakai", "openolat")
OLDEST = (1980, 1, 1, 0, 0, 0)  # of every file in the zip, so that the same feedback gives the same bytes


class WrongDownload(Complaint):
    """The given file is not a download of the platform. The message states what the file is."""


@dataclass(frozen=True, kw_only=True)
class FeedbackZip:
    """The zip, and the students who are missing in it or whose feedback is about another submission."""

    content: bytes
    names: tuple[str, ...]
    not_graded: tuple[str, ...] = ()  # students in the download without a grade
    no_file: tuple[str, ...] = ()  # Canvas: students without a submitted notebook, whose name feedback needs
    newer: tuple[str, ...] = ()  # students whose downloaded file differs from the graded one


def feedback_zip(
    service: str, files: Sequence[SubmissionFile], entries: Iterable[GradebookEntry | None], autograded: Path
) -> FeedbackZip:
    """Pack the feedback on all submissions of a download: for Canvas notebooks, for other services pages.

    Args:
        service: one of FEEDBACK_TO.
        files: the submissions of the download.
        entries: for each submission, its entry in the gradebook with the whole grade, or None
            without an entry.
        autograded: the folder with the executed notebooks.

    Raises:
        WrongDownload: the download contains a name that the service does not use.
    """
    written: dict[str, str] = {}
    not_graded: list[str] = []
    no_file: list[str] = []
    newer: list[str] = []
    for file, entry in zip(files, entries, strict=True):
        parts = file.member.split("/") if file.member else list(file.parts)
        place = place_of(service, parts)
        if file.platform != service or place is None:
            said = file.platform.capitalize()
            by = f"a name of {said}" if said else f"no name of {service.capitalize()}"
            raise WrongDownload(f"{'/'.join(parts)!r} is {by}. Pass the zip as {service.capitalize()} wrote it.")
        if entry is None or entry.status == "recorded":
            not_graded.append(file.student)
            continue
        if service == "canvas" and not is_notebook(parts[-1]):  # the feedback would not open under its name
            no_file.append(file.student)
            continue
        if _is_newer(file, entry):
            newer.append(file.student)
        if service == "canvas":
            written[parts[-1]] = feedback_notebook(entry)
        else:
            notebook = autograded_notebook(autograded, entry.student.id, entry.assignment)
            written[_page_name(service, parts, place, file)] = page_of(entry, notebook)
    return FeedbackZip(
        content=_packed(written),
        names=tuple(written),
        not_graded=tuple(not_graded),
        no_file=tuple(no_file),
        newer=tuple(newer),
    )


def _page_name(service: str, parts: Sequence[str], place: int, file: SubmissionFile) -> str:
    """Return the path of a student's page in the zip that the platform imports.

    Args:
        parts: the parts of the path in the download.
        place: the index of the part that names the student.
    """
    page = f"{file.assignment}.html"
    if service == "openolat":
        return f"{file.student}/{page}"
    if service == "sakai":
        return "/".join((*parts[: place + 1], "Feedback Attachment(s)", page))
    if len(parts) > place + 1:
        return f"{parts[place]}/{page}"
    if service == "brightspace":  # a download of single files; a folder of that name is what goes back
        return f"{' - '.join(parts[place].split(' - ')[:3])}/{page}"
    # Moodle's download without folders: the page's name begins with what names the student.
    kind = parts[place].index("_assignsubmission_") + len("_assignsubmission_")
    plugin = parts[place][kind:].partition("_")[0]
    return f"{parts[place][:kind]}{plugin}_{page}"


def _is_newer(file: SubmissionFile, entry: GradebookEntry) -> bool:
    """Return True if a file differs from the submission that the feedback is about.

    Return False if the file cannot be read.
    """
    try:
        digest = sha256(content(file)).hexdigest()
    except IntakeError:
        return False
    return bool(entry.grade.submission_sha256) and digest != entry.grade.submission_sha256


def _packed(written: dict[str, str]) -> bytes:
    """Return a zip of these files as bytes. Names that are not ASCII are marked as UTF-8."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in written.items():
            member = zipfile.ZipInfo(name, OLDEST)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            archive.writestr(member, text.encode("utf-8", "replace"))
    return buffer.getvalue()
