"""The search for an explanation: what matches, what wins among several, and when nothing is said."""

import pytest
import torch

from grader.explain.explain import explain
from grader.explain.fingerprint import alike, fingerprint, fingerprint_of_error
from grader.explain.seen import Candidate, Seen
from grader.submission.code.traits import Traits

EXPECTED = torch.tensor([[0.3, -1.2, 2.5], [0.7, 0.1, -0.4]])


def trial(got, want=EXPECTED, *, check="values", passed=False, **more):
    return Seen(check, passed, {"y": got}, {"y": want}, **more)


def candidate(*values, says="a hint", name="slip"):
    """A candidate that gives these values, trial by trial."""
    prints = [fingerprint({"y": value}) if not isinstance(value, str) else fingerprint_of_error("ValueError", value)
              for value in values]  # fmt: skip
    return Candidate(name, says, prints.__getitem__)


def test_one_layer_under_two_names_comes_before_the_mistake_that_gives_the_same():
    odd = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
    source = "class L:\n    def __init__(self):\n        self.a = nn.Linear(1, 1)\n        self.b = self.a\n"
    used = f"{source}\n    def forward(self, x):\n        return self.a(x) * self.b(x)"
    assert explain([trial(odd)], [candidate(odd)], source).kind == "mistake"
    assert "the same layer" in explain([trial(odd)], [candidate(odd)], used).says


def test_nothing_is_said_of_a_right_answer():
    assert explain([trial(EXPECTED, passed=True)], [candidate(EXPECTED)]) is None


def test_a_mistake_that_gives_the_same_is_named():
    odd = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
    found = explain([trial(odd)], [candidate(odd + 1), candidate(odd, says="that one")])
    assert found is not None
    assert (found.kind, found.says) == ("mistake", "that one")


def test_one_trial_that_differs_refutes_a_candidate():
    odd = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
    seen = [trial(odd), trial(odd * 2.17 - 0.3)]
    assert explain(seen, [candidate(odd, odd)]) is None


def test_of_two_that_fit_the_one_wins_that_agrees_on_other_checks():
    odd = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
    seen = [trial(odd), trial(odd, check="batch")]
    far = candidate(odd, odd + 1, says="far")
    near = candidate(odd, odd, says="near")
    found = explain(seen, [far, near])
    assert found is not None
    assert found.says == "near"


def test_an_exception_alone_matches_a_mistake_that_raises_the_same():
    seen = [Seen("values", False, {}, {"y": EXPECTED}, error="ValueError", message="no 7")]
    found = explain(seen, [candidate("no 8"), candidate("no 7", says="that one")])
    assert found is not None
    assert found.says == "that one"


@pytest.mark.parametrize(("second", "found"), [("no 8", True), (EXPECTED, False)])
def test_where_one_trial_shows_values_another_may_raise_something_else(second, found):
    odd = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
    seen = [trial(odd), Seen("values", False, {}, {"y": EXPECTED}, error="ValueError", message="no 7")]
    assert (explain(seen, [candidate(odd, second)]) is not None) is found


def test_a_fingerprint_forgives_rounding_and_nothing_else():
    values = {"output": torch.randn(3, 4), "maps": [torch.randn(2, 2)], "n": 3}
    own = fingerprint(values)
    assert alike(own, fingerprint({**values, "output": values["output"] * (1 + 1e-6)}))
    for changed in (
        values["output"] + 0.01,
        values["output"].double(),
        values["output"].T,
        values["output"].masked_fill(values["output"] > 0, torch.nan),
        values["output"].masked_fill(values["output"] > 0, torch.inf),
        -values["output"],
        values["output"].flip(0),
    ):
        assert not alike(own, fingerprint({**values, "output": changed}))
    assert not alike(own, fingerprint({**values, "n": 4}))
    assert not alike(own, fingerprint({**values, "maps": []}))
    assert not alike(fingerprint({"loss": 2.5}), fingerprint({"loss": float("inf")}))
    assert not alike(fingerprint({"loss": float("nan")}), fingerprint({"loss": float("inf")}))


@pytest.mark.parametrize("places", [(0, 1), (0, 2), (1, 3), (2, 3)])
def test_a_fingerprint_sees_two_numbers_that_changed_places(places):
    flat = torch.tensor([0.11, 0.52, -0.73, 1.94])
    swapped = flat.clone()
    swapped[list(places)] = flat[list(reversed(places))]
    assert not alike(fingerprint({"y": flat}), fingerprint({"y": swapped}))


def test_plus_and_minus_infinity_differ():
    plus, minus = torch.tensor([1.0, torch.inf]), torch.tensor([1.0, -torch.inf])
    assert not alike(fingerprint({"y": plus}), fingerprint({"y": minus}))


def test_an_answer_that_is_nearly_right_is_not_taken_for_a_candidate_that_is_right():
    seen = [trial(EXPECTED + 1e-5)]
    assert explain(seen, [candidate(EXPECTED, says="wrong")]) is None


def test_what_is_seen_in_another_check_alone_is_said_of_that_check():
    odd = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
    found = explain([trial(odd), trial(None, check="batch")], [])
    assert found is not None
    assert (
        found.says
        == "In the check “batch”: Expected a value for the y, but got None: your code reaches no `return`, or the value that it returns is None."
    )


BLOCK = "class Layer(nn.Module):\n    def __init__(self):\n        self.W_K = nn.Linear(2, 2)\n"


def test_zeros_are_explained_by_a_parameter_that_the_grader_does_not_know():
    zeros = torch.zeros(2, 3)
    more = Seen("parameters", False, {"parameters": ["W_K.weight", "W_O.weight"]}, {"parameters": ["W_K.weight"]})
    assert "W_O.weight" in explain([trial(zeros), more], []).says
    other = explain([trial(2 * EXPECTED), more], [candidate(2 * EXPECTED, says="Twice.")])
    assert "W_O.weight" not in other.says


@pytest.mark.parametrize(("line", "added"), [("optimizer.step", True), ("optimizer.step()", False)])
def test_a_careless_line_is_added_to_what_names_none(line, added):
    odd = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
    source = f"def f(optimizer):\n    {line}\n"
    found = explain([trial(odd)], [candidate(odd, says="The weights never change.")], source)
    assert found.says.startswith("The weights never change.")
    assert ("brackets are missing" in found.says) is added


def test_a_layer_that_is_never_used_explains_an_exception_that_nothing_else_does():
    seen = [Seen("values", False, {}, {"y": EXPECTED}, error="RuntimeError", message="odd", line="return x", shapes={})]
    unused = BLOCK + "    def forward(self, x):\n        return x\n"
    assert "`self.W_K` is created but never used" in explain(seen, [], unused).says
    assert explain(seen, [], unused.replace("return x", "return self.W_K(x)")) is None


def test_random_numbers_are_named_where_nothing_else_is():
    odd = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
    assert "`multinomial` draws" in explain([trial(odd)], [], "def f(x):\n    return x.multinomial(1)\n").says
    assert explain([trial(odd)], [], "def f(x):\n    return x.argmax(1)\n") is None


SIGNS = Traits(has=frozenset({".clone"}), lacks=frozenset({".requires_grad_"}))


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("def f(m):\n    return m.clone()", True),  # it has what the mistake adds
        ("def f(m):\n    return list(m)", True),  # it lacks what the mistake leaves out
        ("def f(m):\n    return m.requires_grad_(True)", False),
    ],
)
def test_where_little_is_seen_a_declared_mistake_must_show_in_the_code(source: str, named: bool) -> None:
    known = candidate(True, says="that one")._replace(traits=lambda: SIGNS)
    found = explain([trial(True, False)], [known], source)
    assert (found is not None and found.says == "that one") is named


def test_many_bools_say_enough_without_a_look_at_the_code() -> None:
    odd = torch.arange(25) % 3 == 0
    known = candidate(odd, says="that one")._replace(traits=lambda: SIGNS)
    found = explain([trial(odd, ~odd)], [known], "def f(m):\n    return m.requires_grad_(True)")
    assert found is not None
    assert found.says == "that one"


def test_a_mistake_that_gives_most_trials_is_likely() -> None:
    odd = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
    seen = [trial(odd), trial(odd * 2.17), trial(odd * 3.1 - 0.3)]
    found = explain(seen, [candidate(odd, odd * 2.17, odd, says="that one")])
    assert found is not None
    assert (found.kind, found.says) == (
        "likely",
        "For most inputs, your answer gives the same results as this common mistake: that one",
    )
    assert explain(seen, [candidate(odd, odd, odd, says="that one")]) is None
    two = [candidate(odd, odd * 2.17, odd, says=says) for says in ("that one", "another")]
    assert explain(seen, two) is None


def test_an_error_has_one_fingerprint_whatever_version_of_pytorch_words_it() -> None:
    """PyTorch 2.15 puts the operator's name in front."""
    text = "mat1 and mat2 shapes cannot be multiplied (2x2 and 3x5)"
    assert fingerprint_of_error("RuntimeError", f"mm: {text}") == fingerprint_of_error("RuntimeError", text)


def test_of_what_is_drawn_the_line_is_named_and_not_the_form_that_came_this_time():
    source = "def f(x):\n    return x[:, : int(torch.multinomial(torch.ones(2), 1))]\n"
    found = explain([trial(EXPECTED[:, :1] * 3)], [], source)
    assert found is not None
    assert (found.line, "draws random numbers" in found.says) == (2, True)
    assert "has length 1" in explain([trial(EXPECTED[:, :1] * 3)], [], source.replace("multinomial", "sum")).says
