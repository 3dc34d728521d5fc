"""The GPU's benchmark as far as it goes without one: it says so, and its code runs."""

from __future__ import annotations

import json

import pytest
import torch
from attention.measures import evaluation

from benchmarks import gpu


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_it_says_so_in_one_line_and_measures_nothing(capsys):
    assert gpu.main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "no CUDA device" in printed.err


def test_the_code_runs_on_the_cpu(capsys, monkeypatch):
    monkeypatch.setattr(gpu, "WINDOW", 2)
    few = evaluation.held_out
    monkeypatch.setattr(evaluation, "held_out", lambda task, count: few(task, 2))
    gpu.main(["--device", "cpu", "--sizes", "8", "--rounds", "1", "--steps", "1", "--without-class"])
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["benchmark"] == "gpu"
    for dtype in ("float32", "bfloat16"):
        row = result["figures"][dtype]["8"]
        names = {
            "SDPA ms",
            "fused / SDPA",
            "explicit / SDPA",
            "layer / nn.MHA",
            "fused layer / nn.MHA",
            "dense / window",
        }
        assert set(row) == names
        assert all(value > 0 for value in row.values())
    assert set(result["figures"]["lesson_3_right"]) == {"where", "what", "read"}
