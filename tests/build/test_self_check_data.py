from math import inf, nan

import pytest
import torch

from grader.build.self_check_data import FARTHEST, Brief, Reader, gives, is_rounded
from grader.build.self_check_pack import Writer
from grader.declare.sampler import PublicSampler
from grader.explain.fingerprint import Fingerprint, fingerprint, fingerprint_of_error


def there_and_back(value, how: str = "expected"):
    writer = Writer()
    packed = writer.expected(value) if how == "expected" else writer.inputs(value, ())
    return Reader(bytes(writer.data)).value(packed)


@pytest.mark.parametrize(("dtype", "off"), [(torch.float32, 2e-5), (torch.float64, 1e-7)])
def test_expected_numbers_are_rounded_far_below_the_tolerance(dtype: torch.dtype, off: float) -> None:
    want = torch.tensor([[1e4, -3.0, 0.0], [inf, nan, -inf]], dtype=dtype)
    got = there_and_back({"x": want})["x"]
    assert got.dtype == dtype
    assert torch.equal(got[1].isnan(), want[1].isnan())
    assert got[1, 0] == inf
    assert got[1, 2] == -inf
    assert (got[0] - want[0]).abs().max() <= off * 1e4
    assert got[0, 2] == 0


def test_a_few_expected_numbers_come_back_as_they_are() -> None:
    want = torch.tensor([0.7, 3e-7, 1e-20, inf, nan])
    torch.testing.assert_close(
        there_and_back({"x": want})["x"], want * torch.tensor([1.0, 1, 0, 1, 1]), rtol=0, atol=0, equal_nan=True
    )
    assert not is_rounded({"x": want})
    assert is_rounded({"x": torch.rand(5, 11)})
    assert not is_rounded({"x": torch.rand(5, 11).double(), "y": torch.arange(99)})


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([[True, False], [False, True]]),
        torch.tensor([3, -100, 70_000, 2**40]),
        torch.zeros(0, 3),
        {"a": [1, "two", None, True, [torch.tensor(5)]], "b": {"c": 0.25}},
    ],
)
def test_everything_else_comes_back_as_it_was(value) -> None:
    got = there_and_back({"value": value})["value"]
    assert str(got) == str(value)


def test_inputs_are_exact_and_large_ones_rounded_once() -> None:
    small, large = torch.randn(5, 7), torch.randn(30, 10)
    assert torch.equal(there_and_back({"x": small}, "inputs")["x"], small)
    rounded = there_and_back({"x": large}, "inputs")["x"]
    assert not torch.equal(rounded, large)
    assert torch.allclose(rounded, large, atol=2e-4)


def test_large_inputs_whose_numbers_repeat_are_exact() -> None:
    maps = torch.rand(7)[torch.arange(700) % 7].reshape(70, 10)
    assert torch.equal(there_and_back({"x": maps}, "inputs")["x"], maps)


def test_columns_that_repeat_one_another_still_do() -> None:
    column = torch.randn(200, 1).mul(100).round().div(100)
    repeated = torch.cat([column, column, 2 * column, torch.full_like(column, 3.0)], dim=-1)
    got = there_and_back({"x": repeated}, "inputs")["x"]
    torch.testing.assert_close(got, repeated)
    assert torch.equal(got[:, 2], 2 * got[:, 0])


def test_drawn_inputs_take_no_bytes() -> None:
    sampler, writer = PublicSampler("a"), Writer()
    tensor = sampler.normal(30, 40)
    packed = writer.inputs({"query": tensor}, sampler.drawn)
    assert writer.data == b""
    assert torch.equal(Reader(b"").value(packed, "a")["query"], tensor)


def test_briefs_tell_wrong_answers_apart_as_fingerprints_do() -> None:
    generator = torch.Generator().manual_seed(0)
    right = torch.randn(3, 4, generator=generator)
    wrongs = [right * 2, right + 0.01, right.T, right.softmax(-1), -right, right * 1e5, right.double(), right]
    prints = [[fingerprint({"y": wrong})] for wrong in wrongs] + [[None]]
    writer = Writer()
    forms = writer.briefs(prints, [fingerprint({"y": right})])
    read = Reader(bytes(writer.data)).briefs(forms, len(prints), 1)
    for row, wrong in enumerate(wrongs):
        same = [gives(briefs[0], fingerprint({"y": right}), fingerprint({"y": wrong})) for briefs in read]
        assert [index for index, yes in enumerate(same) if yes] == [row]


def test_after_the_first_wrong_trial_one_number_is_enough() -> None:
    right, first, second, third = (fingerprint({"y": torch.tensor([1.0, 2.0, number])}) for number in range(4))
    answers = [[right, first, second], [first, right, None]]
    writer = Writer()
    forms = writer.briefs(answers, [right] * 3)
    assert len(writer.data) == 2 * (forms + 6 + 3 + 2)
    read = Reader(bytes(writer.data)).briefs(forms, 2, 3)
    assert [gives(brief, right, own) for brief, own in zip(read[0], answers[0], strict=True)] == [True] * 3
    assert [gives(brief, right, third) for brief in read[0] + read[1]] == [False] * 6
    assert (read[0][1].second is None, read[0][2].second is None) == (False, True)


def test_an_exception_is_told_from_another() -> None:
    right, first, second = (
        fingerprint({"y": torch.ones(2)}),
        *(fingerprint_of_error("ValueError", text) for text in ("one", "two")),
    )
    writer = Writer()
    forms = writer.briefs([[first]], [right])
    [[brief]] = Reader(bytes(writer.data)).briefs(forms, 1, 1)
    assert brief.form < 0
    assert gives(brief, right, first)
    assert not gives(brief, right, second)
    assert not gives(Brief(-1), right, first)


def test_what_is_made_of_drawn_numbers_is_drawn_again() -> None:
    sampler, writer = PublicSampler("a"), Writer()
    noise = sampler.normal(4, 50, scale=0.05)
    whole = torch.eye(4, 50)
    masked = noise.masked_fill(noise > 0, -inf)
    values = {"tripled": 3 * noise, "patches": whole + noise, "other": noise**2, "masked": masked}
    packed = writer.inputs(values, sampler.drawn)
    assert len(writer.data) == 200 + 2 * 200 + 2 * 200  # the whole numbers, and the other tensors
    read = Reader(bytes(writer.data)).value(packed, "a")
    torch.testing.assert_close(read["tripled"], 3 * noise)
    torch.testing.assert_close(read["patches"], whole + noise)
    torch.testing.assert_close(read["other"], noise**2, atol=1e-5, rtol=0)
    torch.testing.assert_close(read["masked"], masked, atol=1e-5, rtol=0)


def test_a_text_that_looks_like_a_tensor_is_refused() -> None:
    with pytest.raises(ValueError, match="must not begin with ~"):
        Writer().expected({"x": "~stored"})


def test_a_number_too_large_for_two_bytes_is_told_by_the_largest_one() -> None:
    right = Fingerprint(7, (1e-9, 1e-9, 1e-9))
    huge = Fingerprint(7, (1e9, 1e9, -1e9))
    writer = Writer()
    forms = writer.briefs([[huge]], [right])
    [[brief]] = Reader(bytes(writer.data)).briefs(forms, 1, 1)
    assert (brief.first, brief.second) == (FARTHEST, -FARTHEST)
    assert gives(brief, right, huge)
