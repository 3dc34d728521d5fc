"""An exercise as it is declared: its checks, its recognised mistakes, and everything else that is not prose.

A check consists of a *probe* and the *trials* that the probe is run on. A probe is a plain function that calls the
student's definition. A trial is one set of inputs. The same probe runs with three kinds of definitions: in the sandbox
with the student's, and in the trusted process with the reference and with each recognised mistake.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import getsource, isclass, signature
from typing import Any

from grader.declare.builtin_names import BUILTINS, BuiltIn
from grader.declare.errors import DeclarationError
from grader.declare.trial import Trial
from grader.records import Inputs, Judge, Value

METHODS = ("__init__", "forward")  # those of a class that the course calls


@dataclass(frozen=True, kw_only=True)
class Check:
    """One requirement of an exercise: a probe, its trials, and its share of the points.

    The probe is a function at module level that returns a dict of tensors and JSON values.
    Each of its parameters is an input of the trial or a name that the notebook defines. If
    this name differs from the parameter's, `names` maps the parameter to it. The grader sends
    the source text of the probe to the sandbox, together with the module-level functions of
    the declaration that the probe calls. In the sandbox `torch`, `nn` and `F` are defined.
    """

    name: str  # "values"; unique within the exercise
    title: str  # the requirement as the student reads it: "the weights of each query sum to 1"
    points: float
    probe: Callable[..., Mapping[str, Value]]
    trials: tuple[Trial, ...]  # hidden: drawn anew for each submission
    examples: tuple[Trial, ...] = ()  # public: the self-check in the notebook and the heatmaps in the report use them
    names: Mapping[str, str] = field(default_factory=dict)  # parameter of the probe → name in the notebook
    needs: tuple[str, ...] = ()  # checks of the same exercise that must pass before this one earns its points
    judge: Judge | None = None  # None: every value must equal the reference's
    # Computes, from the inputs, what the judge compares with; None: what the probe returns with the reference.
    expects: Callable[[Inputs], Mapping[str, Value]] | None = None
    rtol: float = 1.0  # factor on the tolerance, above 1 where a computation adds up rounding errors
    map: str | None = None  # the returned value that is an attention map, shown as a heatmap
    at: str | None = None  # id of the given cell after which the probe runs; None: after the exercise's own cell
    seconds: float = 10.0  # time limit of one trial; most take milliseconds, those on a trained model longer


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong answer, as code, with a hint for students whose answers give the same results."""

    name: str  # "queries_in_columns"
    replaces: Mapping[str, Any]  # name in the notebook → the wrong definition
    hint: str
    slip: bool = False  # whether a check that fails for it alone keeps half of its points (judge/verdicts.py)
    codes: tuple[str, str] = ("", "")  # of the right answer and of this one, where it is an edit of the text alone


def reference_problems(reference: Any) -> Iterable[str]:
    """Yield a message for each reason why a value cannot be the `reference` of an exercise."""
    if not isinstance(reference, tuple) or not reference:
        yield "reference: name the right definition in a tuple, as in reference=(attention,)"
    for definition in reference:
        if not callable(definition) or not hasattr(definition, "__name__"):
            yield f"reference: {definition!r} is no function or class with a name"


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise, graded or for practice.

    Raises:
        DeclarationError: its fields contradict each other.
    """

    id: str  # "1.4"
    title: str  # "Attention"
    # The right definitions, functions or classes, under the names that a student must define.
    reference: tuple[Any, ...] = ()
    points: float  # 0 for practice
    difficulty: int  # 1 to 3
    minutes: int
    checks: tuple[Check, ...]
    mistakes: tuple[Mistake, ...] = ()
    builds_on: tuple[str, ...] = ()  # ids of earlier exercises whose names a solution may call
    # Built-ins that a solution must not call: keys of BUILTINS, or records of one's own.
    bans: frozenset[str | BuiltIn] = frozenset()
    # Modules in the notebook that a solution may call although they call a banned built-in: "attention.builtin".
    may_call: tuple[str, ...] = ()
    # A definition under the name that the student must define. It replaces a failed answer while later exercises are
    # judged, and the student's `carry_on` runs it. It should not be the reference: PyTorch's own function will do.
    stand_in: Callable | None = None
    review: str = ""  # what to read again: a heading of the lesson

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise DeclarationError(f"exercise {self.id}, {problem}")

    def _problems(self) -> Iterable[str]:
        """Yield a message for each contradiction between the fields. The message begins with the field's name."""
        yield from reference_problems(self.reference)
        if type(self.difficulty) is not int or not 1 <= self.difficulty <= 3:
            yield f"difficulty: it is {self.difficulty!r}. Write 1, 2 or 3: the notebook shows it as one to three dots"
        if isinstance(self.builds_on, str) or not all(isinstance(id, str) for id in self.builds_on):
            yield 'builds_on: write the ids of earlier exercises in a tuple, as in builds_on=("1.1",)'
        names = [check.name for check in self.checks]
        total = sum(check.points for check in self.checks)
        if abs(total - self.points) > 1e-9:
            yield f"points: its checks add up to {total:g} points, declared are {self.points:g}"
        if len(set(names)) != len(names):
            yield f"checks: two have one name: {', '.join(names)}"
        for check in self.checks:
            if not check.trials:
                yield f"checks: {check.name!r} has no hidden trial, so it would always pass"
            if unknown := sorted(set(check.needs) - set(names)):
                yield f"checks: {check.name!r} needs {', '.join(unknown)}; there are {', '.join(names)}"
        if self.stand_in is not None and (self.stand_in.__name__,) != self.defines:
            yield f"stand_in: it defines {self.stand_in.__name__}; the exercise defines {self.name}"
        for recognised in self.mistakes:
            if undefined := sorted(recognised.replaces.keys() - set(self.defines)):
                names_text = ", ".join(undefined)
                yield f"mistakes: {recognised.name} replaces {names_text}; the exercise defines {self.name}"
        if unknown := sorted(ban for ban in self.bans if isinstance(ban, str) and ban not in BUILTINS):
            yield f"bans: {', '.join(unknown)} is not known; there are {', '.join(BUILTINS)}"

    @property
    def defines(self) -> tuple[str, ...]:
        """The names that the student's cell must define."""
        return tuple(definition.__name__ for definition in self.reference)

    @property
    def defaults(self) -> dict[str, dict[str, Any]]:
        """The default values of parameters that are plain constants.

        The first key is "function" or "Class.method", and the second is the parameter.
        """
        methods = [(one, name) for one in self.reference if isclass(one) for name in METHODS if name in vars(one)]
        functions = {f"{owner.__name__}.{name}": getattr(owner, name) for owner, name in methods}
        functions |= {one.__name__: one for one in self.reference if not isclass(one)}
        return {name: found for name, function in functions.items() if (found := _defaults_of(function))}

    @property
    def stand_in_source(self) -> str:
        """The stand-in's source; "" if the exercise has no stand-in."""
        return getsource(self.stand_in) if self.stand_in else ""

    @property
    def name(self) -> str:
        """The exercise's name in reports and JSON: "causal_mask, padding_mask"."""
        return ", ".join(self.defines)


def _defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the default values of a function's parameters, by name, if they are numbers, strings, bools or None."""
    defaults = {name: one.default for name, one in signature(function).parameters.items()}
    return {name: value for name, value in defaults.items() if value is None or type(value) in (bool, int, float, str)}
