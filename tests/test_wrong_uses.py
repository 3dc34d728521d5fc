"""Each wrong use of `grader` is one line that says what to do, and an exit status; nothing is written.

0: all graded. 1: some submission could not be graded. 2: wrong use.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from click.testing import Result
from typer.testing import CliRunner

from grader.cli import app

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENTS = "1-attention, 2-heads, 3-vlm, 4-modern, 5-real, 6-explain"
NO_COURSE = "it contains neither solutions/ nor notebooks/"
NO_URL = "grader: --gradebook nonsense: this is no database URL. Write sqlite:///gradebook.db"
WHICH = f"cannot determine the assignment. The file's name contains none of {ASSIGNMENTS}. Pass --assignment"
A_FOLDER = "it is a folder. Pass the path of a file."
A_FILE = "{work}/file is a file, but it must be a folder. Pass another path."
FULL = "cannot write /dev/full: the disk is full. Make room, or pass another path."

# The command, with variables of the environment before it; the exit status; how its line goes, or a part of it.
# {course}: a course with one graded submission. {work}: a folder with things that are no submissions.
TABLE = [
    ("", 2, "Usage: "),
    ("grad {work}/class", 2, "No such command 'grad'. Did you mean 'grade'"),
    ("grade", 2, "Missing argument 'PATH...'"),
    ("check", 2, "Missing argument 'notebook'"),
    ("export", 2, "Missing argument 'service'"),
    ("doctor now", 2, "Got unexpected extra argument(s) (now)"),
    ("check {work}/1-attention.ipynb {work}/class", 2, "Got unexpected extra argument(s)"),
    ("build --chek", 2, "No such option: --chek"),
    ("report --out class.html", 2, "No such option: --out"),
    ("export ilias", 2, "'ilias' is not one of 'canvas', 'moodle',"),
    ("export blackboard", 2, "grader: Blackboard needs UTF-16"),
    ("grade {work}/class --jobs 0", 2, "Invalid value for '--jobs'"),
    ("grade {work}/class --jobs two", 2, "Invalid value for '--jobs'"),
    ("grade {work}/class --device tpu", 2, "'tpu' is not one of 'auto', 'cpu', 'cuda'"),
    ("check {work}/1-attention.ipynb --isolation half", 2, "'half' is not one of 'auto', 'full', 'partial', 'none'"),
    ("grade {work}/class --jobs 2 --scheduler tcp://127.0.0.1:1", 2, "grader: --jobs is for this machine and --scheduler for a cluster. Pass only one of them."),
    ("grade {work}/class --scheduler nonsense", 2, "grader: no Dask scheduler answers at nonsense"),
    ("grade {work}/class --assignment 9-diffusion", 2, f"grader: there is no assignment '9-diffusion'. Choose one of {ASSIGNMENTS}."),
    ("check {work}/1-attention.ipynb --assignment 9-diffusion", 2, f"grader: there is no assignment '9-diffusion'. Choose one of {ASSIGNMENTS}."),
    ("export csv --assignment 9-diffusion", 2, "grader: the gradebook contains no submission of '9-diffusion'. Choose one of 1-attention."),
    ("grade {work}/nowhere", 2, "grader: {work}/nowhere does not exist. Pass a notebook, a folder of submissions, or a zip."),
    ("grade {course}", 2, "grader: {course} is the course's own folder. Pass a notebook, a folder of submissions, or a zip."),
    ("grade {work}/class {work}/../course", 2, "course is the course's own folder."),
    ("grade {work}/nowhere {work}/class", 2, "grader: {work}/nowhere does not exist."),
    ("check {work}/nowhere.ipynb", 2, "grader: {work}/nowhere.ipynb does not exist. Pass a notebook, a folder of submissions, or a zip."),
    ("check {work}/1-attention.ipynb --annotations bitbucket", 2, "'bitbucket' is not one of 'github', 'gitlab'"),
    ("check {work}/1-attention.ipynb --fail-under -1", 2, "Invalid value for '--fail-under'"),
    ("check {work}/1-attention.ipynb --junit {work}/folder", 2, "grader: cannot write {work}/folder: " + A_FOLDER),
    ("grade {work}/class --worksheet {work}/file", 2, "grader: {work}/file: it is not a Moodle grading worksheet"),
    ("grade {work}/class --worksheet {work}/nowhere", 2, "grader: {work}/nowhere: cannot read this file: No such file or directory"),
    ("check {work}/folder", 1, "grader: {work}/folder contains no submission"),
    ("grade {work}/folder", 2, "grader: {work}/folder contains no submission. Expected: the names of a learning platform's download"),
    ("grade {work}/folder {work}/folder", 2, "grader: {work}/folder contains no submission. Expected: "),
    ("check {work}/notes.ipynb", 1, "grader: {work}/notes.ipynb: " + WHICH),
    ("grade {work}/class {work}/class", 2, "grader: zoé submitted 1-attention twice: "),
    ("grade {work}/class --json {work}/folder", 2, "grader: cannot write {work}/folder: " + A_FOLDER),
    ("grade {work}/class --json {work}/file/lines", 2, "grader: cannot write {work}/file/lines: " + A_FILE),
    ("grade {work}/class --json /dev/full", 1, "grader: " + FULL),
    ("grade {work}/class --html {work}/file", 2, "{work}/file"),
    ("grade {work}/class --gradebook nonsense", 2, NO_URL),
    ("grade {work}/class --gradebook sqlite:///{work}/folder", 2, "the gradebook cannot be used (unable to open database file)"),
    ("grade {work}/class --gradebook sqlite:///{work}/nowhere/g.db", 2, "Create its folder, or pass another path to --gradebook."),
    ("grade {work}/class --gradebook sqlite:///{work}/file", 2, "It is another kind of file. Pass another path to --gradebook."),
    ("export csv --gradebook nonsense", 2, NO_URL),
    ("export csv --gradebook sqlite:///{work}/nowhere.db", 2, "grader: {work}/nowhere.db: there is no gradebook yet. Run: grader grade PATH"),
    ("report --gradebook sqlite:///{work}/nowhere.db", 2, "grader: {work}/nowhere.db: there is no gradebook yet. Run: grader grade PATH"),
    ("report --gradebook sqlite:///{work}/file", 2, "It is another kind of file. Pass another path to --gradebook."),
    ("export canvas --out {work}/folder", 2, "grader: cannot write {work}/folder: " + A_FOLDER),
    ("export moodle --out {work}/file/grades.csv", 2, "grader: cannot write {work}/file/grades.csv: " + A_FILE),
    ("export csv --out /dev/full", 2, "grader: " + FULL),
    ("report --html {work}/folder", 2, "grader: cannot write {work}/folder: " + A_FOLDER),
    ("report --html {work}/file/class.html", 2, "grader: cannot write {work}/file/class.html: " + A_FILE),
    ("report --html /dev/full", 2, "grader: " + FULL),
    ("export canvas --feedback {work}/f.zip", 2, "grader: --feedback and --submissions need each other, because the zip gets the file names of Canvas's download. Pass both."),
    ("export moodle --column 1", 2, "grader: --column works only with canvas, blackboard, brightspace, sakai, not with moodle"),
    ("export canvas --fill {work}/notes.ipynb", 2, "grader: {work}/notes.ipynb: it is not an export of Canvas's gradebook"),
    ("export canvas --json - ", 2, "grader: --json - and the scores would both go to standard output. Pass --out FILE"),
    ("report --json {work}/folder", 2, "grader: cannot write {work}/folder: " + A_FOLDER),
    ("doctor --json {work}/file/m.json", 2, "grader: cannot write {work}/file/m.json: " + A_FILE),
    ("regrade nobody", 2, "grader: {course}/submitted/nobody contains no submission of 'nobody'."),
    ("regrade nobody --from {work}/class", 2, "grader: the gradebook contains no submission of 'nobody'. Run grader grade PATH first."),
    ("appeal add abc 1.1 why", 2, "grader: 'abc' does not name a submission."),
    ("appeal decide 1 --comment no", 2, "grader: there is no appeal 1. Run grader appeal list --all to see all appeals."),
    ("appeal decide 1 --keep --comment no", 2, "grader: there is no appeal 1. Run grader appeal list --all to see all appeals."),
    ("roster {work}/file", 2, "grader: {work}/file: it is not a list of a class."),
    ("export csv --autograder {work}/a.zip", 2, "grader: --autograder works only with gradescope, not with csv"),
    ("export gradescope --autograder {work}/a.zip", 2, "grader: the assignment is missing. Pass --assignment"),
    ("export gradescope --autograder {work}/a.zip --assignment 9-diffusion", 2, "grader: there is no assignment '9-diffusion'"),
    ("GRADER_COURSE={whole} export gradescope --autograder {work}/folder --assignment 1-attention", 2, "grader: cannot write {work}/folder: " + A_FOLDER),
    ("GRADER_COURSE=/nowhere check {work}/1-attention.ipynb", 2, f"grader: GRADER_COURSE=/nowhere is not a course: {NO_COURSE}"),
    ("GRADER_COURSE={work}/folder grade {work}/class", 2, "grader: GRADER_COURSE={work}/folder is not a course: " + NO_COURSE),
    ("GRADER_COURSE={work}/file build", 2, "grader: GRADER_COURSE={work}/file is not a course: " + NO_COURSE),
    ("GRADER_COURSE={unbuilt} check {work}/1-attention.ipynb", 1, "grader: {unbuilt}/notebooks/1-attention/1-attention.ipynb is missing; run: grader build"),
    ("GRADER_COURSE={unbuilt} report", 2, "grader: {unbuilt}/gradebook.db: there is no gradebook yet. Run: grader grade PATH"),
    ("GRADER_SECRET= check {work}/1-attention.ipynb", 2, "grader: GRADER_SECRET is empty. Put the course secret into it, or unset it."),
    ("GRADER_SECRET= grade {work}/class", 2, "grader: GRADER_SECRET is empty. Put the course secret into it, or unset it."),
    ("GRADER_COURSE={unbuilt} export gradescope --autograder {work}/a.zip --assignment 1-attention", 2, "grader: {unbuilt}/notebooks/1-attention/1-attention.ipynb is missing; run: grader build"),
    ("init {work}/class", 2, "grader: {work}/class: this folder is not empty. Nothing was written. Choose a new folder."),
    ("init {work}/new --lesson 9-diffusion", 2, "grader: there is no assignment '9-diffusion'. Choose one of 1-attention, 2-heads, 3-vlm"),
    ("-GRADER_SECRET check {work}/1-attention.ipynb", 2, "grader: {course}/.grader/secret: [Errno 21] Is a directory"),
]  # fmt: skip


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make a course with one graded submission, one that was never built, and a folder with odd things."""
    folder = tmp_path_factory.mktemp("uses").resolve()
    course, unbuilt, work = (folder / name for name in ("course", "unbuilt", "work"))
    for root in (course, unbuilt):
        root.mkdir()
        for name in ("solutions", "pyproject.toml", "constraints.txt", "grader", "source"):
            (root / name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "nbgrader_config.py", root)
    (course / "notebooks").symlink_to(ROOT / "notebooks")
    for place in ("folder", "class/zoé/1-attention"):
        (work / place).mkdir(parents=True)
    (work / "file").write_text("mine")
    (work / "notes.ipynb").write_text("{}")
    (work / "class" / "zoé" / "1-attention" / "1-attention.ipynb").touch()
    shutil.copy(ROOT / "notebooks" / "1-attention" / "1-attention.ipynb", work)
    made = {"course": course, "unbuilt": unbuilt, "work": work, "whole": ROOT}
    assert use(f"grade {work}/class --jobs 1", made).exit_code == 1
    (course / ".grader" / "secret").mkdir(parents=True, mode=0o700)
    return made


def use(command: str, places: dict[str, Path]) -> Result:
    """Run a command line of the table in this process."""
    environment: dict[str, str | None] = {"GRADER_COURSE": str(places["course"]), "GRADER_SECRET": "test"}
    words = command.format_map(places).split()
    while words and re.match(r"-?[A-Z_]+(=|$)", words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name.removeprefix("-")] = None if name.startswith("-") else value
    environment |= {"COLUMNS": "300", "TERMINAL_WIDTH": "300"}
    return CliRunner().invoke(app, words, env=environment)


def files(places: dict[str, Path]) -> dict[Path, object]:
    """Return what lies in the places: each path, and each file's bytes."""
    return {
        path: path.read_bytes() if path.is_file() else None
        for root in (places["course"], places["unbuilt"], places["work"])
        for path in root.rglob("*")
        if not (path.is_symlink() and path.is_dir())
    }


@pytest.mark.parametrize(("command", "status", "line"), TABLE, ids=[row[0] or "nothing" for row in TABLE])
def test_a_wrong_use_is_one_line_and_writes_nothing(
    command: str, status: int, line: str, places: dict[str, Path]
) -> None:
    before = files(places)
    result = use(command, places)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, "Traceback" in result.output) == (status, False), result.output
    assert line.format_map(places) in result.output
    if line.startswith("grader: "):
        said = [one for one in result.stderr.splitlines() if one.startswith("grader: ")]
        assert len(said) == 1, result.output
    assert files(places) == before


def test_the_table_is_long_and_each_row_another() -> None:
    assert len({row[0] for row in TABLE}) == len(TABLE) >= 40


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_gpu_that_is_not_there(places: dict[str, Path]) -> None:
    result = use("check {work}/1-attention.ipynb --device cuda", places)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "pass --device cpu" in result.stderr


# ------------------------------------------------------------ what only a process of its own shows

WITHOUT_ROOTS_RIGHTS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


def run(script: str, places: dict[str, Path], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in the course; `grader` in it is this one."""
    grader = f"{sys.executable} -m grader"
    prefix = " ".join(WITHOUT_ROOTS_RIGHTS) + " " if os.getuid() == 0 else ""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"cd {places['course']}; grader() {{ {prefix}{grader} \"$@\"; }}\n{script}"],
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'source'}",
            "GRADER_COURSE": str(places["course"]),
            "GRADER_SECRET": "test",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.fast_cases(
    "grader export csv > /dev/full-environment0-2--grader: standard output: No space left on device\\n"
)
@pytest.mark.parametrize(
    ("script", "environment", "status", "out", "err"),
    [
        ("grader export csv > /dev/full", {}, 2, "", "grader: standard output: No space left on device\n"),
        ("grader export csv | head -c 0", {}, 1, "", ""),
        ("grader export csv", {"PYTHONIOENCODING": "ascii", "LC_ALL": "POSIX"}, 0, "zoé", ""),
        ("grader report", {"COLUMNS": "10", "NO_COLOR": "1"}, 0, "unreadable", ""),
    ],
)
def test_an_odd_place_to_print_to(
    script: str, environment: dict[str, str], status: int, out: str, err: str, places: dict[str, Path]
) -> None:
    ran = run(script, places, **environment)
    assert (ran.returncode, ran.stderr) == (status, err)
    assert out in ran.stdout


@pytest.mark.slow(held_by="tests/test_secret.py::test_a_folder_that_cannot_be_made_is_named")
def test_a_course_that_may_not_be_written_and_a_secret_that_may_not_be_read(
    places: dict[str, Path], tmp_path: Path
) -> None:
    if os.getuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("setpriv (util-linux) is not there")
    course = tmp_path / "course"
    course.mkdir()
    for name in ("solutions", "notebooks"):
        (course / name).symlink_to(ROOT / name)
    here = {**places, "course": course}
    submission = places["work"] / "1-attention.ipynb"
    (course / ".grader").mkdir()
    (course / ".grader" / "secret").write_text("secret")
    (course / ".grader" / "secret").chmod(0o000)
    ran = run(f"unset GRADER_SECRET; grader check {submission}", here)
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "secret: [Errno 13] Permission denied" in ran.stderr
    shutil.rmtree(course / ".grader")
    course.chmod(0o555)
    ran = run(f"unset GRADER_SECRET; grader check {submission}", here)
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "Make it readable, or set GRADER_SECRET." in ran.stderr
    ran = run(f"grader grade {submission}", here)
    assert (ran.returncode, "Traceback" in ran.stderr) == (2, False)
    assert "gradebook cannot be used" in ran.stderr


NO_SERVER = "postgresql://eva:s3c@ret@127.0.0.1:1/grades?sslpassword=s3c@ret"
ADDRESSES = [NO_SERVER, NO_SERVER.replace(":1/", ":one/"), "postgresql:/eva//eva:s3c/ret@127.0.0.1"]
OF_A_GRADEBOOK = [
    "grade {work}/class --jobs 1", "report", "similar", "export csv", "regrade nobody", "late zoé 1", "appeal list --all",
    "roster {work}/class.csv", "roster --links {work}/links.csv",
]  # fmt: skip


@pytest.mark.fast_cases(*(f"{address}-{OF_A_GRADEBOOK[1]}" for address in ADDRESSES))
@pytest.mark.parametrize("command", OF_A_GRADEBOOK)
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_command_shows_the_password_of_a_gradebook(address: str, command: str, places: dict[str, Path]) -> None:
    (places["work"] / "class.csv").write_text(
        "Identifier,Full name,Email address\nParticipant 7,Zoé Ode,zoe@example.org\n"
    )
    said = use(f"{command} --gradebook {address}", places)
    assert said.exit_code == 2, said.output
    assert "eva:***@" in said.output
    assert "s3c" not in said.output
    assert "ret@" not in said.output


@pytest.mark.parametrize(("command", "status"), [("grade {work}/class", 2), ("export csv", 2), ("report", 2)])
def test_a_configuration_with_a_syntax_error_is_named(command: str, status: int, places: dict[str, Path]) -> None:
    config = places["course"] / "nbgrader_config.py"
    right = config.read_text()
    config.write_text(right + "\nc.CourseDirectory.course_id = = 'twice'\n")
    try:
        result = use(command, places)
    finally:
        config.write_text(right)
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == status
    where = "SyntaxError: invalid syntax (nbgrader_config.py, line"
    assert f"grader: {config} cannot be read: {where}" in result.stderr
