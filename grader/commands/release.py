"""Makes the files of a release from the git tag that is checked out.

Run it with `make release`, or with `python -m grader.commands.release dist`.

The same tag gives the same bytes: the files of the wheel have the date of the tag's commit, and
pyproject.toml pins the tools that build it. A zip for Gradescope is not among the files, because it
contains a course's secret; `grader export gradescope` makes it from the wheel.
"""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from grader import __version__
from grader.build.build import build
from grader.build.links import repository_of, setting_of
from grader.build.student_zip import NO_REPOSITORY, student_zip
from grader.complaint import Complaint
from grader.paths import course_root, write_atomically

SUMS = "SHA256SUMS"
MOST_NAMED = 3  # changed files in one message


class CannotRelease(Complaint):
    """The repository is not ready for a release. The message names the reason and the next step."""


def release(root: Path, folder: Path) -> list[Path]:
    """Write the wheel, its constraints, the students' zip and their checksums. Return the paths.

    Raises:
        CannotRelease: the tag, the working tree or the repository's name is not in order, or the
            wheel cannot be built.
        BuildError: the notebooks cannot be built.
    """
    date = date_of_tag(root)
    if repository_of(root) is None and not setting_of(root).is_none:
        raise CannotRelease(NO_REPOSITORY)
    build(root)
    refuse_changes(root, "commit what `grader build` wrote, and move the tag to that commit")
    name, content = student_zip(root)
    made = [wheel(root, folder, date), folder / "constraints.txt", folder / f"{name}.zip"]
    write_atomically(made[1], (root / "constraints.txt").read_bytes())
    write_atomically(made[2], content)
    sums = folder / SUMS
    lines = [f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    write_atomically(sums, "".join(lines).encode())
    return [*made, sums]


def date_of_tag(root: Path) -> str:
    """Return the time of the commit that is checked out, as text, in seconds since 1970.

    Raises:
        CannotRelease: files have changed, or the commit has no tag with the grader's version.
    """
    refuse_changes(root, "commit them, or `git stash` them")
    wanted = f"v{__version__}"
    if wanted not in _git(root, "tag", "--points-at", "HEAD").split():
        found = _git(root, "describe", "--tags", "--always")
        raise CannotRelease(
            f"HEAD is {found}, but the version is {wanted}; run git checkout {wanted}, or set the version in "
            "grader/__init__.py and run: git tag vVERSION"
        )
    return _git(root, "log", "-1", "--format=%ct")


def refuse_changes(root: Path, advice: str) -> None:
    """Raise CannotRelease if a file differs from its committed version.

    Args:
        advice: the next step, for the message.
    """
    if changed := _git(root, "status", "--porcelain").splitlines():
        names = ", ".join(line.split(maxsplit=1)[1] for line in changed[:MOST_NAMED])
        more = f" and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
        raise CannotRelease(f"files are not as they were committed: {names}{more}; {advice}")


def wheel(root: Path, folder: Path, date: str) -> Path:
    """Build the wheel, and return its path.

    Args:
        date: the date of all files in the wheel, in seconds since 1970.

    Raises:
        CannotRelease: pip cannot build the wheel.
    """
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    problem, advice = "pip did not build the wheel", f"run: pip wheel --no-deps {root}"
    _output([*pip, "--wheel-dir", str(folder), str(root)], problem, advice, SOURCE_DATE_EPOCH=date)
    return folder / f"attention_course-{__version__}-py3-none-any.whl"


def _git(root: Path, *arguments: str) -> str:
    """Run git in the repository, and return its output.

    Raises:
        CannotRelease: git is missing, or `root` is not a repository.
    """
    try:
        advice = "run this command in a git clone of the repository"
        return _output(["git", "-C", str(root), *arguments], "git says", advice)
    except OSError as error:
        raise CannotRelease(f"git cannot be run ({error}); install git") from error


def _output(command: list[str], problem: str, advice: str, **environment: str) -> str:
    """Run a program, and return its output.

    Args:
        problem, advice: the beginning and the end of the error message.
        environment: environment variables to add.

    Raises:
        CannotRelease: the program failed. The message contains the last line that it printed.
    """
    ran = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if ran.returncode:
        said = (ran.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise CannotRelease(f"{problem}: {said}; {advice}")
    return ran.stdout.strip()


def main() -> None:
    """Write the release into a folder and print the paths.

    The first argument names the folder. Without it, the folder is dist.
    """
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    try:
        for path in release(course_root(), folder):
            print(f"wrote {path}")
    except (Complaint, FileNotFoundError) as error:
        sys.stderr.write(f"release: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
