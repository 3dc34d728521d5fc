"""The walls of grader/: which folder may import which, no cycle, few layers, short modules and functions."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.import_graph import GUEST, ROOT, cycles, imported_names, layers, module_name, read_graph

GRADER = ROOT / "grader"
FOLDERS = sorted(file.parent for file in GRADER.glob("*/__init__.py") if file.parent.name != "classes")
INNER = sorted(file.parent for name in ("classes", "explain") for file in (GRADER / name).glob("*/__init__.py"))
DECLARED = [  # each says what it may import
    *FOLDERS,
    *INNER,
    GRADER / "report" / "similarity",
    GRADER / "submission" / "code",
    GRADER / "sandbox" / "guest",
]
MOST_FOLDERS = 12  # the optional `serve` among them
modules = cache(read_graph)
# What the package itself may import, because it must be in place before any other import.
STAND_INS_FOR_LIBRARIES = f"{GUEST}.library_internals"

# The judge probes the reference as the sandbox probes an answer: it calls a function that it has, and runs no source.
CALLS_AS_THE_SANDBOX_DOES = tuple(
    f"grader/judge/{name}.py imports {GUEST}.calling" for name in ("planned_trial", "call_probe")
)

# Five more than without `explain`: rules that read code, the record of what they find, the search that uses them, the run
# that tries changes, and the notebook's cell that holds all of this.
MOST_LAYERS = 15
MOST_LOOSE_MODULES = 7
MOST_LINES, MOST_FUNCTION_LINES = 400, 50
LONG_MODULES: dict[str, str] = {}  # path → why it cannot be shorter
LONG_FUNCTIONS: dict[str, str] = {}  # path:function → why it cannot be shorter

MAY_IMPORT = re.compile(r"\bMay import:\s+([^:]+)\.\s*$")


@cache
def sources(folder: str) -> dict[str, str]:
    """Read the modules below a folder, by path."""
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files, f"{folder} is empty"
    return {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in files}


@cache
def imports(source: str) -> frozenset[str]:
    """Name what a module imports; each is read once for all tests."""
    return frozenset(imported_names(source, modules()))


@cache
def parsed(source: str) -> ast.Module:
    return ast.parse(source)


def offenders(folder: str, *forbidden: str) -> list[str]:
    """List the imports below a folder that lead into a forbidden package."""
    return [
        f"{path} imports {name}"
        for path, source in sources(folder).items()
        for name in sorted(imports(source))
        if is_within(name, forbidden)
    ]


def is_within(name: str, packages: tuple[str, ...]) -> bool:
    """Tell whether a module is one of these packages, or lies in one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


# ---------------------------------------------------------------- which folder may import which


def may_import(folder: Path) -> tuple[str, ...]:
    """Return what a folder's docstring lets its modules import: packages and modules by their full names."""
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    sentence = MAY_IMPORT.search(docstring)
    path = folder.relative_to(ROOT)
    assert sentence, f"{path}/__init__.py: the docstring must end in a sentence `May import: a, b.`"
    listed = re.sub(r"\([^)]*\)", "", sentence[1])
    names = [name for name in re.split(r",\s*(?:and\s+)?|\s+and\s+", listed.strip()) if not name.startswith("nothing ")]
    full = tuple(name.strip() if name.strip() == "attention" else f"grader.{name.strip()}" for name in names)
    unknown = [name for name in full if name != "attention" and name not in modules()]
    assert not unknown, f"{path}/__init__.py lets import what is not there: {', '.join(unknown)}"
    return full


def strays(folder: Path) -> list[str]:
    """List the imports of a folder's modules that its docstring does not list."""
    own = (module_name(folder, ROOT), "grader.sandbox") if folder.name == "guest" else (module_name(folder, ROOT),)
    allowed = (GUEST,) if folder.name == "guest" else (*own, "grader.complaint", *may_import(folder))
    found = []
    for path, source in sources(str(folder.relative_to(ROOT))).items():
        if folder.name != "guest" and is_within(module_name(ROOT / path, ROOT), (GUEST,)):
            continue
        for name in sorted(imports(source)):
            package = name.partition(".")[0]
            if package in ("grader", "attention") and name != "grader" and not is_within(name, allowed):
                found.append(f"{path} imports {name}")
    return found


@pytest.mark.parametrize("folder", DECLARED, ids=lambda folder: str(folder.relative_to(GRADER)))
def test_a_folder_imports_what_its_docstring_lists(folder: Path) -> None:
    may_import(folder)
    assert strays(folder) == []


@pytest.mark.parametrize("folder", DECLARED, ids=lambda folder: str(folder.relative_to(GRADER)))
def test_a_folder_lists_nothing_that_it_does_not_import(folder: Path) -> None:
    names = {name for source in sources(str(folder.relative_to(ROOT))).values() for name in imports(source)}
    assert [listed for listed in may_import(folder) if not any(is_within(name, (listed,)) for name in names)] == []


def test_what_every_folder_may_import_imports_nothing_of_grader() -> None:
    for module in ("grader.complaint", "grader.records", "grader.paths", "grader.secret"):
        assert modules()[module] <= {"grader.complaint"} - {module}, f"{module} imports {sorted(modules()[module])}"
    assert modules()["grader"] <= {STAND_INS_FOR_LIBRARIES}


def test_no_folder_imports_the_command_line() -> None:
    assert offenders("grader", "grader.__main__") == []
    assert offenders("grader", "grader.cli") == ["grader/__main__.py imports grader.cli"]


def test_nothing_imports_the_submission_server() -> None:
    """It needs packages that a class without it does not have; the command line finds it by name."""
    assert [line for line in offenders("grader", "grader.serve") if not line.startswith("grader/serve/")] == []
    assert 'import_module(f"grader.serve.{name}")' in (GRADER / "cli.py").read_text("utf-8")


def test_source_imports_nothing_of_grader() -> None:
    assert offenders("source", "grader") == []


def test_benchmarks_and_the_corpus_import_no_tests() -> None:
    """What both need has a home of its own: corpus/."""
    assert offenders("benchmarks", "tests") == []
    assert offenders("corpus", "tests", "benchmarks") == []
    assert offenders("grader", "corpus", "tests", "benchmarks") == []


def test_the_sandbox_knows_neither_the_reference_nor_the_judge_nor_the_course() -> None:
    assert offenders("grader/sandbox", "attention", "grader.judge", "grader.course") == []


def test_only_the_sandbox_folder_imports_what_runs_inside_the_sandbox() -> None:
    allowed = ("grader/sandbox/", f"grader/__init__.py imports {STAND_INS_FOR_LIBRARIES}", *CALLS_AS_THE_SANDBOX_DOES)
    assert [line for line in offenders("grader", "guest", GUEST) if not line.startswith(allowed)] == []


# ---------------------------------------------------------------- who knows which package, and who runs code


def test_only_the_sandbox_knows_papermill() -> None:
    assert [line for line in offenders("grader", "papermill") if not line.startswith("grader/sandbox/")] == []


def test_only_build_and_classes_know_nbgrader() -> None:
    allowed = ("grader/build/", "grader/classes/")
    assert [line for line in offenders("grader", "nbgrader") if not line.startswith(allowed)] == []


def test_nothing_trusted_unpickles() -> None:
    assert offenders("grader", "pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal") == []


# Who asks for the time of day, which a clock that is set makes jump: the age of files, a due date, and what is shown or signed.
TIME_OF_DAY = {"pages.py", "paths.py", "recorded.py", "appeals.py", "store.py", "lti.py", "lti_calls.py"}


def test_no_limit_hangs_on_the_time_of_day() -> None:
    asks = re.compile(r"\btime\.time\b|\bfrom time import|\btime_ns\b|\bdatetime\.(now|today|utcnow)\b|CLOCK_REALTIME")
    assert {Path(path).name for path, source in sources("grader").items() if asks.search(source)} == TIME_OF_DAY


def test_the_judge_runs_no_student_code() -> None:
    running = offenders("grader/judge", "grader.sandbox", "subprocess", "multiprocessing", "importlib", "runpy")
    allowed = (" imports grader.sandbox.text", *CALLS_AS_THE_SANDBOX_DOES)
    assert [line for line in running if not line.endswith(allowed)] == []
    assert calls("grader/judge", "exec", "eval", "compile", "__import__") == []


def calls(folder: str, *functions: str) -> list[str]:
    """List the calls below a folder of functions with these names."""
    return [
        f"{path}:{node.lineno} calls {node.func.id}"
        for path, source in sources(folder).items()
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions
    ]


# What grader/explain still says of attention, by module. A module leaves this list, and none comes to it.
SPEAKS_OF_ATTENTION = {
    "values/wording.py": {"d_k", "d_model"},  # what sizes of a trial are called
    # The search for a repair also runs in the notebook, which knows no subject.
    "repairs/expressions.py": {"W_K", "W_Q"},
    "repairs/sizes.py": {"num_heads", "patch_size"},
}
OF_PYTORCH = {"ignore_index"}


def names_of_the_course() -> set[str]:
    """Return the names of two words that source/attention defines: functions, classes, parameters, attributes."""
    nodes = [node for source in sources("source/attention").values() for node in ast.walk(parsed(source))]
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    return {name for name in names if re.search(r"^[^_].*_|[a-z][A-Z]", name)} - OF_PYTORCH


def test_what_explains_answers_knows_no_course() -> None:
    course = names_of_the_course()
    assert {"MultiHeadAttention", "W_Q", "num_heads", "shift_targets", "stable_softmax", "token_ids"} <= course
    found = {
        str(Path(path).relative_to("grader/explain")): course & set(re.findall(r"\w+", source))
        for path, source in sources("grader/explain").items()
    }
    assert {path: names for path, names in found.items() if names} == SPEAKS_OF_ATTENTION


# ---------------------------------------------------------------- layers and sizes


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycles(modules()) == []


def test_there_are_few_layers() -> None:
    layer = layers(modules())
    top = max(layer, key=layer.__getitem__)
    assert layer[top] <= MOST_LAYERS, f"{top} stands on layer {layer[top]}; see `python -m tests.import_graph`"
    assert f"at most {MOST_LAYERS} layers" in " ".join((ROOT / "CONTRIBUTING.md").read_text("utf-8").split())


def test_there_are_few_folders() -> None:
    assert len(list(GRADER.glob("*/__init__.py"))) <= MOST_FOLDERS


def test_few_modules_lie_directly_in_grader() -> None:
    loose = sorted(file.name for file in GRADER.glob("*.py"))
    assert len(loose) <= MOST_LOOSE_MODULES, f"{', '.join(loose)}: put them into a folder"


def test_no_module_is_too_long() -> None:
    lengths = {path: len(source.splitlines()) for path, source in sources("grader").items()}
    long = {path: lines for path, lines in lengths.items() if lines > MOST_LINES}
    assert long.keys() == LONG_MODULES.keys(), long


def test_no_function_is_too_long() -> None:
    long = {
        f"{path}:{name}": lines
        for path, source in sources("grader").items()
        for name, lines in functions(source)
        if lines > MOST_FUNCTION_LINES
    }
    assert long.keys() == LONG_FUNCTIONS.keys(), long


def functions(source: str) -> Iterator[tuple[str, int]]:
    """Yield each function's name and lines, from its `def` to its end, docstring included."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.end_lineno - node.lineno + 1


# ---------------------------------------------------------------- what is looked at is seen


def test_an_import_inside_a_function_is_seen() -> None:
    source = "def late():\n    from grader.course import lessons\n    import grader.paths\n"
    assert list(imported_names(source, modules())) == ["grader.course", "grader.paths"]


def test_a_wall_that_is_broken_is_seen() -> None:
    assert offenders("grader/course", "attention")
    assert calls("grader/sandbox", "exec")


def test_a_cycle_and_its_layers_are_counted() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"b"}, "d": set()}
    assert cycles(graph) == [["b", "c"]]
    assert layers(graph) == {"d": 1, "b": 2, "c": 2, "a": 3}


def test_the_reference_needs_no_trainings_measures_or_figures() -> None:
    """What answers are checked against stands at the top of source/attention; only the padding's number lies in a folder."""
    top = sorted((ROOT / "source" / "attention").glob("*.py"))
    folders = tuple(f"attention.{file.parent.name}." for file in (ROOT / "source" / "attention").glob("*/__init__.py"))
    wanted = {name for file in top for name in imported_names(file.read_text("utf-8")) if name.startswith(folders)}
    assert len(folders) >= 5
    assert wanted == {"attention.data.tokens"}
