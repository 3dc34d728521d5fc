"""One list of dependencies: pyproject.toml's, pinned by constraints.txt, taken by environment.yml."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions, requires
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PINNED = {
    canonicalize_name(name): version
    for name, version in re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
}


def test_every_direct_dependency_is_pinned_within_its_range() -> None:
    extras = [extra for group in PROJECT["optional-dependencies"].values() for extra in group]
    for requirement in map(Requirement, [*PROJECT["dependencies"], *extras]):
        pinned = PINNED.get(canonicalize_name(requirement.name))
        assert pinned, f"constraints.txt does not pin {requirement.name}"
        assert requirement.specifier.contains(pinned), f"{requirement} excludes the pinned {pinned}"


def test_each_pinned_version_installs_on_the_oldest_python() -> None:
    """Also on its first release: Debian 12 has 3.11.2, and a package that asked for 3.11.5 once broke the installation there."""
    oldest = f"{PROJECT['requires-python'].removeprefix('>=')}.0"
    for package in distributions():
        name, range_ = canonicalize_name(package.metadata["Name"]), package.metadata.get("Requires-Python", "")
        if PINNED.get(name) == package.version:
            assert SpecifierSet(range_).contains(oldest), f"{name}=={package.version} needs Python {range_}"


def test_conda_users_get_the_projects_own_list() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    by_pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    named = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    assert by_pip == ["-c constraints.txt", "-e .[widgets]"]
    assert {re.split(r"[<>=]", requirement)[0] for requirement in named} == {"python", "make", "pip"}
    assert f"python{PROJECT['requires-python']}" in named


@pytest.mark.slow(held_by="tests/test_environment.py::test_conda_users_get_the_projects_own_list")
def test_pip_reads_what_conda_hands_to_it() -> None:
    """As a requirements file, in this folder."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    by_pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    lines = ROOT / ".conda-check.tmp"
    lines.write_text("\n".join(by_pip), "utf-8")
    try:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "-q"]
        ran = subprocess.run([*command, "-r", lines.name], cwd=ROOT, capture_output=True, text=True, check=False)
    finally:
        lines.unlink()
    assert ran.returncode == 0, ran.stderr


def test_nbgrader_brings_jupyterlab_so_that_an_extra_would_save_nothing() -> None:
    """docs/operators.md says so. The day this fails, make JupyterLab an extra."""
    needed = {Requirement(line).name for line in requires("nbgrader") or []}
    assert {"jupyterlab", "notebook"} <= needed


def imported(source: str) -> set[str]:
    """Top-level names of the modules that a cell imports."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
    return {module.partition(".")[0] for module in modules}


def test_what_students_need_stays_small() -> None:
    allowed = {"torch", "numpy", "matplotlib", "sklearn", "ipywidgets", "IPython"} | sys.stdlib_module_names
    # By cell; where these are missing, the lesson goes on without.
    optional = {"provided-real-eyes": {"onnx"}, "provided-real-tokens": {"onnx", "onnxruntime"}}
    notebooks = list((ROOT / "notebooks").glob("*/*.ipynb"))
    assert notebooks
    for path in notebooks:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                assert imported(cell.source) <= allowed | optional.get(cell.id, set()), f"{path}: {cell.id}"
