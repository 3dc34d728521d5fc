"""How much of what all share each person may have at a time: places for uploads, forms and streams, and requests in a minute.

A person who is signed in has shares that nobody else can use up. Whoever is not signed in has smaller ones.
"""

import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.exceptions import HTTPException

MINUTE = 60.0
UPLOADS_AT_ONCE = 32  # of all people; an upload takes a place until its last byte has arrived
UPLOADS_EACH = 2  # of a person; only one while half of all places are taken
UPLOADS_A_MINUTE = 12  # of a person, including refused ones: to read 20 MiB takes 0.2 s
SLOW_FORMS_EACH = 3  # small forms of a person that take longer than a moment
SLOW_FORMS_OF_AN_ADDRESS = 20  # the same, of all people at an address who are not signed in
SLOW_FORMS_OF_STRANGERS = 200  # the same, of all people who are not signed in

_uploads, _slow = Counter[str](), Counter[str]()


class RateLimit:
    """Counts what each client does within a minute."""

    def __init__(self, most: int) -> None:
        self._most, self._began, self._counts = most, -math.inf, Counter[str]()

    def allows(self, client: str) -> bool:
        """Count one request; tell whether it is within the limit."""
        if time.monotonic() - self._began >= MINUTE:  # all begin anew, so that what is kept does not grow
            self._began, self._counts = time.monotonic(), Counter()
        self._counts[client] += 1
        return self._counts[client] <= self._most


@contextmanager
def at_once(counts: Counter[str], key: str, most: int, message: str) -> Iterator[None]:
    """Count one more of what goes on under a key, until the context ends. Call it where no other thread does.

    Raise HTTPException, which says `message`, if `most` go on already.
    """
    if counts[key] >= most:
        raise HTTPException(429, message)
    counts[key] += 1
    try:
        yield
    finally:
        counts[key] -= 1
        counts += Counter()  # leaves out what is 0


@contextmanager
def upload_place(person: str) -> Iterator[None]:
    """Take a place for a person's upload until the context ends.

    Two places of a person are not worth a place of somebody who has none: while half of all places are taken, each
    person has one. So as many people as half of the places must join to keep others out.

    Raises:
        HTTPException: the person, or everybody, has as many uploads on their way as are allowed.
    """
    taken = _uploads.total()
    each = UPLOADS_EACH if 2 * taken < UPLOADS_AT_ONCE else 1
    if taken >= UPLOADS_AT_ONCE:
        raise HTTPException(429, "Many are submitting at this moment. Try again in a few seconds.")
    with at_once(_uploads, person, each, "Another file of yours is on its way. Wait until it has arrived."):
        yield


@contextmanager
def slow_form(person: str, address: str) -> Iterator[None]:
    """Take a place for a small form that does not arrive at once, until the context ends.

    Args:
        person: who is signed in; "" for a stranger.
        address: where the form comes from.

    Raises:
        HTTPException: too many forms of this person, or of strangers, take their time.
    """
    message = "Your browser sends too slowly, and others do too. Try again in a few seconds."
    if person:
        with at_once(_slow, f"person {person}", SLOW_FORMS_EACH, message):
            yield
        return
    with (
        at_once(_slow, f"address {address}", SLOW_FORMS_OF_AN_ADDRESS, message),
        at_once(_slow, "strangers", SLOW_FORMS_OF_STRANGERS, message),
    ):
        yield
