"""Finds what another processor sees otherwise: wrong answers run again with the kernels of a plainer processor.

PyTorch and the libraries that it calls choose their kernels by what the processor can do, and the environment may forbid the
better ones. So one machine is several processors, each in a process of its own. Where a wrong answer hangs on the last digit,
as one that compares sums that should be equal, its result there is left out of the notebook.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import torch

from grader.build.self_check_data import Reader
from grader.build.self_check_numbers import Draft
from grader.build.self_check_trials import read_trials
from grader.course import lessons
from grader.explain.candidates import candidates
from grader.explain.fingerprint import alike
from grader.judge.reference_results import ReferenceResults

# The plainest kernels, and those of processors without AVX-512: what the environment must say.
KERNELS: Mapping[str, Mapping[str, str]] = {
    "plain": {"ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
}
Unsure = set[tuple[int, int]]  # the number of a candidate, and the index of a trial


def unsure(drafts: Sequence[Draft]) -> dict[str, Unsure]:
    """Return for each exercise where its wrong answers give something else with other kernels."""
    found: dict[str, Unsure] = {one.exercise: set() for one in drafts}
    own = {name: os.environ.get(name) for name in KERNELS["plain"]}
    pools = [ProcessPoolExecutor(1, get_context("spawn")) for _ in KERNELS]
    try:
        jobs = []
        for pool, kernels in zip(pools, KERNELS.values(), strict=True):
            os.environ.update(kernels)  # a process has them from its start: they are read once
            jobs.append({one.exercise: pool.submit(differing, one) for one in drafts})
        for done in jobs:
            for exercise, job in done.items():
                found[exercise] |= job.result()
    finally:
        for name, value in own.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        for pool in pools:
            pool.shutdown(cancel_futures=True)
    return found


def differing(draft: Draft) -> Unsure:
    """Return where the wrong answers of an exercise give something else in this process."""
    torch.set_num_threads(1)
    lesson = lessons()[draft.assignment]
    exercise = lesson.exercise(draft.exercise)
    trials = [trial for _, trial, _ in read_trials(exercise, draft.told, Reader(draft.data))]
    prints = {answer.number: answer.prints for answer in draft.wrong}
    found: Unsure = set()
    for number, candidate in enumerate(candidates(exercise, trials, ReferenceResults(lesson.reference))):
        for index, own in enumerate(prints.get(number, ())):
            if own is not None and ((other := candidate.prints(index)) is None or not alike(own, other)):
                found.add((number, index))
    return found
