"""`grader check`: grades one notebook and shows the verdicts in the terminal, without recording them."""

import os
from functools import partial
from pathlib import Path

from grader.classes.workers.local import close_servers, thread_server, use_server
from grader.commands.console import Terminal, check_assignment
from grader.commands.given_file import is_standard_output, write_lines, write_result
from grader.commands.options import CheckOptions
from grader.course import assignment_by_exercise, lessons
from grader.grading.grade import get_ready, grade, master_notebook
from grader.grading.graded import again_if_starved
from grader.records import Grade, GradingSettings
from grader.report.ci import annotated, github, gitlab, junit
from grader.report.jsonl import to_json
from grader.report.terminal import details
from grader.report.text import number
from grader.sandbox.device import usable_device
from grader.sandbox.process import ServerProcess
from grader.sandbox.tiers import resolve_tier
from grader.secret import course_secret
from grader.submission.file import IntakeError, SubmissionFile, Unreadable
from grader.submission.intake import content, find

CODE_QUALITY = Path("gl-code-quality-report.json")  # as GitLab's documentation calls it


def run(options: CheckOptions, terminal: Terminal, early: ServerProcess | None = None) -> int:
    """Grade one notebook, and show its verdicts with reasons.

    Args:
        early: a fork server that was started early. It is used if it has the chosen tier and
            device.

    Returns:
        the exit status: 0 if the notebook was graded, 1 if it was not or has too few points.

    Raises:
        Complaint: the options are wrong, or this machine cannot grade.
    """
    known = tuple(lessons())
    check_assignment(options.assignment, known)
    try:
        files = list(find(options.notebook, known, options.assignment, assignment_by_exercise()))
        if len(files) != 1:
            raise Unreadable(f"{options.notebook} contains {len(files)} submissions. Use `grader grade` for a class.")
        graded = grade_file(files[0], options, terminal, early)
    except (IntakeError, FileNotFoundError) as error:  # the latter: the student notebook was never built
        terminal.complain(error)
        return 1
    if not is_standard_output(options.json):
        terminal.out.print(details(graded))
    _write(graded, files[0], options, terminal)
    if graded.status != "graded":
        return 1
    if options.fail_under is not None and (graded.score or 0.0) < options.fail_under:
        reached = f"{number(graded.score or 0.0)} of {number(graded.max_score)} points"
        terminal.complain(f"{reached}: below the {number(options.fail_under)} points of --fail-under")
        return 1
    return 0


def _write(grade: Grade, file: SubmissionFile, options: CheckOptions, terminal: Terminal) -> None:
    """Write the results in the formats for other programs that the options name.

    Raises:
        CannotWrite: a file cannot be written.
    """
    if options.json:
        write_lines(options.json, [to_json(grade)], terminal.out.file)
    # Platforms know files by their paths in the repository, and say where that lies.
    top = os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR") or "."
    path = Path(os.path.relpath(options.notebook, top)).as_posix()
    if options.junit:
        write_result(options.junit, junit(grade, path))
    if options.annotations:
        found = annotated(grade, content(file).decode("utf-8", "replace") if grade.status == "graded" else "")
        if options.annotations == "github":
            for line in github(found, path):
                terminal.note(line)
        else:
            write_result(CODE_QUALITY, gitlab(found, path))
            terminal.note(f"wrote {CODE_QUALITY}")


def grade_file(
    file: SubmissionFile, options: CheckOptions, terminal: Terminal, early: ServerProcess | None = None
) -> Grade:
    """Grade one submission in this process.

    Args:
        early: as for `run`.

    Raises:
        FileNotFoundError: the student notebook has not been built.
    """
    lesson = lessons().get(file.assignment)
    released = master_notebook(options.root, file.assignment) if lesson else None
    secret, tier = course_secret(options.root), resolve_tier(options.isolation)
    device = usable_device(options.device, tier, terminal.complain)
    if lesson:  # while the fork server imports
        get_ready(lesson)
    if early is not None and (early.tier, early.device) == (tier, device):
        use_server(early)
    server = thread_server(tier, device)
    settings = GradingSettings(secret=secret, device=device, tier=server.isolation, run_all=options.run_all)
    try:
        with (terminal.err if is_standard_output(options.json) else terminal.out).status("Running the notebook …"):
            return again_if_starved(partial(grade, file, server=server, settings=settings, released=released)).grade
    finally:
        close_servers()
