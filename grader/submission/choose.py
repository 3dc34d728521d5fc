"""Chooses which of a person's notebooks is graded for each assignment, and finds its assignment.

No person is left out. A person without a notebook, or with two notebooks for
one assignment, gets a submission with a `problem`.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from grader.submission.file import Problem, SubmissionFile, Unavailable, assignment_in, fault, name_problem
from grader.submission.people import Entry, Layout, Person, StudentFile

MOST_NAMES = 3  # that a message lists
MOST_CHARACTERS = 80  # of a name in a message


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The requested submissions, and the facts about them that are known before they are read."""

    assignments: tuple[str, ...]  # of the course
    only: str | None = None  # the assignment whose submissions are wanted; None for all
    hint: str | None = None  # the assignment that the folder of all submissions is named after


UNDECIDED = fault("cannot determine the assignment. Pass --assignment")

# Makes the record of a file that lies at an entry, without student and assignment.
Place = Callable[[Entry], SubmissionFile]
# Reads a notebook, and returns the assignment whose exercises its cells answer, or None.
# Raises Unavailable if the machine cannot read it.
ReadAssignment = Callable[[SubmissionFile], str | None]


def choose(
    everybody: Sequence[Person], wanted: Wanted, place: Place, read_assignment: ReadAssignment
) -> list[SubmissionFile]:
    """Return all submissions, one for each assignment that a person submitted.

    If no notebook of a student has an assignment in its name, the notebooks belong to the first of these assignments
    that is known:
    - the assignment that was asked for;
    - the only assignment that the names of all other notebooks contain;
    - the assignment that the folder of all submissions is named after, if no notebook's name contains one;
    - the assignment that contains the exercises in the notebook's cells.

    Return [] if no assignment can be found for any file.
    """
    # Without somebody who is surely a student, a folder is any folder, and its PDFs are nobody's submissions.
    sure = any(person.layout in (Layout.SERVICE, Layout.NBGRADER) for person in everybody)
    if not sure and not any(file.entry.is_notebook or file.entry.problem for each in everybody for file in each.files):
        return []
    chooser = _Chooser(wanted, place, cache(lambda entry: read_assignment(place(entry))))
    groups = [chooser.groups(person) for person in everybody]
    named = {name for group in groups for name in group} & {*wanted.assignments}
    default = wanted.only or (min(named) if len(named) == 1 else wanted.hint if not named else None)
    pairs = zip(everybody, groups, strict=True)
    found = [file for person, group in pairs for file in chooser.files(person, group, default)]
    # What says no assignment at all, as a PDF, belongs to the assignment of the others, if their cells agree.
    others = {file.assignment for file in found} & {*wanted.assignments}
    if len(others) == 1:
        return [file if file.assignment else replace(file, assignment=min(others)) for file in found]
    found = [file if file.assignment else _with_fault(file, read_assignment) for file in found]
    if not any(file.assignment or (file.problem and file.problem.status == "fault") for file in found):
        return []
    return [file if file.assignment or file.problem else replace(file, problem=UNDECIDED) for file in found]


def _with_fault(file: SubmissionFile, read_assignment: ReadAssignment) -> SubmissionFile:
    """Return the record of a file whose assignment is unknown.

    The record gets a problem if the machine cannot read the file to find the assignment.
    """
    try:
        if not file.problem:
            read_assignment(file)
    except Unavailable as error:
        return replace(file, problem=error.problem)
    return file


@dataclass(frozen=True)
class _Chooser:
    """Chooses among the files of a person. One chooser serves all persons of a class."""

    wanted: Wanted
    place: Place
    assignment_in_cells: Callable[[Entry], str | None]

    def groups(self, person: Person) -> dict[str, list[StudentFile]]:
        """Map each assignment to the files that a person submitted for it.

        Files under the key "" may belong to any assignment.
        """
        groups: dict[str, list[StudentFile]] = {}
        for file in person.files:
            groups.setdefault(self._group(person, file), []).append(file)
        only = self.wanted.only
        if person.layout is Layout.SERVICE and only and only not in groups:
            # A service's zip is of one assignment: a file with another name is for it all the same.
            return {"": list(person.files)}
        return groups

    def _group(self, person: Person, file: StudentFile) -> str:
        """Return the assignment that the file's folder or name contains, or "" if neither contains one."""
        if person.layout is Layout.NBGRADER and file.folder:
            return file.folder
        if not file.entry.is_notebook:
            return ""
        return assignment_in(file.stem, self.wanted.assignments) or ""

    def files(
        self, person: Person, groups: dict[str, list[StudentFile]], default: str | None
    ) -> Iterator[SubmissionFile]:
        """Yield a person's submissions, one for each assignment.

        Args:
            groups: the person's files by assignment, as `groups` returns them.
            default: the assignment of files that may belong to any; None if it must be read from the cells.
        """
        named = {assignment: files for assignment, files in groups.items() if assignment}
        if not named:
            named = self._by_cells(groups[""], default)
        for assignment, files in named.items():
            if self.wanted.only and assignment != self.wanted.only:
                continue
            file, problem, note = self._pick(person, assignment, files)
            if len(person.claims) > 1:
                claims = _places(person.claims)
                mend = "Find out whose each is, and remove or rename the other."
                problem = fault(f"two claim to be {person.student}: {claims}. {mend}")
            if assignment and assignment not in self.wanted.assignments:
                known = ", ".join(self.wanted.assignments)
                problem = Problem(f"unknown assignment {assignment!r}. Choose one of {known}.", proven=False)
            yield replace(
                self.place(file.entry),
                student=person.student,
                assignment=assignment,
                problem=name_problem(person.student) or problem,
                name=person.name,
                platform=person.platform,
                late=person.late,
                note="; ".join(filter(None, (person.note, note))),
            )

    def _by_cells(self, files: list[StudentFile], default: str | None) -> dict[str, list[StudentFile]]:
        """Map assignments to files whose names contain no assignment.

        All files belong to `default` if it is given. Otherwise a notebook belongs to the assignment that its
        cells identify. If no notebook's cells identify one, all files are under the key "".
        """
        if default:
            return {default: files}
        groups: dict[str, list[StudentFile]] = {}
        for file in files:
            if assignment := self._assignment_of(file):
                groups.setdefault(assignment, []).append(file)
        return groups or {"": files}

    def _assignment_of(self, file: StudentFile) -> str | None:
        """Return the assignment that a notebook's cells identify.

        Return None if the cells identify no assignment, or if the file is not a notebook or cannot be read.
        """
        if not file.entry.is_notebook:
            return None
        try:
            return self.assignment_in_cells(file.entry)
        except Unavailable:  # who reads it next says so
            return None

    def _pick(
        self, person: Person, assignment: str, files: Sequence[StudentFile]
    ) -> tuple[StudentFile, Problem | None, str]:
        """Return the file that is graded, a problem or None, and a note or "".

        There is a problem if none of the files is a notebook, or if more than one notebook may be the submission.
        """
        notebooks = [file for file in files if file.entry.is_notebook]
        if not notebooks:
            return files[0], _no_notebook(assignment, files), ""
        exact = [file for file in notebooks if file.label == f"{assignment}.ipynb"]
        named = [file for file in notebooks if assignment_in(file.stem, (assignment,))]
        # In nbgrader's layout, what lies beside the notebook with the exact name goes with it: a copy, a draft.
        chosen = exact[:1] if person.layout is Layout.NBGRADER else []
        chosen = chosen or named or notebooks
        if len(chosen) > 1 and not named:
            chosen = [file for file in chosen if self._assignment_of(file) == assignment] or chosen
        if len(chosen) > 1:
            places = _places([file.entry for file in chosen])
            which = f"two notebooks of {person.student} for {assignment}: {places}"
            return chosen[0], fault(f"{which}. Remove all but one."), ""
        return chosen[0], None, self._note(person, assignment, chosen[0])

    def _note(self, person: Person, assignment: str, file: StudentFile) -> str:
        """Return a note if the notebook has another name than its layout expects, or "" if the name is as expected."""
        if not assignment or file.label == f"{assignment}.ipynb":
            return ""
        if person.layout is Layout.FLAT and self.wanted.only:
            return ""  # the file's name is the student's id
        if person.layout is not Layout.NBGRADER and assignment_in(file.stem, (assignment,)):
            return ""  # the service, or the browser, numbered it
        return renamed(file.label, assignment)


def renamed(name: str, assignment: str) -> str:
    """Return a note with the notebook's submitted name and the assignment that it is graded as."""
    return f"submitted as {shown(name)!r}, graded as {assignment}"


def shown(name: str) -> str:
    """Return a file's name for a message: without control characters, and cut to MOST_CHARACTERS."""
    text = "".join("?" if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in name)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _no_notebook(assignment: str, files: Sequence[StudentFile]) -> Problem:
    """Return a problem that names the files submitted instead of a notebook, or explains why a file cannot be read."""
    for file in files:
        if file.entry.problem:
            place = shown("/".join(file.entry.parts))
            missing = f"{assignment}.ipynb is missing: " if assignment else ""
            return fault(f"{missing}{place} {file.entry.problem}")
    names = ", ".join(shown(file.label) for file in files[:MOST_NAMES])
    more = f" and {len(files) - MOST_NAMES} more" if len(files) > MOST_NAMES else ""
    return Problem(f"not a notebook: {names}{more}. Submit the .ipynb file.")


def _places(entries: Sequence[Entry]) -> str:
    """Return the quoted paths of the first MOST_NAMES files, joined by "and", for a message."""
    return " and ".join(repr(shown("/".join(entry.parts))) for entry in entries[:MOST_NAMES])
