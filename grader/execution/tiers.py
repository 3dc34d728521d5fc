"""Which isolation this machine can give.

full     namespaces with a minimal root, Landlock, a system-call filter, limits
partial  no namespaces: Landlock and the filter, which denies sockets; limits
none     limits and time-outs only; never taken unless asked for
"""

from __future__ import annotations

import os
import sys
from functools import cache

from grader.execution.errors import IsolationError
from grader.execution.guest import linux
from grader.execution.process import attempt
from grader.execution.seccomp import MissingLibrary, compile_filter

TIERS = ("full", "partial", "none")


def resolve_tier(requested: str) -> str:
    """The tier that a request comes to on this machine.

    Raises:
        IsolationError: this machine cannot give it, or `none` was not asked for and is all there is.
    """
    if requested not in ("auto", *TIERS):
        raise IsolationError(f"isolation {requested!r} is none of auto, {', '.join(TIERS)}")
    for tier in ("full", "partial") if requested == "auto" else (requested,):
        if not why_not(tier):
            return tier
    reasons = "; ".join(
        f"{tier}: {why_not(tier)}"
        for tier in TIERS
        if requested == tier or (requested == "auto" and tier != "none")
    )
    raise IsolationError(
        f"the sandbox did not start ({reasons}). No grade was written. "
        "See `grader doctor`, or pass --isolation none to run submissions with your own rights."
    )


@cache
def why_not(tier: str) -> str:
    """Why this machine cannot give a tier; empty if it can. The machine is asked, not its version number."""
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
    return attempt(tier)
