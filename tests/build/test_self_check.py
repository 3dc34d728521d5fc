"""The self-check as a student meets it: what it says of right, wrong, unfinished and forbidden answers."""

import linecache
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

import pytest
import torch

from grader.build.self_check_cell import self_check_source, self_checks
from grader.course.lesson_1 import LESSON
from grader.submission.cells import is_stubs_own
from tests.build.computed_self_check import computed_self_checks

TRIED = ("1.1", "1.2", "1.3", "1.9")
SOME = replace(
    LESSON,
    exercises=tuple(
        replace(one, builds_on=tuple(id for id in one.builds_on if id in TRIED))
        for one in LESSON.exercises
        if one.id in TRIED
    ),
)
FILES = count()


@pytest.fixture(scope="module")
def notebook() -> dict:
    names: dict = {"torch": torch}
    exec(self_check_source(computed_self_checks(SOME)), names)
    return names


@pytest.fixture
def said(notebook, capsys) -> Callable[[str, str], str]:
    """Run a cell as the notebook does, and return what the self-check says of the exercise."""

    def run(exercise: str, cell: str, other: str = "", ran: Sequence[str] = ()) -> str:
        names = {**notebook, "In": list(ran)}
        check, names["carry_on"], *_ = names["make_tools"](names)
        for source in filter(None, (other, cell)):
            file = f"cell {next(FILES)}"
            linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
            exec(compile(source, file, "exec"), names)
        try:
            check(exercise)
        except AssertionError as error:
            return "\n".join(error._render_traceback_())
        return capsys.readouterr().out

    return run


SCALED = """\
# @exercise 1.2
def scaled_scores(query, key):
    d_k = query.shape[-1]
    return {}
"""


def test_a_right_answer_is_told_so(said) -> None:
    right = SCALED.format("query @ key.mT / d_k ** 0.5")
    assert said("1.2", right) == "✔ 1.2 scaled_scores — right on 8 small examples.\n"


def test_it_shows_what_came_what_was_expected_and_what_went_in(said) -> None:
    lines = said("1.2", SCALED.format("query @ key.mT")).splitlines()
    assert lines[0] == "✘ 1.2 scaled_scores — You return the plain dot products. Divide them by √d_k."
    assert lines[1].startswith("2 queries, 3 keys, d_k = 4: scores[0, 0] is ")
    assert lines[1].endswith("(wrong in 6 of 6 places)")
    assert ", expected " in lines[1]
    assert lines[2].startswith("    query = [[")
    assert lines[3].startswith("    key = [[")


def test_an_exception_names_the_line_and_the_shapes(said) -> None:
    text = said("1.2", SCALED.format("query @ key / d_k ** 0.5"))
    assert "line 4: `return query @ key / d_k ** 0.5`: RuntimeError: " in text
    assert "(query: 2 × 4, key: 3 × 4" in text
    assert len(text.splitlines()) == 2  # the exception, and what it means


def test_a_mistake_that_nobody_declared_names_its_line(said) -> None:
    text = said("1.2", SCALED.format("query @ key.mT / (d_k + 1) ** 0.5"))
    assert "Line 4, `return query @ key.mT / (d_k + 1) ** 0.5`" in text


def test_a_gradient_that_is_cut_off_costs_the_tick(said) -> None:
    text = said("1.2", SCALED.format("query @ key.mT.detach() / d_k ** 0.5"))
    assert text.startswith("✘ 1.2 scaled_scores — No gradient reaches `key`. Line 4: `.detach()` cuts")
    assert text.endswith("5 queries, 7 keys, d_k = 3, float64: no gradient reaches key")


def test_a_built_in_that_is_to_be_written_is_refused(said) -> None:
    cell = "# @exercise 1.3\ndef stable_softmax(scores, dim=-1):\n    return {}\n"
    refused = "✘ 1.3 stable_softmax — your code refers to softmax, which does what this exercise asks you to write. "
    assert said("1.3", cell.format("torch.softmax(scores, dim)")).startswith(refused)
    helper = "def mine(scores, dim):\n    return scores.softmax(dim)\n"
    assert said("1.3", cell.format("mine(scores, dim)"), helper).startswith(refused)
    provided = f"# @title Provided\n{helper}"
    assert "refers to" not in said("1.3", cell.format("mine(scores, dim)"), provided)
    unsolved = "raise NotImplementedError('TODO 1.3')  # not torch.softmax\n    torch.softmax"
    assert said("1.3", cell.replace("return ", "").format(unsolved)) == "☐ 1.3 stable_softmax — not solved yet."


def test_what_the_notebook_cannot_check_is_said(said) -> None:
    cell = "def pointer_loss(weights, target):\n    return -weights.gather(-1, target[..., None]).log().mean()\n"
    assert said("1.9", cell) == (
        "✔ 1.9 pointer_loss — right on 9 small examples. The grader also checks: "
        "with trained weights, your pointer looks at the right patch of scenes it has never seen.\n"
    )


def test_titles_of_graded_checks_are_those_of_the_declaration() -> None:
    """The numbers of a self-check are kept for long, and a title may change meanwhile."""
    computed = computed_self_checks(SOME).exercises
    old = {id: {**one, "also": ["an old title"]} for id, one in computed.items()}
    assert self_checks(SOME, old).exercises == computed


SOFTMAX = """\
# @exercise 1.3
def stable_softmax(scores, dim={}):
    largest = scores.amax(dim, keepdim=True){}
    exps = (scores - largest.masked_fill(largest == -torch.inf, 0.0)).exp()
    total = exps.sum(dim, keepdim=True)
    return exps / torch.where(total == 0, 1.0, total)
"""


def test_what_only_a_hidden_trial_of_the_grade_shows_is_seen(said) -> None:
    assert said("1.3", SOFTMAX.format(-1, "")).startswith("✔")
    text = said("1.3", SOFTMAX.format(-1, ".clamp(min=0)"))
    assert text.startswith("✘ 1.3 stable_softmax — If the largest score is below 0, 0 is subtracted instead.")
    assert "\n5 rows, 7 columns, spread = 2.0, offset = 10000.0, float64: " in text


def test_another_default_is_named(said) -> None:
    assert "the default of `dim` is 0; the task asks for -1." in said("1.3", SOFTMAX.format(0, ""))
    twice = SOFTMAX.format(0, "").replace("return exps", "return 2 * exps")
    assert "the default of `dim` is 0" in said("1.3", twice)  # it is true, whatever else is wrong


def test_a_forward_that_is_missing_is_no_unfinished_answer() -> None:
    with pytest.raises(NotImplementedError) as missing:
        torch.nn.Module()(1)
    assert not is_stubs_own(missing.typename, str(missing.value))
    with pytest.raises(NotImplementedError) as refused:
        torch.ones(2) & torch.ones(2)
    assert not is_stubs_own(refused.typename, str(refused.value))
    assert is_stubs_own("NotImplementedError", "TODO 1.7")


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("(largest == -torch.inf).float() & total.isfinite()", "`&`, `|` and `^` combine only bool tensors"),
        ("torch.bitwise_not(total) == 0", "`~` negates only bool tensors"),
    ],
)
def test_what_pytorch_has_not_implemented_is_no_answer_that_is_not_there(said, where: str, says: str) -> None:
    told = said("1.3", SOFTMAX.format(-1, "").replace("torch.where(total == 0", f"torch.where({where}"))
    assert told.startswith("✘ 1.3 stable_softmax")
    assert "line 6" in told
    assert says in told


def test_random_numbers_and_warnings_stay_as_they_are(said, recwarn) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    said("1.2", SCALED.format("(torch.rand(1), query @ key.mT / d_k ** 0.5)[1]"))
    assert torch.equal(torch.rand(3), expected)
    assert not recwarn.list


def test_the_cell_says_what_it_is_and_prints_its_code(notebook) -> None:
    source = self_check_source(computed_self_checks(replace(SOME, exercises=SOME.exercises[:1])))
    assert "# check(" in source
    assert "print(self_check_source())" in source
    assert "def places_off(got, want" in notebook["self_check_source"]()
    assert max(map(len, source.splitlines())) <= 10_000


def test_a_cell_that_python_could_not_read_is_not_taken_for_the_answer_before(said) -> None:
    right, broken = SCALED.format("query @ key.mT / d_k ** 0.5"), "# @exercise 1.2\ndef scaled_scores(query, key:\n"
    assert said("1.2", right, ran=[right, broken]).startswith("✘ 1.2 scaled_scores — Python cannot read the cell: ")
    assert said("1.2", right, ran=[broken, right]).startswith("✔")


def test_a_name_that_is_spelled_otherwise_is_said(said) -> None:
    other = SCALED.format("query @ key.mT").replace("scaled_scores", "scaled_score")
    words = "the cell defines scaled_score, and the task asks for scaled_scores."
    assert words in said("1.2", other, ran=[other])
    right = SCALED.format("query @ key.mT / d_k ** 0.5")
    assert "the answer of an earlier run is in its place" in said("1.2", right, ran=[right, other])


def test_a_stub_below_an_answer_tells_of_two_cells(said) -> None:
    right = SCALED.format("query @ key.mT / d_k ** 0.5")
    stub = '# @exercise 1.2\ndef scaled_scores(query, key):\n    raise NotImplementedError("TODO 1.2")'
    assert "of two cells, the one that ran last counts" in said("1.2", stub, ran=[right, stub])
    assert said("1.2", stub, ran=[stub]) == "☐ 1.2 scaled_scores — not solved yet."


def test_what_stands_in_for_an_answer_is_not_blamed(said) -> None:
    assert said("1.3", 'carry_on("1.3")').startswith("☐ 1.3 stable_softmax — the course's own code stands in for")


def test_carry_on_says_what_it_has_done_and_does_not_know_every_exercise(notebook, capsys) -> None:
    names = dict(notebook)
    _, carry_on, *_ = names["make_tools"](names)
    carry_on("1.3")
    assert capsys.readouterr().out.startswith("☐ stable_softmax is now defined by the course, so you can go on.")
    assert names["stable_softmax"](torch.zeros(2)).tolist() == [0.5, 0.5]
    assert not linecache.getlines(names["stable_softmax"].__code__.co_filename)  # `inspect` does not show it
    with pytest.raises(
        AssertionError, match=r"There is no stand-in for '1\.5'\. Stand-ins exist for 1\.1, 1\.2, 1\.3,"
    ):
        carry_on("1.5")


def test_a_wrong_exercise_below_is_named_first(notebook, said) -> None:
    wrong = "# @exercise 1.2\ndef scaled_scores(query, key):\n    return attention_scores(query, key) / query.shape[-1] ** 0.5"
    below = "# @exercise 1.1\ndef attention_scores(query, key):\n    return key @ query.mT"
    assert 'it builds on 1.1, which is not right yet: mend that one first, check("1.1").' in said(
        "1.2", wrong, other=below
    )
    assert "builds on" not in said(
        "1.2", wrong.replace("** 0.5", "** 1"), other=below.replace("key @ query.mT", "query @ key.mT")
    )
