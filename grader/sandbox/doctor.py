"""Describe this machine's isolation, device and packages for `grader doctor`."""

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch

from grader.sandbox import cgroup
from grader.sandbox.guest import linux
from grader.sandbox.reservations import FIRST_USER, USERS
from grader.sandbox.seccomp import not_known
from grader.sandbox.tiers import LINUX, OTHER_SYSTEM, TIERS, tier_problem

# What each tier leaves open, as far as we know (tests/sandbox/test_isolation.py and test_neighbours.py try the rest),
# and what does not work in it.
OPEN = {
    "full": (
        "a submission can read in /proc where Python is installed, and this machine's kernel, processor and load",
        "a submission can slow down others, because they share cores, caches and memory",
    ),
    "partial": (
        "a submission can read in /proc processes with their command lines, mounts and the state of the network; "
        "it can read Python's files, but only the names of the course's files",
        "the size of scratch is checked twice a second, and not fixed by the file system",
        "a submission can slow down others, because they share cores, caches, memory and disk",
        "DataLoader workers, multiprocessing and terminals do not work",
    ),
    "none": (
        "a submission has all rights of the user who runs the grader: files, network, processes and environment",
        "time-outs and limits protect against accidents, not against attacks",
    ),
}
SHARED_USER = (
    "all submissions run as one user, and share what the kernel counts for it: watches, pipes and, in the "
    "partial tier, processes. If root runs the grader, each submission has a different user"
)
# Tier → what the operator can do so that this machine provides the tier.
REMEDIES = {
    "full": "Full needs user namespaces: on Ubuntu ≥ 23.10 `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, "
    "in Docker `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or run the grader as root.",
    "partial": f"Partial needs Linux ≥ {LINUX['partial']} with Landlock among the security modules "
    "(`lsm=landlock,…` at boot).",
    "none": f"None needs Linux ≥ {LINUX['none']}.",
}
WITHOUT_GROUPS = (
    "counted every 50 ms, with the content of sockets, but not all of the kernel's own memory: no control groups here"
)
PACKAGES = ("torch", "numpy", "matplotlib", "scikit-learn", "ipython", "papermill", "nbgrader", "pyseccomp")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The information that `grader doctor` prints about this machine."""

    isolation: str  # the best tier; "" if nothing can be graded here
    missing: Mapping[str, str]  # each better tier → why this machine does not provide it
    not_known: tuple[str, ...]  # system calls that a submission may use, and that the filter refuses here
    open: tuple[str, ...]  # what the best tier leaves open
    runs_as: str  # who a submission runs as; "" in tier none
    shared_user: bool  # all submissions run as one user
    memory: str  # how memory is limited
    landlock: int  # its version; 0 for none
    device: str  # cpu, or the name of the GPU
    cores: int
    system: str
    python: str
    packages: Mapping[str, str | None]  # version; None for a package that is missing


def examine() -> Machine:
    """Find out which tier this machine provides, what is missing for better tiers, and other facts about it."""
    problems = {tier: tier_problem(tier) for tier in TIERS}
    best = next((tier for tier in TIERS if not problems[tier]), "")
    better = TIERS[: TIERS.index(best)] if best else TIERS
    return Machine(
        isolation=best,
        missing={tier: problems[tier] for tier in better},
        not_known=not_known() if best in ("full", "partial") else (),
        open=OPEN.get(best, ()),
        runs_as=_runs_as(best),
        shared_user=os.getuid() != 0,
        memory="control groups" if cgroup.available() else WITHOUT_GROUPS,
        landlock=linux.landlock_version() or 0,
        device=torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        packages={package: _version(package) for package in PACKAGES},
    )


def _runs_as(tier: str) -> str:
    """Return words for the user that a submission runs as in a tier, or "" for the tier "none" and without a tier."""
    if tier not in ("full", "partial"):
        return ""
    if os.getuid() == 0:
        return f"a different user for each submission, {FIRST_USER} to {FIRST_USER + USERS - 1}, never root"
    return "your user, in separate namespaces" if tier == "full" else "your user"


def report(machine: Machine) -> tuple[str, ...]:
    """Return the lines that `grader doctor` prints."""
    return (*_isolation_lines(machine), *_machine_lines(machine))


def _isolation_lines(machine: Machine) -> Iterator[str]:
    """Yield lines with the best tier, the reasons against better ones, its weaknesses, and the user of a submission."""
    best = machine.isolation
    if not best:
        yield f"isolation   no tier: nothing can be graded here{'' if sys.platform == 'linux' else f'; {OTHER_SYSTEM}'}"
    else:
        yield f"isolation   {best}{' (refused unless you pass --isolation none)' if best == 'none' else ''}"
    for tier, problem in machine.missing.items():
        if sys.platform == "linux":
            yield f"            not {tier}: {problem}"
            yield f"            {REMEDIES[tier]}"
    if not best:
        return
    for weakness in machine.open:
        yield f"            open: {weakness}"
    if best != "none":
        yield "            tested here: a submission cannot read the course or its solutions"
        for call in machine.not_known:
            yield f"            refused: the system call {call}, which this machine's libseccomp does not know"
    if machine.shared_user:
        yield f"            {SHARED_USER}"
    if machine.runs_as:
        yield f"runs as     {machine.runs_as}"


def _machine_lines(machine: Machine) -> Iterator[str]:
    """Yield lines about the limit on memory, Landlock, the device, the system and the packages."""
    yield f"memory      {machine.memory}"
    yield f"Landlock    {f'version {machine.landlock}' if machine.landlock else 'none'}"
    yield f"device      {machine.device}, {machine.cores} cores"
    yield f"system      {machine.system}, Python {machine.python}"
    yield "packages    " + ", ".join(
        f"{name} {version or 'missing; install it with pip'}" for name, version in machine.packages.items()
    )


def _version(package: str) -> str | None:
    """Return a package's version, or None if the package is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
