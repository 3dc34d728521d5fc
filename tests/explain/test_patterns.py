"""Tables of changes: what a row fits, what it writes, and what it says."""

import ast

import pytest

from grader.explain.repairs.patterns import Table


def made(row: str, code: str) -> list[str]:
    """Return what a row makes of an expression."""
    return [ast.unparse(found.new()) for found in Table(f"{row}  # .").found(ast.parse(code, mode="eval").body)]


FITTING = [
    ("1 A - B → A + B", "x - y.mean()", ["x + y.mean()"]),
    ("1 A - A → 0", "x[0] - x[0]", ["0"]),
    ("1 A ** B → A ** -0.5", "x ** 2", ["x ** -0.5"]),
    ("1 A ** B / C → A ** (B / C)", "x ** 1 / 2", ["x ** (1 / 2)"]),
    ("1 G(A + B) → G(A) + B", "torch.exp(x + 1)", ["torch.exp(x) + 1"]),
    ("1 G(H(A)) → H(G(A))", "self.a(self.b(x))", ["self.b(self.a(x))"]),
    ("1 X.repeat(A, 1) → torch.cat([X] * A)", "x.repeat(n, 1)", ["torch.cat([x] * n)"]),
    ("1 X.repeat(A, dim=B) → X", "x.repeat(n, dim=0)", ["x"]),
    ("1 not A → A", "not x", ["x"]),
]
NOT_FITTING = [
    ("1 A - B → A + B", "x + y"),
    ("1 A - A → 0", "x[0] - x[1]"),
    ("1 X.norm() → X", "x.norm(dim=-1)"),
    ("1 X.sum(A) → X", "torch.sum(x)"),  # a library is no tensor
    ("1 G(A) → A", "f(*x)"),  # who knows how many
    ("1 X.repeat(A, 1) → X", "x.repeat(n, 2)"),
]


@pytest.mark.parametrize(("row", "code", "new"), FITTING)
def test_a_row_writes_what_stands_in_the_place_of_what_it_fits(row, code, new):
    assert made(row, code) == new


@pytest.mark.parametrize(("row", "code"), NOT_FITTING)
def test_a_row_leaves_alone_what_it_does_not_fit(row, code):
    assert made(row, code) == []


def test_the_old_expression_stays_as_it_is():
    node = ast.parse("f(x - y, z)", mode="eval").body
    before = ast.dump(node)
    (found,) = Table("1 G(A, B) → G(B, A * 2)  # .").found(node)
    assert ast.unparse(found.new()) == "f(z, (x - y) * 2)"
    assert ast.dump(node) == before


def test_a_view_and_a_set_of_names_are_explained_by_the_table_s_owner():
    views = {
        "HALF": lambda node: [node.left] if isinstance(node, ast.BinOp) and ast.unparse(node.right) == "2" else None
    }
    table = Table("1 A + HALF(B) → A - B  # .\n1 X.ENDS() → X.ENDS(0)  # .", views, {"ENDS": ("amin", "amax")})
    new = {
        code: [ast.unparse(found.new()) for found in table.found(ast.parse(code, mode="eval").body)]
        for code in ("x + y / 2", "x + y / 3", "x.amax()", "x.mean()")
    }
    assert new == {"x + y / 2": ["x - y"], "x + y / 3": [], "x.amax()": ["x.amax(0)"], "x.mean()": []}


def test_a_sentence_names_its_parts_as_it_asks():
    def name(part, how: str) -> str:
        return ast.unparse(part).upper() if how == "loud" else ast.unparse(part)

    (found,) = Table("1 G(A, B) → G(A)  # {B:loud} is too many in {it} of {G}").found(
        ast.parse("f(x, y)", mode="eval").body
    )
    assert found.says(name) == "Y is too many in f(x, y) of f"


@pytest.mark.parametrize("line", ["A → B", "1 A → B", "x 1 A → B  # so"])
def test_a_line_that_is_no_row_is_refused(line):
    with pytest.raises(ValueError, match="no row of a table"):
        Table(line)
