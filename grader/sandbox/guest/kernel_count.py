"""A count of this process that the kernel keeps: it goes down, and no code that lacks privileges can raise it.

It is a limit of the process that has no other use here, that on real-time scheduling.
"""

try:
    import resource
except ImportError:  # Windows has none
    COUNTS = False
else:
    COUNTS = hasattr(resource, "RLIMIT_RTTIME")

FIRST = 1 << 40  # what the count begins with


def count() -> int:
    """Return the count: FIRST before the first `count_down`; 0 where the system has no such limit."""
    limit = resource.getrlimit(resource.RLIMIT_RTTIME)[1] if COUNTS else 0
    return FIRST if limit == resource.RLIM_INFINITY else limit


def count_down() -> None:
    """Lower the count by one."""
    if COUNTS and (left := count()) > 0:
        resource.setrlimit(resource.RLIMIT_RTTIME, (left - 1, left - 1))
