"""Choose the tier of isolation that this machine can provide.

full     namespaces with a minimal root, Landlock, a system-call filter, limits
partial  no namespaces: Landlock and the filter, which denies sockets; limits
none     limits and time-outs only; never used unless requested
"""

import os
import sys
from collections.abc import Sequence
from functools import cache

from grader.sandbox.errors import IsolationError
from grader.sandbox.guest import linux
from grader.sandbox.process import try_tier
from grader.sandbox.seccomp import MissingLibrary, compile_filter

TIERS = ("full", "partial", "none")
# Tier → the oldest kernel that can provide it, and the version of Landlock that came with that kernel.
LINUX = {"full": "5.13", "partial": "6.12", "none": "5.3"}
LANDLOCK = {"full": 1, "partial": 6}
OTHER_SYSTEM = "grading needs Linux. On macOS and Windows use a virtual machine with Linux; WSL is one"


def resolve_tier(requested: str) -> str:
    """Return the requested tier, if this machine can provide it. For "auto", return the better of full and partial.

    Raises:
        IsolationError: this machine cannot provide the tier, or for "auto" neither; or there is no such tier.
    """
    candidates = _candidates(requested)
    for tier in candidates:
        if not tier_problem(tier):
            return tier
    raise IsolationError(
        f"the sandbox did not start ({_reasons(candidates)}). No grade was written. {_advice(requested)}"
    )


def likely_tier(requested: str) -> str:
    """Return the tier that `resolve_tier` will probably return, without trying the tier.

    Trying a tier takes a while, and may show that something forbids it.

    Raises:
        IsolationError: this machine cannot provide the tier, or there is no such tier.
    """
    for tier in _candidates(requested):
        if not _lacks(tier):
            return tier
    raise IsolationError(f"isolation {requested!r} cannot be had here")


def _candidates(requested: str) -> tuple[str, ...]:
    """Return the tiers that a request allows, the best first.

    Raises:
        IsolationError: there is no such tier.
    """
    if requested not in ("auto", *TIERS):
        raise IsolationError(f"isolation {requested!r} is none of auto, {', '.join(TIERS)}")
    return ("full", "partial") if requested == "auto" else (requested,)


def _reasons(tiers: Sequence[str]) -> str:
    """Return the reasons why this machine cannot provide these tiers. A reason that all share appears once."""
    problems = {tier: tier_problem(tier) for tier in tiers}
    if len(set(problems.values())) == 1:
        return problems[tiers[0]]
    return "; ".join(f"{tier}: {problem}" for tier, problem in problems.items())


def _advice(requested: str) -> str:
    """Return a sentence that refers to `grader doctor`, and to the tier "none" if it works and was not requested."""
    if requested == "none" or tier_problem("none"):
        return "See `grader doctor`."
    return "See `grader doctor`, or pass --isolation none to run submissions with your own rights."


@cache
def tier_problem(tier: str) -> str:
    """Return the reason why this machine cannot provide a tier, or "" if it can.

    If kernel and library are new enough, the tier is also tried, because versions do not show what a container forbids.
    """
    return _lacks(tier) or ("" if tier == "none" else try_tier(tier))


def _lacks(tier: str) -> str:
    """Return the requirement of a tier that this machine does not meet, as far as versions show it, or ""."""
    if sys.platform != "linux":
        return OTHER_SYSTEM
    if tier == "none":
        return "" if hasattr(os, "pidfd_open") else f"needs Linux ≥ {LINUX[tier]}"
    if linux.MACHINE not in linux.SYS_PIVOT_ROOT:
        return f"not known to work on {linux.MACHINE} processors"
    version = linux.landlock_version()
    if version < LANDLOCK[tier]:
        has = f"has version {version}" if version else "has none, or it is switched off"
        return f"needs Landlock version {LANDLOCK[tier]}, as in Linux ≥ {LINUX[tier]}; this kernel {has}"
    try:
        compile_filter(tier)
    except MissingLibrary as error:
        return str(error)
    return ""
