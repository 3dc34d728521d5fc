"""Choose the tier of isolation that this machine can provide.

full     namespaces with a minimal root, Landlock, a system-call filter, limits
partial  no namespaces: Landlock and the filter, which denies sockets; limits
none     limits and time-outs only; never used unless requested
"""

from __future__ import annotations

import os
import sys
from functools import cache

from grader.execution.errors import IsolationError
from grader.execution.guest import linux
from grader.execution.process import try_tier
from grader.execution.seccomp import MissingLibrary, compile_filter

TIERS = ("full", "partial", "none")


def resolve_tier(requested: str) -> str:
    """Return the requested tier if this machine can provide it; for auto, the best of full and partial.

    Raises:
        IsolationError: this machine cannot provide the tier, or for auto neither; or there is no such tier.
    """
    if requested not in ("auto", *TIERS):
        raise IsolationError(f"isolation {requested!r} is none of auto, {', '.join(TIERS)}")
    candidates = ("full", "partial") if requested == "auto" else (requested,)
    for tier in candidates:
        if not tier_problem(tier):
            return tier
    problems = "; ".join(f"{tier}: {tier_problem(tier)}" for tier in candidates)
    raise IsolationError(
        f"the sandbox did not start ({problems}). No grade was written. "
        "See `grader doctor`, or pass --isolation none to run submissions with your own rights."
    )


@cache
def tier_problem(tier: str) -> str:
    """Return why this machine cannot provide a tier; empty if it can.

    A tier whose kernel and library are new enough is also tried: versions alone do not show what a container
    forbids.
    """
    if sys.platform != "linux":
        return "needs Linux: on macOS and Windows use a container, WSL or another machine"
    if tier == "none":
        return "" if hasattr(os, "pidfd_open") else "needs Linux 5.3"
    if linux.MACHINE not in linux.SYS_PIVOT_ROOT:
        return f"not known to work on {linux.MACHINE} processors"
    version = linux.landlock_version()
    needed = 1 if tier == "full" else 6
    if version < needed:
        has = f"has version {version}" if version else "has none, or it is switched off"
        return f"needs Landlock version {needed} of the kernel, which {has}"
    try:
        compile_filter(tier)
    except MissingLibrary as error:
        return str(error)
    return try_tier(tier)
