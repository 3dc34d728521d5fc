"""Describe this machine's isolation, device and packages for `grader doctor`."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator

import torch

from grader.execution import cgroup
from grader.execution.guest import linux
from grader.execution.tiers import LINUX, OTHER_SYSTEM, TIERS, tier_problem
from grader.execution.users import COUNT, FIRST

# What each tier leaves open, as far as we know (tests/execution/test_isolation.py and test_neighbours.py try the rest),
# and what does not work in it.
OPEN = {
    "full": (
        "where Python lies on this machine, its kernel, processor and load can be read in /proc",
        "speed: cores, caches and memory are shared, so that a submission can slow its neighbours down",
    ),
    "partial": (
        "processes and their command lines, mounts and the network's state can be read in /proc, and the files of Python",
        "scratch is limited by a count twice a second, not by the file system",
        "speed: cores, caches, memory and disk are shared, so that a submission can slow its neighbours down",
        "DataLoader workers, multiprocessing and terminals do not work: what they need is denied",
    ),
    "none": (
        "a submission runs with the rights of whoever runs the grader: files, network, processes, environment of it",
        "time-outs and limits hold against accidents, not against intent",
    ),
}
SHARED_USER = "one user for all submissions: watches, pipes and (tier partial) processes are counted for it; root has one for each"
# Tier → what the operator can do so that this machine provides the tier.
REMEDIES = {
    "full": "Full needs user namespaces: on Ubuntu ≥ 23.10 `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, "
    "in Docker `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or run the grader as root.",
    "partial": f"Partial needs Linux ≥ {LINUX['partial']} with Landlock among the security modules "
    "(`lsm=landlock,…` at boot).",
    "none": f"None needs Linux ≥ {LINUX['none']}.",
}
WITHOUT_GROUPS = "counted every 50 ms, with what sockets hold, but not all of the kernel's own: no control group can be made here"
PACKAGES = ("torch", "numpy", "matplotlib", "scikit-learn", "ipython", "papermill", "nbgrader", "pyseccomp")


def examine() -> tuple[str, ...]:
    """Examine the machine and return the report, line by line."""
    return (*_isolation_lines(), *_machine_lines())


def _isolation_lines() -> Iterator[str]:
    """Yield the best tier, why this machine provides no better one, what stays open, and the user."""
    problems = {tier: tier_problem(tier) for tier in TIERS}
    best = next((tier for tier in TIERS if not problems[tier]), "")
    if not best:
        yield f"isolation   no tier: nothing can be graded here{'' if sys.platform == 'linux' else f'; {OTHER_SYSTEM}'}"
    else:
        yield f"isolation   {best}{' (refused unless asked for with --isolation none)' if best == 'none' else ''}"
    for tier in TIERS[: TIERS.index(best)] if best else TIERS:
        if sys.platform == "linux":
            yield f"            not {tier}: {problems[tier]}"
            yield f"            {REMEDIES[tier]}"
    if not best:
        return
    for weakness in OPEN[best]:
        yield f"            open: {weakness}"
    if os.getuid() != 0:
        yield f"            {SHARED_USER}"
    if best != "none":
        user = (
            f"a user for each submission, {FIRST} to {FIRST + COUNT - 1}, never root"
            if os.getuid() == 0
            else "your user, in namespaces of its own"
        )
        yield f"runs as     {user if best == 'full' or os.getuid() == 0 else 'your user'}"


def _machine_lines() -> Iterator[str]:
    """Yield how memory is limited, and the versions of Landlock, device, system and packages."""
    memory = "control groups" if cgroup.available() else WITHOUT_GROUPS
    yield f"memory      {memory}"
    version = linux.landlock_version()
    yield f"Landlock    version {version}" if version else "Landlock    none"
    cuda = torch.cuda.is_available()
    yield f"device      {torch.cuda.get_device_name() if cuda else 'cpu'}, {os.cpu_count()} cores"
    yield f"system      {platform.system()} {platform.release()}, Python {platform.python_version()}"
    yield "packages    " + ", ".join(_version(package) for package in PACKAGES)


def _version(package: str) -> str:
    """Return a package's name and version, or that it is missing."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} missing (make setup)"
