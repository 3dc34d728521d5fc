"""Dockerfile, devcontainer and Binder: what they copy, install and call exists here. There is no Docker daemon to run them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import typer
from packaging.requirements import Requirement

from grader.cli import app

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DEVCONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
BINDER = (ROOT / ".binder" / "requirements.txt").read_text("utf-8").splitlines()
CPU_TORCH = re.search(r"^CPU_TORCH \?= (\S+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)[1]
INSTRUCTION = re.compile(r"^([A-Z]+) (.+)$", re.MULTILINE)
STEPS = INSTRUCTION.findall((ROOT / "Dockerfile").read_text("utf-8"))
COPIED = [name for kind, text in STEPS if kind == "COPY" for name in text.split()[:-1]]
INSTALLS = [shlex.split(text) for kind, text in STEPS if kind == "RUN" and "pip install" in text]


def value(command: list[str], option: str) -> str:
    return command[command.index(option) + 1]


def extras_of(target: str) -> set[str]:
    """Return the extras of the project that `.[a,b]` names."""
    return set(filter(None, re.fullmatch(r"\.(?:\[([\w,]+)\])?", target)[1].split(",")))


def test_the_dockerfile_copies_what_exists_and_what_the_wheel_is_made_of() -> None:
    assert [name for name in COPIED if not (ROOT / name).exists()] == []
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {name.partition("/")[0] for name in [*wheel["only-include"], *wheel["hooks"]["custom"]["shipped"]]}
    assert set(COPIED) == needed


def test_docker_sees_what_is_copied_and_nothing_else() -> None:
    lines = (ROOT / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert "*" in lines
    # Binder reads this one, and must see the folder .binder.
    assert not (ROOT / ".dockerignore").exists()
    assert {line[1:] for line in lines if line.startswith("!")} == set(COPIED)


@pytest.mark.slow(held_by="tests/test_wheel.py::test_the_wheel_is_small_and_has_no_file_of_the_machine")
def test_the_package_can_be_built_from_what_is_copied(tmp_path: Path) -> None:
    there = tmp_path / "copied"
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, there / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            there.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, there / name)
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "-w", str(tmp_path), str(there)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {
        "grader/cli.py",
        "attention/masks.py",
        "grader/shipped/solutions/1-attention.py",
        "grader/shipped/notebooks/1-attention/1-attention.ipynb",
    } <= names


def test_the_dockerfile_installs_pinned_and_for_the_cpu_first() -> None:
    first, second = INSTALLS
    assert all(value(command, "-c") == "constraints.txt" for command in INSTALLS)
    assert (value(first, "--index-url"), first[-1]) == (CPU_TORCH, "torch")
    assert extras_of(second[-1]) <= PROJECT["project"]["optional-dependencies"].keys()


def test_the_dockerfile_ends_as_an_ordinary_user_who_reads_the_tier() -> None:
    kinds = [kind for kind, _ in STEPS]
    user = kinds.index("USER")
    made = [text for kind, text in STEPS[:user] if kind == "RUN" and text.startswith("useradd ")]
    assert STEPS[user][1] == made[0].split()[-1] != "root"
    assert ("RUN", "grader doctor") in STEPS[user:]
    assert not any(kind == "USER" for kind, _ in STEPS[user + 1 :])
    commands = typer.main.get_command(app).commands
    assert json.loads(dict(STEPS)["ENTRYPOINT"]) == ["grader"]
    assert json.loads(dict(STEPS)["CMD"])[0] in commands
    for script in re.findall(r"\bsh (\S+)", " ".join(text for _, text in STEPS)):
        assert (ROOT / script).is_file()


def test_all_have_a_python_on_which_the_project_is_tested() -> None:
    image = re.fullmatch(r"python:([\d.]+)-slim-\w+", dict(STEPS)["FROM"])[1]
    devcontainer = DEVCONTAINER["image"].rpartition(":")[2]
    binder = (ROOT / ".binder" / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
    assert {image, devcontainer, binder} == {"3.11"}
    assert f"Programming Language :: Python :: {image}" in PROJECT["project"]["classifiers"]


def test_the_devcontainer_sets_up_with_what_is_here() -> None:
    command = DEVCONTAINER["postCreateCommand"]
    script, target = re.fullmatch(r"sudo sh (\S+) && make (\w+)", command).groups()
    assert (ROOT / script).is_file()
    subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, check=True)


@pytest.mark.parametrize("option", ["seccomp=unconfined", "systempaths=unconfined"])
def test_the_options_for_the_full_tier_are_those_of_the_docs(option: str) -> None:
    page = (ROOT / "docs" / "operators.md").read_text("utf-8")
    assert option in DEVCONTAINER["runArgs"]
    for line in re.findall(r"docker run .*", page):
        assert f"--security-opt {option}" in line


def test_binder_has_what_students_install_from_the_same_places() -> None:
    names = [Requirement(line).name for line in BINDER if line and line[0] not in "#-"]
    assert names == PROJECT["tool"]["course"]["students"]
    (constraints,) = (line.split()[1] for line in BINDER if line.startswith("-c "))
    assert (ROOT / ".binder" / constraints).resolve() == ROOT / "constraints.txt"
    assert f"--extra-index-url {CPU_TORCH}" in BINDER
    # pip can read the file, and finds the constraints from where it lies.
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "-q"]
    ran = subprocess.run(
        [*command, "-r", ".binder/requirements.txt"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
