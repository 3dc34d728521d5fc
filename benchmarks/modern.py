"""What modern attention saves and costs: tiles, a key-value cache, shared keys; and whether the results are the same.

    python -m benchmarks.modern

One thread. Times are the processor's, in one run, and only their ratios are told: two ways take turns on one machine. Memory
is the most that tensors held at one time. Dense, tiled and fused attention have one head of width 64, and tiles of 64
keys. The cache is measured on a model of lesson 3's size with places for more words, at several seeds, with 1 and with 8
prompts at once. Sharing keys starts from the trained model of each seed, and trains it on for a tenth of its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from time import process_time

import torch
from attention.cached_generation import generate_with_cache
from attention.data.digits import draw_scenes
from attention.data.tokens import draw_questions
from attention.experiments.recipe import MODEL, draw_start, train
from attention.experiments.shared_keys import share_keys, train_on, words_right
from attention.generation import generate
from attention.key_value_cache import attend_with_cache
from attention.measures.scaling import Cost, cost_of, dense_attention, slope
from attention.open_vlm import OpenVLM, answer_step
from attention.rotary import rotate
from attention.tiled import tiled_attention
from torch import Tensor
from torch.nn import functional as F

from benchmarks import publish

SEEDS = 5
LENGTHS = (512, 1024, 2048, 4096, 8192)
TILE = 64
WORDS = (32, 64, 128, 256)
ROUNDS = 3  # of which the median ratio counts


def main() -> None:
    torch.set_num_threads(1)
    tiles, tile_figures = measure_tiles()
    caches, cache_figures = measure_cache()
    shares, share_figures = measure_sharing()
    figures = {**measure_rotation(), **tile_figures, **cache_figures, **share_figures}
    publish("modern", figures, [*tiles, *caches, *shares])


def fused(*tensors: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(*(tensor[None] for tensor in tensors))


def tiled(*tensors: Tensor) -> Tensor:
    return tiled_attention(*tensors, TILE)


ATTENTIONS: dict[str, Callable[..., Tensor]] = {"dense": dense_attention, "tiled": tiled, "fused": fused}


def measure_rotation() -> dict:
    """How much a score changes when query and key move by the same, against the largest score; in both precisions."""
    changes = {}
    for dtype in (torch.float32, torch.float64):
        generator = torch.Generator().manual_seed(0)
        query, key = torch.randn(2, 64, 64, generator=generator, dtype=dtype)
        positions = torch.arange(64)

        def scores(shift: int, query=query, key=key, positions=positions) -> Tensor:
            return rotate(query, positions + shift) @ rotate(key, positions + shift).T

        before = scores(0)
        changes[str(dtype).removeprefix("torch.")] = max(
            ((scores(shift) - before).abs().max() / before.abs().max()).item() for shift in (1, 100, 1000)
        )
    return {"rotary_change_when_both_move": changes}


def measure_tiles() -> tuple[list[dict], dict]:
    """Memory and time at growing n, and how far tiled attention is from dense attention."""
    costs: dict[str, dict[int, Cost]] = {
        name: {n: cost_of(attend, n) for n in LENGTHS} for name, attend in ATTENTIONS.items()
    }
    rows, off = [], {}
    for n in LENGTHS:
        query, key, value = torch.randn(3, n, 64, generator=torch.Generator().manual_seed(n))
        off[n] = (tiled(query, key, value) - dense_attention(query, key, value)).abs().max().item()
        dense, tile = costs["dense"][n], costs["tiled"][n]
        rows.append(
            {"n": n, "dense MB": dense.megabytes, "tiled MB": tile.megabytes,
             "fused MB": costs["fused"][n].megabytes, "dense / tiled MB": dense.megabytes / tile.megabytes,
             "tiled / dense time": tile.seconds / dense.seconds, "off by": f"{off[n]:.1e}"}
        )  # fmt: skip
    times = [row["tiled / dense time"] for row in rows]
    figures = {
        "tiled_off_by": max(off.values()),
        "memory_slopes": {name: slope({n: cost.megabytes for n, cost in by_n.items()}) for name, by_n in costs.items()},
        "time_slopes": {name: slope({n: cost.seconds for n, cost in by_n.items()}) for name, by_n in costs.items()},
        "tiled_over_dense_time": [min(times), max(times)],
        "memory_ratio_4096": costs["dense"][4096].megabytes / costs["tiled"][4096].megabytes,
    }
    return rows, figures


def measure_cache() -> tuple[list[dict], dict]:
    """How many times faster an answer is with the cache, and whether it is the same."""
    rows: list[dict] = []
    same, at_256 = True, {}
    for prompts in (1, 8):
        for words in WORDS:
            ratios = []
            for seed in range(SEEDS):
                ratio, alike = speed_up(prompts, words, seed)
                ratios.append(ratio)
                same = same and alike
            rows.append(
                {"prompts": prompts, "words": words, "without / with cache, median": median(ratios),
                 "lowest": min(ratios)}
            )  # fmt: skip
            if words == 256:
                at_256[f"{prompts} prompts"] = min(ratios)
    return rows, {"cache_same_words": same, "cache_speed_up_256_lowest": at_256}


@torch.no_grad()
def speed_up(prompts: int, words: int, seed: int) -> tuple[float, bool]:
    """Answer both ways, one after the other: how many times longer it takes without the cache; whether all words agree."""
    model = OpenVLM(**{**MODEL, "max_tokens": max(WORDS) + 5}).eval()
    draw_start(model, seed)
    generator = torch.Generator().manual_seed(seed)
    prompt_ids = torch.randint(3, MODEL["vocab_size"], (prompts, 5), generator=generator)
    patches = draw_scenes(prompts, generator, "test").patches
    ratios, same = [], True
    for turn in range(ROUNDS if words <= 256 and prompts == 1 else 1):
        ways = list(answers(model, prompt_ids, patches, words))
        taken, said = {}, []
        for name, answer in ways if turn % 2 else ways[::-1]:
            began = process_time()
            said.append(answer())
            taken[name] = process_time() - began
        ratios.append(taken["without"] / taken["with"])
        same = same and torch.equal(*said)
    return median(ratios), same


def answers(
    model: OpenVLM, prompt_ids: Tensor, patches: Tensor, words: int
) -> Iterator[tuple[str, Callable[[], Tensor]]]:
    yield "without", lambda: generate(model, prompt_ids, patches, words, -1)
    yield "with", lambda: generate_with_cache(model, prompt_ids, patches, words, -1, attend_with_cache)


def measure_sharing() -> tuple[list[dict], dict]:
    """The share of right words when heads share keys and values: at once, and trained on."""
    test = draw_questions(2000, torch.Generator().manual_seed(7), "test", fewest=9, most=9)
    rows: list[dict] = []
    for seed in range(SEEDS):
        model = OpenVLM(**MODEL)
        train(model, answer_step, seed)
        for groups in (4, 2, 1):
            shared = share_keys(model, groups)
            before = words_right(shared, test)
            train_on(shared, answer_step, seed)
            rows.append(
                {"seed": seed, "groups": groups, "right, shared": before, "trained on": words_right(shared, test)}
            )
    figures = {
        f"{groups} groups": {
            name: [min(values), max(values)]
            for name in ("right, shared", "trained on")
            if (values := [row[name] for row in rows if row["groups"] == groups])
        }
        for groups in (4, 2, 1)
    }
    return rows, {"words_right": figures}


if __name__ == "__main__":
    main()
