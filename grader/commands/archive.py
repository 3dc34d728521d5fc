"""`grader report --pdf`: print the feedback pages and the page of the class, for those who archive them."""

from collections.abc import Sequence
from pathlib import Path

from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.reader import read_whole
from grader.classes.results.folders import autograded_notebook, write_pdf
from grader.classes.results.pages import page_of
from grader.commands.from_gradebook import whole_class_page
from grader.commands.output_file import write_result
from grader.records import GradebookEntry
from grader.report.pdf import pdf_printer


def write_pdfs(
    folder: Path, entries: Sequence[GradebookEntry], with_all: Sequence[GradebookEntry], root: Path, url: str | None
) -> int:
    """Write each submission's page to <student>/<assignment>/<assignment>.pdf, and class.pdf; return how many pages.

    Args:
        entries: the class, with those who handed in nothing.
        with_all: the same with their checks.

    Raises:
        NoPdf: there is nothing here that prints.
        RecordError: the gradebook cannot be read, or the folder cannot be written.
        CannotWrite: class.pdf cannot be written.
    """
    config = read_config(root)
    gradebook = url or config.gradebook
    autograded = config.results_folder(gradebook) / "autograded"
    wanted = [(entry.student.id, entry.assignment) for entry in entries if entry.status != "missing"]
    count = 0
    with pdf_printer() as printed:
        for entry in filter(None, read_whole(gradebook, config.course_id, wanted)):
            student, assignment = entry.student.id, entry.assignment
            page = page_of(entry, autograded_notebook(autograded, student, assignment))
            write_pdf(folder, student, assignment, printed(page))
            count += 1
        write_result(folder / "class.pdf", printed(whole_class_page(with_all, root, url)))
    return count
