"""What comes over the wall: right, wrong and forged."""

from __future__ import annotations

import json
import math
import struct

import pytest
import torch

from grader.sandbox.guest.codec import DTYPES, Refused, decode, encode
from grader.sandbox.replies import _cleaned, parse

VALUES = {
    "t": torch.tensor([[1.5, -2.0, math.inf], [0.0, 3.0, 7.0]]),
    "list": [torch.arange(5), {"deep": torch.tensor(True)}, None, "text", 3, -0.5],
    "nan": math.nan,
    "minus": -math.inf,
    "empty": torch.zeros(2, 0, 3),
    "double": torch.tensor(math.pi, dtype=torch.float64),
    "yes": True,
}


def same(one, other) -> bool:
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and one.shape == other.shape and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (one != one and other != other)


def sent(value, *, keep_order: bool = False):
    """What arrives of a value at the other end."""
    tree, blob = encode(value, keep_order=keep_order)
    return decode(json.loads(json.dumps(tree)), blob, keep_order=keep_order)


@pytest.mark.parametrize("keep_order", [True, False])
def test_what_is_sent_is_what_arrives(keep_order):
    assert same(sent(VALUES, keep_order=keep_order), VALUES)


@pytest.mark.parametrize("dtype", list(DTYPES.values()))
def test_every_dtype_arrives(dtype):
    tensor = torch.tensor([0, 1, 1]).to(dtype)
    assert same(sent(tensor), tensor)


def test_tensors_that_share_memory_are_sent_each():
    tensor = torch.arange(6.0)
    alike = [tensor, tensor, tensor[1:3], torch._neg_view(tensor), tensor.conj(), tensor.clone().requires_grad_()]
    assert same(sent(alike), [tensor, tensor, tensor[1:3], -tensor, tensor, tensor])


@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 0, 1), (2, 1, 0)])
def test_numbers_that_do_not_lie_in_order_arrive_so_or_in_order(axes):
    """A `.view` that fails in the notebook must fail in the sandbox."""
    tensor = torch.arange(30.0).reshape(2, 3, 5).permute(axes)
    kept, ordered = sent({"t": [tensor]}, keep_order=True)["t"][0], sent({"t": [tensor]})["t"][0]
    assert same(kept, tensor)
    assert kept.stride() == tensor.stride()
    assert not kept._is_view()
    assert same(ordered, tensor)
    assert ordered.is_contiguous()
    assert not ordered._is_view()


@pytest.mark.parametrize(
    "tensor", [torch.ones(2, 1).expand(2, 3), torch.arange(12).reshape(3, 4)[:, ::2], torch.tensor(1.0)]
)
def test_numbers_that_no_order_of_axes_explains_arrive_in_order(tensor):
    arrived = sent(tensor, keep_order=True)
    assert same(arrived, tensor)
    assert arrived.is_contiguous()


def test_an_order_that_nobody_asked_to_keep_is_refused():
    """Only inputs keep theirs: the judge calls `.view` on what comes back."""
    tree, blob = encode(torch.arange(6.0).reshape(2, 3).T, keep_order=True)
    with pytest.raises(Refused, match="something wrote into the channel"):
        decode(tree, blob)


def test_our_own_inputs_are_checked_too():
    with pytest.raises(Refused, match="an object came back"):
        encode({"a": object()})


def blob(header, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def entry(dtype="F32", shape=(1,), offsets=(0, 4)) -> dict:
    return {"0": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}}


FORGED = {
    "too short": b"\0\0\0",
    "a header of 2^63 bytes": struct.pack("<Q", 2**63) + b"{}",
    "a header of NaN's bits": struct.pack("<d", math.nan) + b"{}",
    "a header that is no JSON": blob(b"\xff\xfe{"),
    "a header that is a list": blob([1, 2]),
    "a header nested deep": blob(b"[" * 50_000 + b"]" * 50_000),
    "more than there is": blob(entry(shape=(10**6,), offsets=(0, 4 * 10**6)), b"1234"),
    "less than the shape": blob(entry(shape=(7,)), b"1234"),
    "offsets backwards": blob(entry(offsets=(4, 0)), b"1234"),
    "negative sizes": blob(entry(shape=(-1,)), b"1234"),
    "sizes that overflow": blob(entry(shape=(2**40, 2**40), offsets=(0, 0))),
    "sizes that overflow beside a zero": blob(entry(shape=(2**39, 2**39, 0), offsets=(0, 0))),
    "an unknown dtype": blob(entry(dtype="PICKLE"), b"1234"),
    "complex": blob(entry(dtype="C64", offsets=(0, 8)), b"12345678"),
    "a hole": blob(entry(offsets=(4, 8)), b"12345678"),
    "a pickle": b"\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R.",
    "many axes": blob(entry(shape=(1,) * 60), b"1234"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_tensors_are_refused_in_words(name):
    with pytest.raises(Refused, match="came back"):
        decode({"tensor": "0"}, FORGED[name])


TREES = {
    "an unknown kind": {"pickle": "x"},
    "no kind": {},
    "two kinds": {"dict": {}, "float": "nan"},
    "a tensor that is not there": {"tensor": "9"},
    "a tensor by a number": {"tensor": 0},
    "a float of words": {"float": "one"},
    "a dict that is a list": {"dict": [1]},
    "an integer of 65 bits": 2**64,
}


@pytest.mark.parametrize("name", TREES)
def test_forged_trees_are_refused_in_words(name):
    with pytest.raises(Refused, match="came back"):
        decode(TREES[name], b"")


def test_one_tensor_cannot_stand_for_a_million():
    tree, data = encode([torch.ones(3)], 1000)
    with pytest.raises(Refused):
        decode(tree * 2, data)


def test_depth_is_bounded():
    tree: list = []
    for _ in range(100):
        tree = [tree]
    with pytest.raises(Refused, match="too deep"):
        decode(tree, b"")


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b"1" * 5000, b"[" * 100_000, b"x" * (2 << 20)])
def test_an_answer_that_is_no_object_is_refused(text):
    with pytest.raises(Refused):
        parse(text)


def test_booleans_are_zero_or_one_whatever_was_sent():
    tensor = decode({"tensor": "0"}, blob(entry(dtype="BOOL", shape=(4,)), b"\x00\x01\x02\xff"))
    assert tensor.tolist() == [False, True, True, True]


def test_text_that_came_back_can_be_stored():
    value = _cleaned(decode({"dict": {"a\ud800": "b\udfff\x1b[2J"}}, b""))
    assert value == {"a?": "b?[2J"}
