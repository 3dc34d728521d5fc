"""What a course is about, for the sentences and the slips that explain wrong answers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Changed = Mapping[str, Any]  # inputs of a probe, by name


class Instead(NamedTuple):
    """A slip that calls a right function in another way, or does something first."""

    needs: tuple[str, ...]  # parameters that the function must have
    body: str  # statements in its place, where the right function goes by the name `inner`; or those that are put first
    says: str
    cost: int = 2
    first: bool = False  # whether the body is put first
    returns: str = ""  # the annotation of what the function must return; "" for any


@dataclass(frozen=True, eq=False)
class Subject:
    """The words and the slips of a subject, such as attention; without one, those of PyTorch and of Python alone.

    A slip that is a row of a table stands in `slips`; grader/explain/patterns.py says how it is written.
    """

    nouns: Mapping[str, str] = field(default_factory=dict)  # local variables of right answers, as students know them
    alike: Mapping[str, str] = field(default_factory=dict)  # functions of the course that count as one of PyTorch's
    layers: frozenset[str] = frozenset()  # classes of layers that are taken for one another
    seldom: frozenset[str] = frozenset()  # layers that are hardly taken for another
    roles: tuple[Sequence[str], ...] = ()  # variables or attributes that are taken for one another
    typed_in: Mapping[str, Sequence[int]] = field(default_factory=dict)  # numbers for names that end so
    slips: str = ""
    formulas: str = ""  # in the same form: other formulas in the place of one
    instead: tuple[Instead, ...] = ()
    # What a probe gets if something of the subject is done otherwise, each with a sentence. It is called with all inputs of the
    # probe, the arguments among them, and whether the reference takes a root; it yields what changes of the arguments, or
    # {"weights": …}.
    otherwise: Callable[[Changed, Changed, bool], Iterable[tuple[str, Changed]]] = lambda *_: ()


ANY_SUBJECT = Subject()
