import json
from math import inf, nan

import pytest
import torch

from grader.build.self_check_values import as_json, from_json, prints_as_json, prints_from_json
from grader.declare.sampler import PublicSampler
from grader.explain.fingerprint import alike, fingerprint, fingerprint_of_error


def there_and_back(value):
    return from_json(json.loads(json.dumps(as_json(value))))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_every_number_comes_back_to_the_last_bit(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(1000, 7, generator=generator, dtype=torch.float64) * 10.0 ** torch.arange(-3, 4)
    odd = torch.tensor([inf, -inf, 1.0, 0.0, -0.0, torch.finfo(dtype).tiny, torch.finfo(dtype).max], dtype=dtype)
    want = torch.cat([drawn.to(dtype), odd[None]])
    got = there_and_back({"x": want})["x"]
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[want.element_size()]
    assert got.dtype == dtype
    assert torch.equal(got.view(bits), want.view(bits))
    assert there_and_back(torch.tensor([nan], dtype=dtype)).isnan()


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([[True, False], [False, True]]),
        torch.tensor([3, -100, 70_000, 2**62]),
        torch.zeros(0, 3),
        {"a": [1, "two", None, True, [torch.tensor(5)]], "b": {"c": 0.1 + 0.2}},
    ],
)
def test_everything_else_comes_back_as_it_was(value) -> None:
    assert str(there_and_back({"value": value})["value"]) == str(value)


def test_numbers_of_float32_take_no_more_digits_than_they_need() -> None:
    assert json.dumps(as_json(torch.tensor([0.1, 1 / 3]))) == '{"tensor": ["float32", [2], [0.1, 0.33333334]]}'


def test_drawn_inputs_are_drawn_again_and_nothing_that_is_made_of_them() -> None:
    sampler = PublicSampler("a")
    other, tensor = sampler.uniform(3), sampler.normal(30, 40, scale=0.5)
    packed = as_json({"query": tensor, "tripled": 3 * tensor, "double": tensor.double()}, sampler.recipe_of)
    assert packed["query"] == {"drawn": ["normal", "a/1", (30, 40), 0.5, 0, "float32"]}
    assert packed["tripled"].keys() == packed["double"].keys() == {"tensor"}
    assert torch.equal(from_json(json.loads(json.dumps(packed)))["query"], tensor)
    assert sampler.recipe_of(other)


@pytest.mark.parametrize("name", ["tensor", "drawn"])
def test_a_mapping_that_looks_like_a_tensor_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="must not have a key"):
        as_json({"x": {name: 3}})


def test_what_wrong_answers_give_is_known_as_closely_as_fingerprints_are_compared() -> None:
    generator = torch.Generator().manual_seed(0)
    right = torch.randn(3, 4, generator=generator)
    wrongs = [right * 2, right + 0.01, right.T, right.softmax(-1), -right, right * 1e5, right.double(), right * nan]
    prints = [fingerprint({"y": wrong}) for wrong in wrongs]
    prints += [fingerprint_of_error("ValueError", text) for text in ("one", "two")]
    expected = [fingerprint({"y": right})] * len(prints)
    read = prints_from_json(json.loads(json.dumps(prints_as_json(prints, expected))), expected)
    assert [[alike(one, other) for other in read] for one in prints] == torch.eye(len(prints)).bool().tolist()


def test_what_is_right_or_not_known_takes_no_numbers() -> None:
    right, wrong = fingerprint({"y": torch.ones(2)}), fingerprint({"y": torch.zeros(2)})
    gives = prints_as_json([right, None, wrong], [right] * 3)
    assert gives[:2] == [0, None]
    assert prints_from_json(gives, [right] * 3) == [right, None, wrong]
