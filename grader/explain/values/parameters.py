"""Say how the parameters of a layer differ from those that the task asks for."""

import re
from collections.abc import Mapping
from typing import Any

Shapes = Mapping[str, tuple[int, ...]]

NAME_AND_SHAPE = re.compile(r"^([\w.]+)(?: \(([\d, ]*)\))?$")


def of_parameters(got: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """Compare the lists of parameters among the returned values; "" if there are none, or if they are the same.

    A probe returns them as ["linear.weight (3, 7)", …], as ["linear.weight", …], or as {"linear.weight": [3, 7], …}.
    """
    has, wants = _parameters(got), _parameters(expected)
    if not wants or not has or has == wants:
        return ""
    extra, missing = sorted(has.keys() - wants.keys()), sorted(wants.keys() - has.keys())
    if len(extra) == len(missing) and extra and sorted(has[n] for n in extra) == sorted(wants[n] for n in missing):
        return f"Your layer has {_listed(extra)}; the task asks for {_listed(missing)}."
    kinds = {(name.rpartition(".")[2], has[name]) for name in extra}
    if missing and all((name.rpartition(".")[2], wants[name]) in kinds for name in missing):
        return f"Your layer has {_listed(extra)}; the task asks for {_listed(missing)} and no more."
    if missing:
        why = " Is it made in __init__, as an nn.Module or nn.Parameter, and kept as self.…?"
        return f"The layer lacks the parameter{'s' * (len(missing) > 1)} {_listed(missing)}.{why}"
    if extra:
        if all(name.endswith("bias") for name in extra):
            return f"The layer has {_listed(extra)}, which the task does not ask for: bias=False."
        return f"The layer has {_listed(extra)}, which the task does not ask for."
    if says := _of_roles(has, wants):
        return says
    wrong = next(name for name in sorted(wants) if has[name] != wants[name])
    if has[wrong] == tuple(reversed(wants[wrong])):
        turned = " nn.Linear takes the width that comes in first, then the one that goes out."
        return f"`{wrong}` has the shape {has[wrong]}, expected {wants[wrong]}: its two widths have changed places.{turned}"
    return f"`{wrong}` has the shape {has[wrong]}, expected {wants[wrong]}."


def _of_roles(has: Shapes, wants: Shapes) -> str:
    """Find layers that are made for the input of another one; "" if the shapes that are wrong are no others' shapes."""
    wrong = [name for name in sorted(wants) if has[name] != wants[name]]
    owners = {name: [other for other in sorted(wants) if wants[other] == has[name] != wants[name]] for name in wrong}
    layers = _listed([name.rpartition(".")[0] for name in wrong])
    if not all(name.endswith(".weight") and len(wants[name]) == 2 for name in wrong) or not all(owners.values()):
        return ""
    if all(wants[name][0] == has[name][0] for name in wrong):
        others = sorted({owner.rpartition(".")[0] for found in owners.values() for owner in found})
        if all(other in wrong for found in owners.values() for other in found):
            return f"{layers} are made for each other's inputs. Which of them read the one, and which the other?"
        is_made = "is" if len(wrong) == 1 else "are"
        return f"{layers} {is_made} made for the input of {_listed(others)}. What does each of them read?"
    return ""


def _parameters(values: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters by name; () where no shape is known."""
    found: dict[str, tuple[int, ...]] = {}
    for name, value in values.items():
        if name == "parameters" and isinstance(value, list):
            for text in value:
                if match := NAME_AND_SHAPE.match(text) if isinstance(text, str) else None:
                    found[match[1]] = tuple(int(size) for size in (match[2] or "").split(",") if size.strip())
        elif name.startswith("parameters.") and isinstance(value, list):
            found[name.removeprefix("parameters.")] = tuple(value)
    return found


def _listed(names: list[str]) -> str:
    shown = [f"`{name}`" for name in names[:6]] + ["…"] * (len(names) > 6)
    return ", ".join(shown)
