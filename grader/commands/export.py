"""Runs `grader export`.

It writes the scores of the class in a service's format, the feedback as a zip that the service
imports, or the autograder's zip.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from grader.build.gradescope_zip import autograder
from grader.classes.gradebook.config import CourseConfig, read_config
from grader.classes.gradebook.reader import read_whole
from grader.classes.results.feedback_zip import FEEDBACK_TO, FeedbackZip, WrongDownload, feedback_zip
from grader.commands.console import Terminal, check_assignment
from grader.commands.from_gradebook import recorded_entries
from grader.commands.given_file import is_standard_output, read_own_file, write_lines, write_result
from grader.commands.options import ExportOptions
from grader.complaint import Complaint
from grader.course import assignment_by_exercise, lessons
from grader.records import GradebookEntry
from grader.report.export import COLUMNS, Export, export
from grader.report.jsonl import entry_to_json
from grader.report.text import some
from grader.secret import course_secret
from grader.submission.intake import find_all

WITH_COLUMN = tuple(name for name in COLUMNS if name != "openolat")
WITH_OWN_FILE = (*WITH_COLUMN, "moodle")


def run(options: ExportOptions, terminal: Terminal) -> None:
    """Write the scores of the gradebook to files, or write the zip that grades at Gradescope."""
    if complaint := _wrong_options(options):
        raise Complaint(complaint)
    if options.autograder is not None:
        _check_new(options, options.autograder)
        write_autograder(options.autograder, options, terminal)
        return
    _check_new(options, options.to, options.feedback)
    config = read_config(options.root, options.gradebook)
    entries = recorded_entries(config, options.assignment)
    if options.fill:
        write = partial(export, options.service, entries, column=options.column)
        exported = read_own_file(options.fill, lambda text: write(own=text))
    else:
        exported = export(options.service, entries, column=options.column)
    packed = _feedback(options, config) if options.feedback else None
    _write(options, exported, packed, entries, terminal)
    for remark in (*_remarks(entries, exported.left_out, options.service), *exported.remarks):
        terminal.complain(remark)
    for remark in _about_feedback(packed) if packed else ():
        terminal.complain(remark)


def _wrong_options(options: ExportOptions) -> str:
    """Return a message about options that contradict each other, or "" if the options fit together."""
    service = options.service
    if options.autograder and service != "gradescope":
        return f"--autograder works only with gradescope, not with {service}"
    for name, given, services in (
        ("--column", options.column, WITH_COLUMN),
        ("--fill", options.fill, WITH_OWN_FILE),
        ("--feedback", options.feedback, FEEDBACK_TO),
    ):
        if given and service not in services:
            return f"{name} works only with {', '.join(services)}, not with {service}"
    if bool(options.feedback) != bool(options.submissions):
        return (
            f"--feedback and --submissions need each other, because the zip gets the file names of "
            f"{service.capitalize()}'s download. Pass both."
        )
    if service == "blackboard" and options.to is None:
        return "Blackboard needs UTF-16, which a terminal cannot show. Pass --out FILE, such as scores.xls."
    if is_standard_output(options.json) and options.to is None:
        return "--json - and the scores would both go to standard output. Pass --out FILE for the scores."
    return ""


def _check_new(options: ExportOptions, *files: Path | None) -> None:
    """Raise Complaint if a file to write exists already, unless it is a device or --force is given."""
    there = [str(path) for path in files if path is not None and path.is_file()]
    if there and not options.force:
        raise Complaint(f"already there: {', '.join(there)}. Choose another name, or pass --force to replace the file.")


def _feedback(options: ExportOptions, config: CourseConfig) -> FeedbackZip:
    """Return the feedback on the downloaded submissions, packed for the service.

    Raises:
        WrongDownload: the download contains no submissions, or is another service's.
    """
    files, failed = find_all(options.submissions or (), tuple(lessons()), options.assignment, assignment_by_exercise())
    if problem := next((file.problem for file in failed if file.problem), None):
        raise WrongDownload(problem.message)
    wanted = [(file.student, file.assignment) for file in files]
    entries = read_whole(config.gradebook, config.course_id, wanted)
    return feedback_zip(options.service, files, entries, config.results / "autograded")


def _write(
    options: ExportOptions,
    exported: Export,
    packed: FeedbackZip | None,
    entries: Sequence[GradebookEntry],
    terminal: Terminal,
) -> None:
    """Write the files that the options name, and print their paths on standard error."""
    if options.to is None:
        terminal.out.file.write(exported.text)
    else:
        write_result(options.to, exported.text.encode(exported.encoding))
        terminal.note(f"wrote {options.to}")
    if options.feedback and packed:
        write_result(options.feedback, packed.content)
        terminal.note(f"wrote {options.feedback}: feedback on {len(packed.names)} submissions")
    if options.json:
        write_lines(options.json, map(entry_to_json, entries), terminal.out.file)


def _about_feedback(packed: FeedbackZip) -> Iterator[str]:
    """Yield messages about students whose feedback is missing in the zip, or is about another submission."""
    if packed.not_graded:
        yield f"these students have no grade yet, so the zip contains no feedback for them: {some(packed.not_graded)}"
    if packed.no_file:
        yield (
            "these students submitted no notebook, so Canvas accepts no feedback file for them. "
            f"Send each of them their page: {some(packed.no_file)}"
        )
    if packed.newer:
        yield f"the download differs from the graded submission. Grade these again: {some(packed.newer)}"


def _remarks(entries: Sequence[GradebookEntry], left_out: Sequence[str], service: str) -> Iterator[str]:
    """Yield messages about students whom the file of scores leaves out, and about scores that may still change."""
    if left_out:
        yield f"{service.capitalize()} does not know these students, so the file leaves them out: {some(left_out)}"
    faults = [entry for entry in entries if entry.status == "fault"]
    if stale := [entry.student.id for entry in faults if entry.has_earlier_score]:
        yield f"the newest submission could not be graded, and the score is for an earlier one: {some(stale)}"
    by_hand = [entry for entry in faults if entry.score is not None and not entry.has_earlier_score]
    if by_hand:
        ids = [entry.student.id for entry in by_hand]
        yield f"these submissions could not be graded and have only manual points: {some(ids)}"
    if empty := [entry.student.id for entry in faults if entry.score is None]:
        yield f"these submissions could not be graded and have no score yet: {some(empty)}"
    if waiting := [entry.student.id for entry in entries if entry.waits_for_person]:
        yield f"these submissions need manual grading in formgrader: {some(waiting)}"


def write_autograder(to: Path, options: ExportOptions, terminal: Terminal) -> None:
    """Write the zip that grades one assignment at Gradescope.

    Raises:
        Complaint: no assignment is given, or it is unknown.
    """
    known = tuple(lessons())
    if options.assignment is None:
        raise Complaint(f"the assignment is missing. Pass --assignment with one of {', '.join(known)}.")
    check_assignment(options.assignment, known)
    secret = course_secret(options.root)
    content = autograder(options.root, assignment=options.assignment, isolation=options.isolation, secret=secret)
    write_result(to, content, private=True)  # the zip contains the course secret
    terminal.say(f"wrote {to}. It contains the course secret and the reference; upload it only to Gradescope.")
