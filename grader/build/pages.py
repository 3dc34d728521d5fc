"""Writes the generated parts of README.md, docs/students.md and docs/classroom/grade.yml."""

import re
from collections.abc import Iterable

from grader.build.links import Repository, badge
from grader.declare.lesson import Lesson

LESSONS = re.compile(r"(<!-- lessons: [^>]*-->).*?(<!-- /lessons -->)", re.DOTALL)
TEMPLATE = re.compile(r"^(  (?:COURSE|BRANCH): )\S+$", re.MULTILINE)  # two lines of docs/classroom/grade.yml
COLAB = re.compile(r"(<!-- colab: [^>]*-->).*?(<!-- /colab -->)", re.DOTALL)

# What docs/students.md says as long as nobody knows where the notebooks lie.
UPLOAD = "Go to <https://colab.research.google.com>, choose *File → Upload notebook*, and take one from the zip."
# Optional lessons are not in the zip, and no link leads students to them. They can be done with
# what the other lessons let students build.
LATER = (
    "{names}: not in the zip. Your instructor hands out optional notebooks later. Upload such a notebook to Colab "
    "(*File → Upload notebook*), or put it beside the others on your computer."
)


def with_lessons(page: str, declared: Iterable[Lesson], repository: Repository | None) -> str:
    """Return README.md or docs/students.md with new tables of lessons. Without a repository, they have no links."""
    rows, links = [], []
    declared = list(declared)
    # As in the zip: a course of optional lessons alone hands them out at once.
    later = [one.assignment for one in declared if one.optional and not all(each.optional for each in declared)]
    for lesson in declared:
        name = lesson.assignment
        graded = sum(exercise.points > 0 for exercise in lesson.exercises)
        title = f"{lesson.title} (optional)" if lesson.optional else lesson.title
        row = f"| [{name}](notebooks/{name}/{name}.ipynb) | {title} | {graded} | {lesson.max_score:g} |"
        rows.append(f"{row} {_open_in(repository, name)} |" if repository else row)
        link = "" if name in later or not repository else badge(repository.colab(name))
        links.append(f"| {name} | {title} |" + (f" {link} |" if repository else ""))
    lessons_table = ["| notebook | lesson | exercises | points |", "|---|---|--:|--:|", *rows]
    if repository:
        lessons_table[:2] = ["| notebook | lesson | exercises | points | open in |", "|---|---|--:|--:|---|"]
    head = ["| notebook | lesson | |", "|---|---|---|"] if repository else ["| notebook | lesson |", "|---|---|"]
    colab_table = [*head, *links, *([] if repository else ["", UPLOAD])]
    if later:
        colab_table += ["", LATER.format(names=", ".join(f"**{name}**" for name in later))]
    return _replace_table(COLAB, colab_table, _replace_table(LESSONS, lessons_table, page))


def _open_in(repository: Repository, name: str) -> str:
    """Return the links in README.md that open a lesson: in Colab and, if the course has a site, as a page."""
    rendered = repository.rendered(name)
    return f"[Colab]({repository.colab(name)})" + (f" · [page]({rendered})" if rendered else "")


def with_repository(workflow: str, repository: Repository) -> str:
    """Return the text of the workflow for GitHub Classroom with this repository and branch."""
    values = {"COURSE": repository.name, "BRANCH": repository.branch}
    return TEMPLATE.sub(lambda match: match[1] + values[match[1].strip(" :")], workflow)


def _replace_table(marks: re.Pattern[str], lines: list[str], page: str) -> str:
    """Return a page with these lines between two marks. The pattern matches the marks and the old lines."""
    text = "\n".join(lines)
    return marks.sub(lambda match: f"{match[1]}\n{text}\n{match[2]}", page)
