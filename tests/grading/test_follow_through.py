"""Which exercises are judged again, and with which stand-ins. The run itself is tested with the grader, for real."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import nbformat

from grader.declare.exercise import Check, Exercise
from grader.declare.lesson import Lesson
from grader.declare.trial import trials
from grader.grading.follow_through import Run, choose_verdict, first_round, next_round, stand_ins, with_stand_ins
from grader.records import CheckResult, Outcome, Verdict
from grader.submission.cells import carry_on_source
from grader.submission.rebuild import Rebuilt


def f1():
    return 1


def f2():
    return 2


def f4():
    return 4


STAND_INS = {"9.1": f1, "9.2": f2}


def name(id: str) -> str:
    return f"f{id[-1]}"


def exercise(id: str, *builds_on: str) -> Exercise:
    return Exercise(
        id=id,
        title="",
        reference=(type(name(id), (), {}),),
        points=0,
        difficulty=1,
        minutes=1,
        checks=(),
        builds_on=builds_on,
        stand_in=STAND_INS.get(id),
    )


LESSON = Lesson(
    assignment="9-chain",
    title="",
    exercises=(
        exercise("9.1"),
        exercise("9.2", "9.1"),
        exercise("9.3", "9.2"),
        exercise("9.4"),
        exercise("9.5", "9.4"),
    ),
)


def stuck(id: str):
    return nbformat.v4.new_code_cell(carry_on_source(id), id=f"stuck-{id.replace('.', '-')}")


*OTHERS, FOUR, FIVE = LESSON.exercises
WITH_FOUR = replace(LESSON, exercises=(*OTHERS, replace(FOUR, stand_in=f4), FIVE))  # here 9.4 has a stand-in, too
NOTEBOOK = nbformat.v4.new_notebook(cells=[stuck("9.1"), stuck("9.2")])
ANSWERS = {
    one.id: f"def {name(one.id)}():\n    return {'() + '.join(map(name, one.builds_on))}()" for one in LESSON.exercises
}


def rebuilt(**answers: str) -> Rebuilt:
    given = {f"9.{key[-1]}": source for key, source in answers.items()}
    return Rebuilt(notebook=NOTEBOOK, answers={**ANSWERS, **given}, own=())


def verdict(id: str, points: float) -> Verdict:
    outcome = Outcome.PASSED if points == 5 else Outcome.FAILED
    return Verdict(id=id, name=id, title="", outcome=outcome, points=points, max_points=5)


class Runner:
    """Gives the points that it was made with, run by run, and remembers each run."""

    def __init__(self, *points: dict[str, float]) -> None:
        self.points, self.asked, self.weights = list(points), [], []

    def __call__(self, run: Run) -> dict[str, Verdict]:
        self.asked.append((set(run.stand_ins), set(run.judged)))
        self.weights.append(run.weights)
        points = self.points.pop(0)
        return {id: verdict(id, points[id]) for id in run.judged}


def follow_through(
    lesson: Lesson, answers: Rebuilt, verdicts: Mapping[str, Verdict], runner: Runner, *unsolved: str
) -> Mapping[str, Verdict]:
    """Return the verdicts that improve, as the grader does."""
    known = first_round(lesson, answers, verdicts, frozenset(unsolved))
    while known.runs:
        known = next_round(known, [runner(run) for run in known.runs])
    return known.better


def submitted(**points: float) -> dict[str, Verdict]:
    ids = [one.id for one in LESSON.exercises]
    return {id: verdict(id, points.get(f"p{id[-1]}", 5)) for id in ids}


def test_nothing_is_run_again_where_nothing_that_is_built_upon_failed() -> None:
    run = Runner()
    assert follow_through(LESSON, rebuilt(), submitted(), run) == {}
    assert follow_through(LESSON, rebuilt(), submitted(p3=0), run) == {}
    assert follow_through(LESSON, rebuilt(), submitted(p1=0), run) == {}
    assert run.asked == []


def test_what_builds_on_a_failure_is_judged_with_a_stand_in() -> None:
    run = Runner({"9.2": 5})
    better = follow_through(LESSON, rebuilt(), submitted(p1=0, p2=0), run)
    assert run.asked == [({"9.1"}, {"9.2"})]
    assert better["9.2"].points == 5
    assert better["9.2"].stand_ins == ("9.1",)
    assert better["9.2"].other.points == 0


def test_a_failure_of_its_own_gets_a_stand_in_in_the_next_round() -> None:
    run = Runner({"9.2": 0, "9.3": 0}, {"9.3": 5})
    better = follow_through(LESSON, rebuilt(), submitted(p1=0, p2=0, p3=0), run)
    assert run.asked == [({"9.1"}, {"9.2", "9.3"}), ({"9.1", "9.2"}, {"9.3"})]
    assert set(better) == {"9.3"}


def test_without_a_stand_in_nothing_is_run_again() -> None:
    run = Runner()
    assert follow_through(LESSON, rebuilt(), submitted(p4=0, p5=0), run) == {}


def test_more_points_count_though_something_of_its_own_is_still_wrong() -> None:
    better = follow_through(LESSON, rebuilt(), submitted(p1=0, p2=2), Runner({"9.2": 3}))
    assert (better["9.2"].points, better["9.2"].outcome) == (3, Outcome.FAILED)


def test_a_stand_in_takes_the_place_of_the_carry_on_cell() -> None:
    assert stand_ins(LESSON) == {"9.1", "9.2"}
    made = with_stand_ins(LESSON, NOTEBOOK, {"9.1", "9.4"})
    assert [cell.source for cell in made.cells] == ["def f1():\n    return 1\n", carry_on_source("9.2")]
    assert NOTEBOOK.cells[0].source == carry_on_source("9.1")


def test_a_verdict_that_is_no_better_changes_nothing() -> None:
    assert follow_through(LESSON, rebuilt(), submitted(p1=0, p2=2), Runner({"9.2": 1})) == {}
    assert follow_through(LESSON, rebuilt(), submitted(p1=0, p2=2), Runner({"9.2": 2})) == {}


def test_what_does_not_use_the_failed_one_is_to_blame_itself_and_costs_no_round() -> None:
    run = Runner({"9.3": 5})
    alone = rebuilt(p2="def f2():\n    return 7")
    better = follow_through(LESSON, alone, submitted(p1=0, p2=0, p3=0), run)
    assert run.asked == [({"9.1", "9.2"}, {"9.3"})]
    assert set(better) == {"9.3"}


def test_an_answer_that_looks_names_up_may_use_anything() -> None:
    run = Runner({"9.2": 5})
    hidden = rebuilt(p2="def f2():\n    return globals()['f' + '1']()")
    assert set(follow_through(LESSON, hidden, submitted(p1=0, p2=0), run)) == {"9.2"}


def test_the_stand_in_for_a_later_exercise_does_not_do_the_work_of_an_earlier_one() -> None:
    """9.1 is spoiled, 9.4 left blank, and 9.2 calls 9.4 in some way: it is judged where nothing stands in for 9.4."""
    run = Runner({"9.2": 0}, {"9.5": 5})
    better = follow_through(WITH_FOUR, rebuilt(p4=""), submitted(p1=0, p2=0, p4=0, p5=0), run)
    assert run.asked == [({"9.1"}, {"9.2"}), ({"9.4"}, {"9.5"})]
    assert set(better) == {"9.5"}


def test_what_was_judged_with_all_that_it_can_call_is_not_judged_again() -> None:
    """9.5 fails with a stand-in for 9.4, too. The next round is there for what builds on 9.2."""
    run = Runner({"9.2": 0, "9.3": 0}, {"9.5": 0}, {"9.3": 0})
    follow_through(WITH_FOUR, rebuilt(), submitted(p1=0, p2=0, p3=0, p4=0, p5=0), run)
    assert [ids for _, ids in run.asked] == [{"9.2", "9.3"}, {"9.5"}, {"9.3"}]


def test_what_builds_on_something_that_builds_on_a_failure_is_judged_too() -> None:
    run = Runner({"9.3": 5})
    through = rebuilt(p3="def f3():\n    return f1()")
    better = follow_through(LESSON, through, submitted(p1=0, p3=0), run)
    assert better["9.3"].stand_ins == ("9.1",)


def test_nothing_is_run_for_what_no_stand_in_can_help() -> None:
    run = Runner()
    assert follow_through(LESSON, rebuilt(), submitted(p1=0, p2=0, p3=0), run, "9.2", "9.3") == {}
    assert run.asked == []


def test_the_lessons_setting_decides_which_counts_and_both_are_shown() -> None:
    alone, followed = (verdict("9.2", 0), replace(verdict("9.2", 5), stand_ins=("9.1",), other=verdict("9.2", 0)))
    counted = choose_verdict(LESSON, replace(alone, notes=("One slip",)), followed)
    assert (counted.points, counted.other.points) == (5, 0)
    (note,) = counted.notes  # what was noted without the stand-in holds no more
    assert "stand-in for 9.1" in note
    strict = choose_verdict(replace(LESSON, follow_through=False), alone, followed)
    assert (strict.points, strict.other.points) == (0, 5)
    assert "would be 5 of 5 points" in strict.notes[-1]
    assert choose_verdict(LESSON, alone, None) is alone


def verified_lesson() -> Lesson:
    """9.5 is about what a cell trains with 9.4, which has no stand-in."""

    def check(name: str, points: float, *needs: str, **more: Any) -> Check:
        return Check(name=name, title="", points=points, probe=dict, trials=trials(dict, {}), needs=needs, **more)

    checks = (
        check("values", 2),
        check("goes on", 0, at="train"),
        check("with weights", 3, "goes on", at="train"),
        check("maps", 0, "goes on"),
    )
    *others, last = LESSON.exercises
    return replace(LESSON, exercises=(*others, replace(last, points=5, checks=checks)))


def trained_verdict(points: float, *failed: str) -> Verdict:
    checks = [
        CheckResult(
            name=name, title="", outcome=Outcome.FAILED if name in failed else Outcome.PASSED, points=0, max_points=0
        )
        for name in ("values", "goes on", "with weights")
    ]
    return replace(verdict("9.5", points), checks=tuple(checks))


def with_weights(lost: float, found: float = 5, *failed: str) -> tuple[dict[str, Verdict], Runner]:
    """9.4 lost points, and 9.5 has 2 of 5 because its training did not go on as it should."""
    judged = {**submitted(p4=5 - lost), "9.5": trained_verdict(2, *failed or ("goes on",))}
    run = Runner({"9.5": found})
    return follow_through(verified_lesson(), rebuilt(), judged, run), run


def test_trained_weights_stand_in_where_nothing_can_for_what_takes_the_steps() -> None:
    better, run = with_weights(lost=5)
    assert (run.asked, run.weights) == ([(set(), {"9.5"})], [True])
    assert (better["9.5"].points, better["9.5"].stand_ins, better["9.5"].other.points) == (5, ("9.4",), 2)


def test_a_mistake_made_on_purpose_gains_nothing() -> None:
    assert with_weights(lost=2)[0] == {}
    assert set(with_weights(lost=3)[0]) == {"9.5"}


def test_trained_weights_do_not_help_what_fails_with_them_or_has_a_mistake_of_its_own() -> None:
    assert with_weights(5, 2)[0] == {}
    assert with_weights(5, 5, "values", "goes on")[1].asked == []


def test_where_nothing_below_failed_trained_weights_are_not_tried() -> None:
    assert with_weights(lost=0)[1].asked == []


def test_with_weights_no_check_is_about_steps() -> None:
    lesson = verified_lesson()
    assert lesson.step_checks("9.5") == {"goes on"}
    checks = lesson.with_weights.exercise("9.5").checks
    assert [(check.name, check.needs) for check in checks] == [("values", ()), ("with weights", ()), ("maps", ())]


def test_a_check_that_needs_the_steps_of_a_training_is_one_of_the_training() -> None:
    lesson = verified_lesson()
    assert lesson.training_checks("9.5") == {"goes on", "with weights", "maps"}
    assert lesson.training_checks("9.4") == frozenset()
