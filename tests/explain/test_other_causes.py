"""Several causes: which are independent of the first, and which are not named."""

import torch

from grader.explain.explain import other_causes
from grader.explain.fingerprint import fingerprint
from grader.explain.seen import Candidate, Explanation, Seen

FIRST = torch.tensor([[0.3, -1.2, 2.5], [0.7, 0.1, -0.4]])
SECOND = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
DTYPE = Explanation("structure", what="float64 came.")


def seen(got: torch.Tensor, want: torch.Tensor, check: str) -> Seen:
    return Seen(check, torch.equal(got, want) and got.dtype == want.dtype, {"y": got}, {"y": want})


def candidate(name: str, *values: torch.Tensor) -> Candidate:
    prints = [fingerprint({"y": value}) for value in values]
    return Candidate(name, f"It is {name}.", prints.__getitem__)


def names(first: Explanation, trials: list[Seen], *candidates: Candidate, several: bool = True) -> list[str]:
    return [other.name for other in other_causes(first, trials[0].check, trials, candidates, "", several=several)]


def test_a_mistake_behind_a_wrong_dtype_is_named():
    trials = [seen((FIRST + 1).double(), FIRST, "one")]
    assert names(DTYPE, trials, candidate("turned", FIRST.flip(0)), candidate("raised", FIRST + 1)) == ["raised"]


def test_nothing_is_named_where_the_dtype_is_all():
    assert names(DTYPE, [seen(FIRST.double(), FIRST, "one")], candidate("raised", FIRST + 1)) == []


def test_a_mistake_in_another_check_is_named_if_the_first_check_does_not_show_it():
    trials = [seen(FIRST + 1, FIRST, "one"), seen(SECOND.flip(0), SECOND, "two")]
    first = Explanation("mistake", "raised", "It is raised.")
    apart, both = candidate("turned", FIRST, SECOND.flip(0)), candidate("both", FIRST.flip(0), SECOND.flip(0))
    assert names(first, trials, candidate("raised", FIRST + 1, SECOND), apart) == ["turned"]
    assert names(first, trials, both) == []
    assert names(first, trials, apart, several=False) == []


def test_two_further_causes_are_named_at_most():
    checks = [FIRST + 1, SECOND.flip(0), SECOND.flip(1), SECOND + 2]
    wants = [FIRST, SECOND, SECOND, SECOND]
    trials = [seen(got, want, str(index)) for index, (got, want) in enumerate(zip(checks, wants, strict=True))]
    others = [
        candidate(str(here), *(checks[index] if index == here else wants[index] for index in range(4)))
        for here in range(1, 4)
    ]
    assert names(Explanation("mistake", "raised", "It is raised."), trials, *others) == ["1", "2"]
