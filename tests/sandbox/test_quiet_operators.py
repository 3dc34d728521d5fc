"""Quiet operators: in none of them can a student's code run, whatever the student did before."""

import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from guest import quiet_operators  # its name in the sandbox; see conftest.py
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.paths import course_root

DENSE = torch.arange(4.0).reshape(2, 2)


@pytest.mark.parametrize("operator", quiet_operators.OPERATORS, ids=str)
def test_it_changes_nothing_in_place(operator) -> None:
    schema = operator._schema
    assert not any(argument.alias_info is not None and argument.alias_info.is_write for argument in schema.arguments)


@pytest.mark.parametrize(
    "kind", [torch.float32, torch.float64, torch.bfloat16, torch.complex64, torch.uint8, torch.bool], ids=str
)
def test_it_warns_of_nothing(kind: torch.dtype) -> None:
    one = torch.ones(2, 2).to(kind)
    rest = {
        "Scalar": 2,
        "Number": 2,
        "int": 1,
        "bool": False,
        "float": 1e-5,
        "List[int]": [1],
        "Optional[List[int]]": [1],
    }
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            ran = 0
            for operator in quiet_operators.OPERATORS:
                takes = [argument for argument in operator._schema.arguments if not argument.kwarg_only]
                values = [one if str(each.type) == "Tensor" else rest.get(str(each.type)) for each in takes]
                for given in (values, [[4] if value == [1] else value for value in values]):
                    try:
                        operator._op(*given)
                        ran += 1
                    except (RuntimeError, NotImplementedError, IndexError):  # not for these numbers
                        pass
    finally:
        torch.set_warn_always(False)
    assert ran > 20
    assert not seen, [str(each.message) for each in seen]


def test_what_is_watched_is_not_quiet() -> None:
    everything = quiet_operators.quiet(())
    assert len(everything) == len(quiet_operators.OPERATORS)
    assert len(quiet_operators.quiet({"aten::bmm", "aten::add"})) == len(everything) - 3


class Sub(torch.Tensor):
    pass


STRANGE = {
    "a subclass": DENSE.as_subclass(Sub),
    "sparse": DENSE.to_sparse(),
    "meta": DENSE.to("meta"),
    "conjugated": torch.ones(2, dtype=torch.complex64).conj(),
    "a list of tensors": [DENSE],
    "a text": "floor",
    "a truth value of one's own": type("Own", (int,), {})(1),
}


@pytest.mark.parametrize("name", STRANGE)
def test_other_arguments_are_not_plain(name: str) -> None:
    assert quiet_operators.are_plain((DENSE, 2, [0, -1], True, None, torch.nn.Parameter(DENSE)))
    assert not quiet_operators.are_plain((DENSE, STRANGE[name]))


def test_a_tensor_of_vmap_is_not_plain() -> None:
    seen = []
    torch.vmap(lambda row: seen.append(quiet_operators.are_plain((row,))) or row)(DENSE)
    assert seen == [False]


def test_nothing_is_plain_below_a_mode_of_ones_own() -> None:
    class Functions(TorchFunctionMode):
        pass

    class Operators(TorchDispatchMode):
        pass

    for mode in (Functions(), Operators()):
        with mode:
            assert not quiet_operators.are_plain((1,))


REGISTERING = """
import torch
from guest import quiet_operators, tripwire
tripwire.install()
library = torch.library.Library("aten", "IMPL")
print(quiet_operators.are_plain((torch.ones(2),)))
library.impl("mul.Tensor", lambda x, y: x, "CPU")
print(quiet_operators.are_plain((torch.ones(2),)))
"""


def test_a_kernel_of_ones_own_ends_it() -> None:
    """In a process of its own: nothing takes a kernel back."""
    guest = Path(course_root(), "grader", "sandbox")
    ran = subprocess.run([sys.executable, "-c", REGISTERING], cwd=guest, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "False"]
