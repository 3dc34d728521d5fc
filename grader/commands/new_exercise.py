"""`grader init --exercise "1.4 Means"`: adds an exercise that works, for its author to change.

The exercise consists of a module with the declaration, an entry in LESSON, and two cells at the end
of the lesson's script. If the lesson does not exist yet, it is made, too.
"""

import ast
import json
import re
import unicodedata
from keyword import iskeyword
from pathlib import Path

from grader.complaint import Complaint
from grader.declare.errors import DeclarationError
from grader.declare.written_exercise import id_and_title
from grader.paths import OWN_LESSONS

TEMPLATES = Path(__file__).parent / "templates" / "exercise"


def add_exercise(root: Path, heading: str) -> list[Path]:
    """Add an exercise to a course, and return the files that were written or changed.

    Args:
        heading: the id and the title, as in "1.4 Means of rows". The number before the dot is the
            lesson's.

    Raises:
        Complaint: the heading cannot be used, the exercise exists already, or the lesson is not
            declared in the usual form.
    """
    number, id, title, name = _parts(heading)
    package = root / OWN_LESSONS / f"lesson_{number}"
    if not package.parent.is_dir():
        raise Complaint(f"{root} has no folder {OWN_LESSONS}/; `grader init FOLDER` makes a course of your own")
    init, module = package / "__init__.py", package / f"{name}.py"
    quoted = json.dumps(title, ensure_ascii=False)[1:-1]  # the templates write it between quotes
    values = {"number": number, "id": id, "title": quoted, "name": name, "constant": name.upper()}
    declaration = init.read_text("utf-8") if init.is_file() else _filled("lesson.py.txt", values)
    assignment = _assignment(init, declaration)
    script = root / "solutions" / f"{assignment}.py"
    text = script.read_text("utf-8") if script.is_file() else _filled("start.py.txt", values)
    if module.exists() or f'exercise="{id}"' in text:
        raise Complaint(f"there is an exercise {id} or a file {module.relative_to(root)}; choose another id or title")
    library = "torch" if re.search(r"^import torch\b", text, re.MULTILINE) else "numpy"
    changed = {
        init: _with_entry(init, declaration, f"{OWN_LESSONS}.lesson_{number}.{name}", name.upper()),
        module: _filled(f"{library}.py.txt", values),
        script: f"{text.rstrip()}\n\n\n{_filled('cells.py.txt', values)}",
    }
    package.mkdir(exist_ok=True)
    for path, content in changed.items():
        path.write_text(content, "utf-8")
    return list(changed)


def _parts(heading: str) -> tuple[str, str, str, str]:
    """Return the lesson's number, the exercise's id, its title, and the name of its function.

    Raises:
        Complaint: the heading does not have this form.
    """
    try:
        id, title = id_and_title(heading)
    except DeclarationError as error:
        raise Complaint(str(error)) from error
    letters = unicodedata.normalize("NFKD", title.casefold())  # "ß" becomes "ss", and "ü" becomes "u" and two dots
    letters = "".join(letter for letter in letters if not unicodedata.combining(letter))
    name = re.sub(r"[^a-z0-9]+", "_", letters).strip("_")
    name += "_" if iskeyword(name) else ""
    if not re.fullmatch(r"\d+\.\d+", id) or not name.isidentifier():
        raise Complaint(
            f"{heading!r}: write the number of the exercise and a title in letters, as in '1.4 Means of rows'"
        )
    return id.partition(".")[0], id, title, name


def _filled(template: str, values: dict[str, str]) -> str:
    """Return a template in which values replace their names in angle brackets, such as `<title>`."""
    text = (TEMPLATES / template).read_text("utf-8")
    return re.sub(r"<(\w+)>", lambda match: values[match[1]], text)


def _lesson_call(path: Path, declaration: str) -> dict[str, ast.expr]:
    """Return the keyword arguments of `LESSON = Lesson(…)` in a declaration.

    Raises:
        Complaint: the declaration contains no such statement.
    """
    for node in ast.parse(declaration, str(path)).body:
        names = {target.id for target in getattr(node, "targets", ()) if isinstance(target, ast.Name)}
        call = getattr(node, "value", None)
        if "LESSON" in names and isinstance(call, ast.Call):
            return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    raise Complaint(f"{path}: there is no `LESSON = Lesson(…)` to add the exercise to")


def _assignment(path: Path, declaration: str) -> str:
    """Return the assignment of a lesson, read from its declaration.

    Raises:
        Complaint: the declaration does not contain it as a string.
    """
    value = _lesson_call(path, declaration).get("assignment")
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
        raise Complaint(f'{path}: write the assignment of LESSON as a string, as in assignment="1-tables"')
    return value.value


def _with_entry(path: Path, declaration: str, module: str, constant: str) -> str:
    """Return a declaration that also imports an exercise and lists it last in LESSON.

    Raises:
        Complaint: the declaration does not contain the exercises as a tuple.
    """
    exercises = _lesson_call(path, declaration).get("exercises")
    if not isinstance(exercises, ast.Tuple):
        raise Complaint(f"{path}: write the exercises of LESSON as a tuple, as in exercises=(MEANS, SUMS)")
    lines = declaration.encode().splitlines(keepends=True)
    last = exercises.elts[-1] if exercises.elts else None
    row = (last.end_lineno or 0) if last else exercises.lineno
    column = (last.end_col_offset or 0) if last else exercises.col_offset + 1
    entry = f", {constant}" if last else f"{constant},"
    lines[row - 1] = lines[row - 1][:column] + entry.encode() + lines[row - 1][column:]
    imports = [node for node in ast.parse(declaration).body if isinstance(node, ast.Import | ast.ImportFrom)]
    after = imports[-1].end_lineno or 0 if imports else 0
    lines.insert(after, f"from {module} import {constant}\n".encode())
    return b"".join(lines).decode()
