"""Feed the trusted side what no honest sandbox sends, guided by coverage: every defect must be an error of the evidence.

    pip install atheris
    python -m benchmarks.fuzz [--seconds 3600]

What a sandbox answers is read by `grader.sandbox.replies`: outputs of a cell, values of a probe, tensors, the place of an
exception. Some of the inputs are bytes as they come, most are of the right shape with parts that are not. The program
stops at the first exception, and leaves the input that raised it in a file `crash-…`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import atheris
import torch

from benchmarks import publish

with atheris.instrument_imports(include=["grader.sandbox", "grader.sandbox.replies", "grader.sandbox.replies"]):
    from grader.records import Limits, Request
    from grader.sandbox.guest import codec
    from grader.sandbox.replies import Reply, cell_result, evidence

REQUEST = Request(key="1.1/values", source="", function="probe", trials={"0": {}}, seconds=1.0)
LIMITS = Limits()
KEYS = (
    "status", "tree", "trips", "error", "message", "place", "lineage", "outputs", "execution_count", "output_type", "text",
    "data", "name", "image/png", "text/plain", "dict", "tensor", "axes", "float", "cell", "line", "column", "shapes", "0", "1",
)  # fmt: skip
WORDS = (
    *KEYS,
    "ok",
    "raised",
    "stream",
    "stdout",
    "display_data",
    "error",
    "nan",
    "inf",
    "F32",
    "I64",
    "BOOL",
    "\x00",
    "＝",
    "",
)
DTYPES = (*codec.DTYPES, "F8", "C64")
RIGHT = {"weights": torch.rand(2, 3).mT, "steps": [1, 2.5, None, True], "text": "α", "flags": torch.ones(3) > 0}
MOST_DEPTH = 6


def tree(data: Any, depth: int = 0) -> Any:
    """Make a JSON value, mostly of what the sandbox may send."""
    kind = data.ConsumeIntInRange(0, 9)
    if depth > MOST_DEPTH or kind < 3:
        return data.PickValueInList(list(WORDS)) if kind else data.ConsumeUnicode(20)
    if kind == 3:
        return data.ConsumeInt(9)
    if kind == 4:
        return data.ConsumeFloat()
    if kind == 5:
        return data.PickValueInList([None, True, False, 2**63, -(2**70), 1e308])
    if kind == 6:
        return [tree(data, depth + 1) for _ in range(data.ConsumeIntInRange(0, 4))]
    if kind == 7:
        return {"tensor": str(data.ConsumeIntInRange(0, 3))}
    return {data.PickValueInList(list(KEYS)): tree(data, depth + 1) for _ in range(data.ConsumeIntInRange(0, 4))}


def tensors(data: Any) -> bytes:
    """Make a body in the safetensors format, mostly."""
    header, body = {}, b""
    for name in range(data.ConsumeIntInRange(0, 3)):
        shape = [data.PickValueInList([0, 2**39, 1, 2, 3, -1]) for _ in range(data.ConsumeIntInRange(0, 3))]
        content = data.ConsumeBytes(data.PickValueInList([0, 1, 4, 8, 24]))
        offsets = [len(body), len(body) + len(content) + data.PickValueInList([0, 0, 0, 1, -1])]
        header[str(name)] = {"dtype": data.PickValueInList(list(DTYPES)), "shape": shape, "data_offsets": offsets}
        body += content
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def reply(data: Any) -> Reply:
    """Make what the sandbox answers."""
    if data.ConsumeIntInRange(0, 9) == 9:
        head = data.ConsumeBytes(data.ConsumeIntInRange(0, 300))
    else:
        status = data.PickValueInList(["ok", "raised", "odd"])
        head = json.dumps({"status": status, "tree": {"dict": tree(data)}, **(tree_of_a_cell(data))}).encode()
    outcome = data.PickValueInList(["answer"] * 8 + ["timeout", "refused", "died", "memory"])
    body = tensors(data) if data.ConsumeIntInRange(0, 9) < 9 else data.ConsumeBytes(data.ConsumeIntInRange(0, 200))
    return Reply(outcome, raw=data.ConsumeBytes(20), head=head, body=body)


def tree_of_a_cell(data: Any) -> dict[str, Any]:
    """Make the other fields of an answer."""
    names = ("trips", "error", "message", "place", "lineage", "outputs", "execution_count", "tree")
    return {name: tree(data) for name in names if data.ConsumeIntInRange(0, 2) == 0}


def read(content: bytes) -> None:
    """Read one answer as a cell's and as a probe's."""
    data = atheris.FuzzedDataProvider(content)
    answer = reply(data)
    cell_result(answer, LIMITS, allowed=1.0, took=0.5, max_output=1 << 16)
    found, size = evidence(REQUEST, "0", answer, LIMITS, took=0.5, bytes_left=1 << 20)
    assert size >= 0
    if found.values:
        codec.encode(found.values)  # what was accepted can go back


def fuzz(seconds: int) -> None:
    """Fuzz in this process, which libFuzzer ends: with status 0 after the time, with another at the first exception."""
    torch.set_num_threads(1)
    head, blob = codec.encode(RIGHT)
    with tempfile.TemporaryDirectory() as corpus:
        Path(corpus, "right").write_bytes(json.dumps({"status": "ok", "tree": head}).encode() + blob)
        limits = [f"-max_total_time={seconds}", "-rss_limit_mb=3000", "-max_len=1000", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], corpus, *limits], read)
        atheris.Fuzz()


def main() -> None:
    """Fuzz for some time in a process of its own, and print a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        fuzz(options.seconds)
    command = [sys.executable, "-m", "benchmarks.fuzz", "--here", "--seconds", str(options.seconds)]
    ran = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if ran.returncode:
        raise SystemExit(ran.stderr[-4000:])
    inputs = int(re.findall(r"stat::number_of_executed_units: (\d+)", ran.stderr)[-1])
    publish("fuzz", {"inputs": inputs, "seconds": options.seconds, "exceptions": 0})


if __name__ == "__main__":
    main()
