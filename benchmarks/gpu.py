"""The reference modules, lesson 3's training and the grader on a GPU, in one run.

    python -m benchmarks.gpu
    python -m benchmarks.gpu --device cpu --sizes 128 --steps 2 --without-class    # only to see the program work

Attention: forward and backward, float32 (without TensorFloat-32) and bfloat16, 16,384 tokens in a batch whatever their
length, 8 heads of 64. The fused path is measured against `F.scaled_dot_product_attention`, the layer against
`nn.MultiheadAttention` (with the weights of each head, and without), the sliding window against dense fused attention.
Both of a pair take turns on an idle GPU, each run stands between two CUDA events, and the median of the ratios of
neighbouring runs is reported. What does not fit into the GPU's memory is left out.

A class: every example submission, graded on the CPU and on the GPU; each exercise must come to the same outcome.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import torch
from attention.dot_product import masked_attention
from attention.efficient import fused_attention, sliding_window_attention
from attention.multi_head import MultiHeadAttention
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks import publish

ROOT = Path(__file__).resolve().parents[1]
SIZES = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
DTYPES = (torch.float32, torch.bfloat16)
TOKENS, HEADS, WIDTH, WINDOW, ROUNDS = 16_384, 8, 64, 256, 15


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; returns the exit status."""
    asked = _options().parse_args(arguments)
    if asked.device == "cuda" and not torch.cuda.is_available():
        text = f"no CUDA device is visible to torch {torch.__version__}; nothing was measured"
        print(f"benchmarks.gpu: {text}", file=sys.stderr)
        return 2
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    rows = [
        {"dtype": str(dtype).removeprefix("torch."), "tokens": n, **attention(n, dtype, asked.device, asked.rounds)}
        for dtype in DTYPES
        for n in asked.sizes
    ]
    figures: dict[str, Any] = {"device": device_name(asked.device), **by_size(rows)}
    figures |= training(asked.device, asked.steps)
    if not asked.without_class:
        figures |= a_class(asked.device)
    publish("gpu", figures, rows)
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.gpu", description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="lengths of the sequences")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="pairs of runs for each ratio")
    parser.add_argument("--steps", type=int, default=None, help="of lesson 3's training; all by default")
    parser.add_argument("--without-class", action="store_true", help="grade nothing")
    return parser


def device_name(device: str) -> str:
    """ "NVIDIA H200, CUDA 12.6", or "cpu"."""
    return f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}" if device == "cuda" else device


# ---------------------------------------------------------------- attention


def attention(n: int, dtype: torch.dtype, device: str, rounds: int) -> dict[str, float | None]:
    """Milliseconds of PyTorch's fused attention for n tokens, and the ratios of everything else."""
    batch = max(1, (TOKENS if device == "cuda" else n) // n)
    generator = torch.Generator().manual_seed(n)
    heads = [
        torch.randn(batch, HEADS, n, WIDTH, generator=generator).to(device, dtype).requires_grad_() for _ in range(3)
    ]
    tokens = torch.randn(batch, n, HEADS * WIDTH, generator=generator).to(device, dtype)
    ours = MultiHeadAttention(HEADS * WIDTH, HEADS).to(device, dtype)
    theirs = nn.MultiheadAttention(HEADS * WIDTH, HEADS, bias=False, batch_first=True).to(device, dtype)

    def dense() -> Tensor:
        return F.scaled_dot_product_attention(*heads)

    def builtin(need_weights: bool) -> Callable[[], Tensor]:
        return lambda: theirs(tokens, tokens, tokens, need_weights=need_weights, average_attn_weights=False)[0]

    pairs = {
        "fused / SDPA": (lambda: fused_attention(*heads), dense),
        "explicit / SDPA": (lambda: masked_attention(*heads)[0], dense),
        "layer / nn.MHA": (lambda: ours(tokens)[0], builtin(True)),
        "fused layer / nn.MHA": (lambda: ours(tokens, need_weights=False)[0], builtin(False)),
    }
    if n > 2 * WINDOW:
        pairs["dense / window"] = dense, lambda: sliding_window_attention(*heads, WINDOW)
    measured = {name: ratio(*pair, device, rounds) for name, pair in pairs.items()}
    step(dense)
    alone = [milliseconds(dense, device) for _ in range(rounds)]
    return {"SDPA ms": round(median(alone), 4), **measured}


def step(forward: Callable[[], Tensor]) -> None:
    """Forward and backward."""
    output = forward()
    output.backward(torch.ones_like(output))


def milliseconds(forward: Callable[[], Tensor], device: str) -> float:
    """One step, alone on the device."""
    if device != "cuda":
        started = perf_counter()
        step(forward)
        return 1000 * (perf_counter() - started)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    step(forward)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def ratio(first: Callable[[], Tensor], second: Callable[[], Tensor], device: str, rounds: int) -> float | None:
    """The median of first / second over runs that stand beside each other; None where one does not fit into memory."""
    found = []
    try:
        for forward in (first, second, first, second):  # kernels are chosen and memory is taken before it counts
            step(forward)
        for index in range(rounds):
            order = (first, second) if index % 2 else (second, first)
            taken = {forward: milliseconds(forward, device) for forward in order}
            found.append(taken[first] / taken[second])
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return None
    return round(median(found), 4)


def by_size(rows: Sequence[dict]) -> dict[str, Any]:
    """The rows by dtype and length, and the figures that docs/gpu.md quotes."""
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        rest = {name: value for name, value in row.items() if name not in ("dtype", "tokens")}
        table.setdefault(row["dtype"], {})[str(row["tokens"])] = rest
    fused = [row["fused / SDPA"] for row in rows if row["fused / SDPA"] is not None]
    longest = max(row["tokens"] for row in rows)
    window = [row.get("dense / window") for row in rows if row["tokens"] == longest]
    return {**table, "fused_vs_sdpa_max": max(fused), "dense_over_window": window, "window": WINDOW}


# ---------------------------------------------------------------- training, and a class


def training(device: str, steps: int | None) -> dict[str, Any]:
    """Lesson 3: the seconds that its training takes, and the share of right answers on unseen handwriting."""
    from attention.data.tokens import TASKS
    from attention.experiments import recipe
    from attention.generation import generate
    from attention.measures.evaluation import accuracy, held_out
    from attention.training import train_step
    from attention.vlm import MiniVLM

    model = MiniVLM(**recipe.MODEL).to(device)
    steps = recipe.STEPS if steps is None else steps
    started = perf_counter()
    record = recipe.train(model, train_step, 0, steps=steps, align_steps=min(recipe.ALIGN_STEPS, steps))
    seconds = perf_counter() - started  # each step brings its loss back, so nothing is still under way
    right = {task: round(accuracy(model, generate, task, held_out(task, 500)), 4) for task in TASKS}
    last = round(record["losses"][-1].item(), 4)
    return {"lesson_3_s": round(seconds, 2), "lesson_3_last_loss": last, "lesson_3_right": right}


def a_class(device: str) -> dict[str, Any]:
    """The example submissions on the CPU and on the device: seconds, and what came out differently, or went to the CPU."""
    cpu, cpu_seconds = graded("cpu")
    there, seconds = graded(device)
    pairs = [(name, cpu[name], there[name]) for name in sorted(cpu)]
    results = [(name, here["exercises"], other["exercises"]) for name, here, other in pairs]
    each = [(f"{name}/{a['id']}", a, b) for name, here, other in results for a, b in zip(here, other, strict=True)]
    return {
        "class_exercises": len(each),
        "class_cpu_s": round(cpu_seconds, 1),
        "class_device_s": round(seconds, 1),
        "class_differs": [f"{name}: {a['status']}, {b['status']}" for name, a, b in pairs if a["score"] != b["score"]]
        + [f"{name}: {a['outcome']}, {b['outcome']}" for name, a, b in each if a["outcome"] != b["outcome"]],
        "class_says_otherwise": [
            f"{name}: {a['message']} {a['hint']} | {b['message']} {b['hint']}"
            for name, a, b in each
            if (a["message"], a["hint"]) != (b["message"], b["hint"])
        ],
        "class_ran_on_cpu": [
            f"{name}: {flag['detail']}" for name, _, b in pairs for flag in b["flags"] if flag["kind"] == "ran-on-cpu"
        ],
    }


def graded(device: str) -> tuple[dict[str, dict[str, Any]], float]:
    """The grade of each submission, as in --json, and the seconds for all from start to end."""
    from benchmarks.classes import grader, make_empty_course

    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder)
        make_empty_course(course)
        shutil.copytree(ROOT / "examples" / "submitted", course / "submitted")
        started = perf_counter()
        grader(course, "--device", device).wait()
        seconds = perf_counter() - started
        if not (grades := course / "grades.jsonl").is_file():
            raise RuntimeError((course / "log.txt").read_text("utf-8")[-2000:])
        lines = [json.loads(line) for line in grades.read_text("utf-8").splitlines()]
    return {f"{one['student']}/{one['assignment']}": one for one in lines}, seconds


if __name__ == "__main__":
    sys.exit(main())
