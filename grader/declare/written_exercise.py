"""An exercise whose checks are written as students read them: what is asked for, its points, and the sizes that it is tried on.

    SCORES = written_exercise("1.1 Scores", attention_scores, '''
        values 4: every query is compared with every key
            e.g. 2 queries, 3 keys, d_k = 4
            5 queries, 7 keys, d_k = 3; 7 queries, 2 keys, d_k = 5
        batch 2
            batch 2 × 3, 5 queries, 7 keys, d_k = 3
        conduct 1 after values, batch
            5 queries, 7 keys, d_k = 3, float64
    ''', draw=drawn(query="* queries d_k", key="* keys d_k"), difficulty=1, minutes=5)

- A check is its name and its points; the title of "batch" and "conduct" may be left out.
- `after` names the checks that must pass before this one earns its points: "values", unless it says something else, if there is such a
  check above. `after nothing` is none.
- A line below is a trial, or several with `;` between them, in the words that students read. `e.g.` stands before the public ones.
- What follows two blanks and a # is for who reads the declaration.
"""

import ast
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import torch

from grader.declare.builtin_names import BuiltIn
from grader.declare.edits import edits, headed
from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check, Exercise, Mistake, reference_problems
from grader.declare.standard_checks import DrawInputs, StandardChecks
from grader.declare.trial import describe

HEAD = re.compile(r"(?P<name>[a-z][a-z ]*?) (?P<points>\d+(\.\d+)?)( after (?P<needs>[a-z, ]+))?(: (?P<title>.+))?")
PUBLIC = "e.g. "
NOT_IN_BRACKETS = r"(?![^(\[]*[)\]])"


def written_exercise(
    heading: str,
    reference: Any,
    checks: str,
    *,
    draw: DrawInputs | None = None,
    returns: tuple[str | None, ...] = ("result",),
    zero_others: bool = False,
    probe: Callable[..., Any] | None = None,
    details: Mapping[str, Mapping[str, Any]] | None = None,
    also: tuple[Check, ...] = (),
    mistakes: str | tuple[Mistake, ...] = (),
    bans: Collection[str | BuiltIn] = (),
    **fields: Any,
) -> Exercise:
    """Declare an exercise; its points are those of its checks together. A line that cannot be read is a DeclarationError.

    Args:
        heading: id and title, as in "1.1 Means of rows".
        reference: the right function or class, or several in a tuple, of which the first is checked where nothing else is said.
        checks: as the text above.
        draw, returns, zero_others: of the `StandardChecks` that make the checks.
        probe: of all checks but "conduct" that have none of their own; None: the standard one.
        details: what a check's text does not say: arguments of `StandardChecks.check`, and another `reference` or `returns`.
        also: checks that are made elsewhere, behind those of the text.
        mistakes: as `edits` makes them, or the text of which it makes them.
        fields: of Exercise.
    """
    id, title = id_and_title(heading)
    references = reference if isinstance(reference, tuple) else (reference,)
    for problem in reference_problems(references):
        raise DeclarationError(f"exercise {id}, {problem}")
    standard = StandardChecks(reference=references[0], returns=returns, draw=draw, zero_others=zero_others)
    try:
        made = (*_checks(standard, checks, probe, details or {}), *also)
    except DeclarationError as error:
        raise DeclarationError(f"exercise {id}: {error}") from error
    points = sum(check.points for check in made)
    return Exercise(
        id=id,
        title=title,
        reference=references,
        points=int(points) if points == int(points) else points,
        checks=made,
        mistakes=edits(references[0], mistakes) if isinstance(mistakes, str) else mistakes,
        bans=frozenset(bans),
        **fields,
    )


def id_and_title(heading: str) -> tuple[str, str]:
    """Split a heading into the id, with which it must begin, and the title."""
    id, _, title = heading.partition(" ")
    if not title or not id[:1].isdigit():
        raise DeclarationError(f"exercise {heading!r}: begin the heading with the id, as in '1.1 Means of rows'")
    return id, title


def _checks(
    standard: StandardChecks, text: str, probe: Callable[..., Any] | None, details: Mapping[str, Mapping[str, Any]]
) -> tuple[Check, ...]:
    """Make the checks that a text describes, in its order."""
    checks: list[Check] = []
    text = re.sub(r"  +#.*", "", text)
    for head, lines in headed(text, HEAD, "", "`name points: title`, and no trial of a check"):
        name = head["name"]
        given: dict[str, Any] = {"probe": probe} if probe and name != "conduct" else {}
        given |= details.get(name, {})
        maker = replace(standard, **{field: given.pop(field) for field in ("reference", "returns") if field in given})
        sizes: dict[str, Any] = {"trials": [], "examples": []}
        for line in lines:
            kind = "examples" if line.startswith(PUBLIC) else "trials"
            sizes[kind] += map(read_sizes, line.removeprefix(PUBLIC).split("; "))
        usual = [check.name for check in checks if check.name == "values"]
        written = head["needs"].split(", ") if head["needs"] else usual
        needs = () if written == ["nothing"] else tuple(written)
        points = float(head["points"]) if "." in head["points"] else int(head["points"])
        checks.append(maker.check(name, points, head["title"] or "", needs=needs, **sizes, **given))
    if strange := sorted(details.keys() - {check.name for check in checks}):
        raise DeclarationError(f"details of {', '.join(strange)}: there is no such check")
    return tuple(checks)


# ---------------------------------------------------------------- the sizes of a trial, from the words in which students read them


def read_sizes(text: str) -> dict[str, Any]:
    """Return the sizes of a trial from its words; DeclarationError unless `describe` gives exactly these words for them."""
    sizes = dict(_read_size(part) for part in re.split(f", {NOT_IN_BRACKETS}", text))
    if describe(sizes) != text:
        raise DeclarationError(f"the trial {text!r} would read {describe(sizes)!r}: write it so, or mend the sizes")
    return sizes


def _read_size(text: str) -> tuple[str, Any]:
    """Return name and value of one size, as in "5 queries", "d_k = 3", "batch 2 × 3", "float64"; or DeclarationError."""
    if text == "no batch" or text.startswith("batch "):
        return "batch_shape", tuple(int(size) for size in re.findall(r"\d+", text))
    if found := re.fullmatch(r"(\d+) (\w+)", text):
        return _plural(found[2]) if found[1] == "1" else found[2], int(found[1])
    if found := re.fullmatch(r"(\w+) = (.+)", text):
        return found[1], _value(found[2])
    if isinstance(dtype := getattr(torch, text, None), torch.dtype):
        return "dtype", dtype
    raise DeclarationError(f"{text!r} is no size of a trial: write `5 queries`, `d_k = 3`, `batch 2 × 3` or `float64`")


def _value(text: str) -> Any:
    """Read a value that is written as in Python; anything else is returned as the text."""
    if re.fullmatch(r"\d+(\.\d+)?", text):  # nearly always
        return float(text) if "." in text else int(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _plural(singular: str) -> str:
    """Return the plural of a size's name: "queries" of "query"; a name in s stays as it is."""
    if singular.endswith("s"):
        return singular
    if re.search("[^aeiou]y$", singular):
        return singular[:-1] + "ies"
    return f"{singular}es" if singular.endswith("ch") else f"{singular}s"
