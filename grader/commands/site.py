"""`grader site`: writes the course as static pages, for any web server, or for reading from a disk."""

from nbclient.exceptions import CellExecutionError

from grader.commands.console import Terminal
from grader.commands.options import SiteOptions
from grader.complaint import Complaint

RUNS = "site-runs"  # the folder beside the site that keeps the runs of the lessons


def run(options: SiteOptions, terminal: Terminal) -> None:
    """Run the lessons, and write the site.

    Raises:
        Complaint: a package is missing, or a cell of a solution raises.
    """
    try:
        from grader.build.site.write import run_lessons, site_of
    except ModuleNotFoundError as error:
        raise Complaint(f"{error.name} is missing. Run: pip install 'attention-course[site]'") from error
    runs = []
    try:
        for lesson in run_lessons(options.root, options.out.parent / RUNS, options.solved):
            terminal.note(f"ran {lesson.lesson.assignment}")
            runs.append(lesson)
    except CellExecutionError as error:
        raise Complaint(f"a cell of a solution raised: {error}") from error
    size = site_of(options.root, runs).write(options.out)
    terminal.say(f"wrote {options.out}: {size / 1e6:.1f} MB; open {options.out / 'index.html'}")
