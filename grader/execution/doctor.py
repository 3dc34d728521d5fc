"""What this machine is good for, for `grader doctor`."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterator

import torch

from grader.execution import cgroup
from grader.execution.guest import linux
from grader.execution.sandbox_description import UNPRIVILEGED
from grader.execution.tiers import TIERS, why_not

# Of what SANDBOX.md's probes try: what a tier leaves open.
OPEN = {
    "full": (),
    "partial": (
        "the list of processes and their command lines can be read in /proc",
        "DataLoader workers and multiprocessing do not work: sockets and shared memory are denied",
        "scratch is limited by a count twice a second, not by the file system",
    ),
    "none": (
        "a submission runs with the rights of whoever runs the grader: files, network, processes, environment of it",
        "time-outs and limits hold against accidents, not against intent",
    ),
}
HOW = {
    "full": "Full needs user namespaces: on Ubuntu ≥ 23.10 `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, "
    "in Docker `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or run the grader as root.",
    "partial": "Partial needs Linux ≥ 6.12 with Landlock among the security modules (`lsm=landlock,…` at boot).",
}
PACKAGES = ("torch", "numpy", "matplotlib", "scikit-learn", "ipython", "papermill", "nbgrader", "pyseccomp")


def examine() -> tuple[str, ...]:
    """One finding per line."""
    return tuple(_lines())


def _lines() -> Iterator[str]:
    reasons = {tier: why_not(tier) for tier in TIERS}
    best = next((tier for tier in TIERS if not reasons[tier]), "none")
    yield f"isolation   {best}" + (
        " (refused unless asked for with --isolation none)" if best == "none" else ""
    )
    for tier in TIERS[: TIERS.index(best)]:
        yield f"            not {tier}: {reasons[tier]}"
        yield f"            {HOW[tier]}"
    for line in OPEN[best]:
        yield f"            open: {line}"
    if best != "none":
        user = (
            f"user {UNPRIVILEGED}, never root" if os.getuid() == 0 else "your user, in namespaces of its own"
        )
        yield f"runs as     {user if best == 'full' or os.getuid() == 0 else 'your user'}"
    yield f"memory      {'control groups' if cgroup.available() else 'counted every 50 ms: no control group can be made here'}"
    yield (
        f"Landlock    version {linux.landlock_version()}" if linux.landlock_version() else "Landlock    none"
    )
    cuda = torch.cuda.is_available()
    yield f"device      {torch.cuda.get_device_name() if cuda else 'cpu'}, {os.cpu_count()} cores"
    yield f"system      {platform.system()} {platform.release()}, Python {platform.python_version()}"
    yield "packages    " + ", ".join(_version(name) for name in PACKAGES)


def _version(name: str) -> str:
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{name} missing (make setup)"
