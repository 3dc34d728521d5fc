"""Tables of changes: what a row fits, what it writes, and what it says."""

import ast

import pytest

from grader.explain.nodes import called
from grader.explain.patterns import Table


def made(row: str, code: str, known: tuple[str, ...] = (), **alike: str) -> list[str]:
    """Return what a row makes of an expression."""
    node = ast.parse(code, mode="eval").body
    libraries = {"torch": "__import__('torch')"}
    return [ast.unparse(found.new(libraries)) for found in Table(row).found(node, known=known, alike=alike)]


FITTING = [
    ("1 A - B → A + B", "x - y.mean()", ["x + y.mean()"]),
    ("1 A - A → 0", "x[0] - x[0]", ["0"]),
    ("1 A / B → A / (B + E) for E in 0.1, 1e-6", "x / y", ["x / (y + 0.1)", "x / (y + 1e-06)"]),
    ("1 softmax(X, *Z) → softmax(X * 2, *Z)", "x.softmax(-1, dtype=d)", ["(x * 2).softmax(-1, dtype=d)"]),
    ("1 softmax(X, *Z) → softmax(X * 2, *Z)", "F.softmax(x, dim=-1)", ["F.softmax(x * 2, dim=-1)"]),
    ("1 norm(X, **K) → norm(X, 1, **K)", "x.norm(dim=-1)", ["x.norm(1, dim=-1)"]),
    ("1 X.norm(*Z, keepdim=B) → X.norm()", "x.norm(dim=-1, keepdim=True)", ["x.norm()"]),
    ("1 cat([A, *Z], *Y) → A", "torch.cat([x, y, z], -1)", ["x"]),
    ("1 cat([*Z, A], *Y) → A", "torch.cat([x, y, z], -1)", ["z"]),
    ("1 L.zeros(*Z) → torch.ones(*Z)", "torch.zeros(2, 3)", ["__import__('torch').ones(2, 3)"]),
    ("1 A @ (R := B.T) → A * R", "x @ y.T", ["x * y.T"]),
    ("1 A ** B → A ** -0.5", "x ** 2", ["x ** -0.5"]),
    ("1 A < B → A <= B", "x < 3", ["x <= 3"]),
]
NOT_FITTING = [
    ("1 A - B → A + B", "x + y"),
    ("1 A - A → 0", "x[0] - x[1]"),
    ("1 norm(X, **K) → X", "x.norm(2, dim=-1)"),
    ("1 X.norm(*Z, keepdim=B) → X", "x.norm(dim=-1)"),
    ("1 X.norm() → X", "x.norm(dim=-1)"),
    ("1 X.sum(*Z) → X", "torch.sum(x)"),  # a library is no tensor
    ("1 softmax(X, *Z) → X", "self.softmax"),
    ("1 f(X) → X", "f(*x)"),  # who knows how many
    ("1 A < B → A <= B", "x < y < z"),
    ("1 X / Y → X / key.norm()", "x / y"),  # no such name is known
]


@pytest.mark.parametrize(("row", "code", "new"), FITTING)
def test_a_row_writes_what_stands_in_the_place_of_what_it_fits(row, code, new):
    assert made(row, code) == new


@pytest.mark.parametrize(("row", "code"), NOT_FITTING)
def test_a_row_leaves_alone_what_it_does_not_fit(row, code):
    assert made(row, code) == []


def test_a_name_of_the_new_text_must_be_known():
    assert made("1 X / Y → X / key.norm()", "x / y", known=("key",)) == ["x / key.norm()"]


def test_a_function_may_count_as_another_one():
    assert made("1 softmax(X) → X", "my_softmax(x)") == []
    assert made("1 softmax(X) → X", "my_softmax(x)", my_softmax="softmax") == ["x"]


def test_the_old_expression_stays_as_it_is():
    node = ast.parse("f(x - y, z)", mode="eval").body
    before = ast.dump(node)
    (found,) = Table("1 f(A, B) → f(B, A * 2)").found(node)
    assert ast.unparse(found.new({})) == "f(z, (x - y) * 2)"
    assert ast.dump(node) == before


def test_a_view_and_a_set_of_names_are_explained_by_the_table_s_owner():
    views = {
        "HALF": lambda node, _: [node.left] if isinstance(node, ast.BinOp) and ast.unparse(node.right) == "2" else None
    }
    table = Table("1 A + HALF(B) → A - B\n1 X.ENDS() → X.ENDS(0)", views, {"ENDS": ("amin", "amax")})
    new = {
        code: [ast.unparse(found.new({})) for found in table.found(ast.parse(code, mode="eval").body)]
        for code in ("x + y / 2", "x + y / 3", "x.amax()", "x.mean()")
    }
    assert new == {"x + y / 2": ["x - y"], "x + y / 3": [], "x.amax()": ["x.amax(0)"], "x.mean()": []}


@pytest.mark.parametrize(
    ("says", "said"),
    [
        ("{B} were added", "y were added"),
        ("{A} were added", ""),  # it has no name
        ("{B} were added[ to {A}]", "y were added"),
        ("{B} were added[ before {C}]", "y were added before z"),
        ("the comparison with {A,B}", "the comparison with y"),
        ("{C:loud} were added", "Z were added"),
    ],
)
def test_a_sentence_is_said_if_all_its_words_are_known(says, said):
    def name(node, how: str) -> str:
        found = getattr(node, "id", "")
        return found.upper() if how == "loud" else found

    node = ast.parse("f(1 + 1, y, z)", mode="eval").body
    (found,) = Table(f"1* f(A, B, C) → f(A)  # {says}").found(node)
    assert (found.says(name), found.joint(name)) == (said, said)


def test_a_sentence_may_be_another_one_for_all_places():
    (found,) = Table("1 f(A) → A  # once # everywhere: always").found(ast.parse("f(x)", mode="eval").body)
    assert (found.says(lambda *_: ""), found.joint(lambda *_: "")) == ("once", "always")
    assert called(found.holes["it"]) == "f"


@pytest.mark.parametrize("line", ["A → B", "1 A → ", "x 1 A → B"])
def test_a_line_that_is_no_row_is_refused(line):
    with pytest.raises(ValueError, match="no row of a table"):
        Table(line)
