"""What the grader says of the memory of a call is what PyTorch's profiler sees."""

import pytest
import torch
from attention.measures.scaling import cost_of, dense_attention
from attention.tiled import tiled_attention

from grader.course.common.tensor_sizes import watch_peak


def in_a_list(query, key, value):
    parts = [query @ keys.mT for keys in key.split(16, -2)]
    return sum(part.softmax(-1)[..., :1] for part in parts)


@pytest.mark.parametrize("attend", [dense_attention, lambda *tensors: tiled_attention(*tensors, 16), in_a_list])
def test_the_peak_is_the_profilers(attend):
    tensors = torch.randn(3, 1, 128, 64)
    _, peak = watch_peak(attend, *tensors.unbind())
    assert peak * 4 == pytest.approx(cost_of(attend, 128).megabytes * 1e6, rel=0.01)


def test_memory_counts_once_and_until_its_last_view_is_gone():
    given = torch.zeros(1000)

    def views(given):
        made = torch.zeros(100)
        kept = made[:1]
        del made
        given.view(10, 100)  # not made here
        return torch.zeros(10) + kept  # while 100 are held: zeros 10, and their sum 10

    assert watch_peak(views, given)[1] == 120
