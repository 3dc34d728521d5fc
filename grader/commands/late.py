"""`grader late`: say how late a student's submission was, where no platform says it, or that it counts as in time."""

from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.lateness import set_lateness
from grader.classes.gradebook.reader import read_class
from grader.commands.console import Terminal
from grader.commands.from_gradebook import write_page
from grader.commands.options import LateOptions
from grader.records import GradebookEntry
from grader.report.text import clean, number, or_dash, who


def run(options: LateOptions, terminal: Terminal) -> None:
    """Write it into the gradebook and onto the student's page."""
    config = read_config(options.root, options.gradebook)
    url, course = config.gradebook, config.course_id
    before = _submission(options, read_class(url, course, options.assignment))
    after = set_lateness(url, course, options.student, before.assignment, options.hours, config.late_penalty)
    page = write_page(config, after)
    late = f"{number(options.hours)} hours late" if options.hours else "in time"
    cost = f"{number(after.penalty)} points taken off; " if after.penalty else ""
    scores = f"score {or_dash(before.score)} → {or_dash(after.score)}"
    terminal.say(f"{who(after.student)}, {after.assignment}: {late}; {cost}{scores}")
    if options.hours and not after.penalty:
        terminal.complain(
            "no points are taken off: nbgrader_config.py sets no penalty. One by the day is set there with "
            "c.AssignLatePenalties.plugin_class = 'grader.classes.nbgrader_plugins.late.PointsPerDay' and c.PointsPerDay.points"
        )
    terminal.say(f"page  {page}")


def _submission(options: LateOptions, entries: list[GradebookEntry]) -> GradebookEntry:
    """Return the student's only submission; raise RecordError where there is none, or there are several."""
    own = [entry for entry in entries if entry.student.id == options.student and entry.status != "missing"]
    if not own:
        raise RecordError(
            f"the gradebook holds no submission of {clean(options.student)!r}; `grader report` shows who has one"
        )
    if len(own) > 1:
        names = ", ".join(entry.assignment for entry in own)
        raise RecordError(f"which assignment? Pass --assignment, one of {names}")
    return own[0]
