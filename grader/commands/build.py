"""The commands of an author: `grader build` and `grader prove`.

The first makes the notebooks, or says which are out of date. The second shows that each declared mistake fails
its checks.
"""

from grader.build import build
from grader.build.prove import Proof, prove
from grader.commands.console import Terminal
from grader.commands.options import BuildOptions, ProveOptions
from grader.complaint import Complaint
from grader.course import lessons


def run(options: BuildOptions, terminal: Terminal) -> int:
    """Make the notebooks; with --check only compare, and return 1 if one is out of date."""
    if options.check:
        lines = build.drift(options.root)
        for line in lines:
            terminal.note(line)
        return 1 if lines else 0
    for path in build.build(options.root):
        terminal.say(f"wrote {path.relative_to(options.root)}")
    return 0


def run_prove(options: ProveOptions, terminal: Terminal) -> int:
    """Say for each exercise what was proven; return the exit status: 1 if a mistake passes."""
    exercise = options.exercise
    known = [each.id for lesson in lessons().values() for each in lesson.exercises]
    if exercise is not None and exercise not in known:
        raise Complaint(f"there is no exercise {exercise!r}. Choose one of {', '.join(known) or 'none'}.")
    failed = False
    for lesson in lessons().values():
        for proof in prove(lesson, exercise):
            _say_proof(proof, terminal)
            failed |= bool(proof.problems)
    return 1 if failed else 0


def _say_proof(proof: Proof, terminal: Terminal) -> None:
    """Say what was found of one exercise."""
    count = len(proof.exercise.mistakes)
    fails = f"the reference passes, {count} mistake{'s fail' if count != 1 else ' fails'}"
    terminal.say(f"{proof.exercise.id} {proof.exercise.title}: {'not proven' if proof.problems else fails}")
    for problem in proof.problems:
        terminal.complain(f"{proof.exercise.id}: {problem}")
    for remark in proof.remarks:
        terminal.say(f"    {remark}")
    for title in proof.left_out:
        terminal.say(f"    not tested here, because it needs a model that the notebook trains: {title}")
