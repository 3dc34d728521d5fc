import pytest

from grader.build.bundle import bundle
from grader.build.self_check_cell import probes_part
from grader.build.slim import slim
from grader.course import lessons


def run(parts) -> dict[str, dict]:
    """Execute parts as the notebook does."""
    modules: dict[str, dict] = {}
    for module, source, imports in parts:
        names = {name: modules[there][origin] for name, (there, origin) in imports.items()}
        modules[module] = {"__name__": "__main__", **names}
        exec(source, modules[module])
    return modules


def test_parts_run_without_the_project_in_their_order() -> None:
    parts = bundle("grader.judge.compare:difference", "grader.explain.fingerprint")
    assert [part.module for part in parts] == ["grader.judge.compare", "grader.explain.fingerprint"]
    assert "grader" not in "".join(part.source for part in parts)
    compare = run(parts)["grader.judge.compare"]
    assert compare["difference"]("x", 2, 3) == "x: 2, expected 3"
    assert "equals_reference" not in compare


def test_a_name_that_is_only_handed_on_comes_from_its_home() -> None:
    imports = {name for part in bundle("grader.build.self_check") for name in part.imports.values()}
    defined = {part.module: part.source for part in bundle("grader.build.self_check")}
    for module, name in imports:
        assert name in defined[module], (module, name)


def test_a_missing_name_is_told() -> None:
    with pytest.raises(ValueError, match="does not define nothing_like_it"):
        bundle("grader.judge.compare:nothing_like_it")


def test_nothing_is_carried_that_a_notebook_lacks() -> None:
    """All that the self-check needs runs with torch and the standard library."""
    for part in bundle("grader.build.self_check"):
        assert "attention" not in {line.split()[1] for line in part.source.splitlines() if line.startswith("from ")}
    assert "check" in run(bundle("grader.build.self_check"))["grader.build.self_check"]


def test_docstrings_comments_and_annotations_are_left_out() -> None:
    function = 'def double(x: int) -> int:\n    """Double it."""\n    return 2 * x  # so\n'
    assert slim(function) == "def double(x):\n    return 2 * x"
    assert slim('class A:\n    """Empty."""\n') == "class A:\n    pass"
    assert slim('class A:\n    """One."""\n    size: int = 3\n') == "class A:\n    size: None = 3"
    longer = "def f(*, ä: str = 'é') -> dict[\n    str, int\n]:  # ü\n    x: int\n    y: int = 1\n    return y\n"
    assert slim(longer) == "def f(*, ä = 'é'):\n    pass\n    y = 1\n    return y"


@pytest.mark.parametrize("lesson", lessons().values(), ids=lambda lesson: lesson.assignment)
def test_probes_are_packed_without_what_nothing_reads(lesson) -> None:
    checks = [check for exercise in lesson.exercises for check in exercise.checks if check.examples]
    packed = probes_part(checks)
    assert packed.source == slim(packed.source)
    scope = dict.fromkeys(packed.imports)
    exec(packed.source, scope)
    assert all(check.probe.__name__ in scope for check in checks)
