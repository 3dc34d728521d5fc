"""Mutants do what their sentences say, say nothing that gives the solution away, and leave the reference as it is."""

import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable
from math import sqrt

import nbformat
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from corpus.mutate import mutants as mutants_of_text
from grader.course import lessons
from grader.course.common.attention_words import SUBJECT
from grader.explain.mutants.mutants import MOST, ONE_PLACE, Mutant, mutants, public_names
from tests.import_graph import ROOT

EXERCISES = [
    pytest.param(lesson, exercise, id=exercise.id) for lesson in lessons().values() for exercise in lesson.exercises
]

# ---------------------------------------------------------------- a small reference


def product(query: Tensor, key: Tensor) -> Tensor:
    """query (Q, d), key (K, d) → (Q, K)"""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("the widths differ")
    return query @ key.transpose(-2, -1)


def small_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Attention, with a helper."""
    scores = product(query, key) / sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


def cut(tokens: Tensor, count: int, rate: float = 0.5, pad_id: int = 0) -> Tensor:
    """tokens (n, count · d) → (count, n, d)"""
    first = tokens[:count]
    both = (first > rate) & (first != pad_id)
    heads = tokens.unflatten(-1, (count, -1)).transpose(-3, -2)
    return heads - heads.mean(-1, keepdim=True) + both.sum()


def rounds(tokens: Tensor, count: int) -> Tensor:
    """As many rounds as asked for."""
    for _ in range(count):
        tokens = 2 * tokens + 1
    return F.elu(tokens).sum()


class Step(nn.Module):
    """A step of a block."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (n, d_model) → the same shape"""
        tokens = tokens + self.W_V(self.norm1(tokens)) * self.W_K(tokens)
        return tokens + self.ffn(self.norm2(tokens))


DRAW = torch.Generator().manual_seed(0)
QUERY, KEY, VALUE = (torch.randn(size, generator=DRAW) for size in ((3, 5), (4, 5), (4, 2)))
MASK = torch.tensor([[True, True, False, True]] * 3)
TOKENS = torch.randn(7, 6, generator=DRAW)


def made(definition: Callable | type) -> dict[str, Mutant]:
    """The mutants of a definition, by sentence without its beginning."""
    found = mutants([definition], public_names([definition, product]), SUBJECT)
    return {mutant.says.removeprefix("It comes out as if ").removesuffix("."): mutant for mutant in found}


def weighted(scores: Tensor) -> tuple[Tensor, Tensor]:
    weights = scores.softmax(-1)
    return weights @ VALUE, weights


SCORES = QUERY @ KEY.T / sqrt(5)
ATTENTION = {
    "the softmax ran over axis −2": lambda: (SCORES.softmax(-2) @ VALUE, SCORES.softmax(-2)),
    "the softmax of scores were left out": None,
    "the division by the root were left out": lambda: weighted(QUERY @ KEY.T),
    "it were divided by the root twice": lambda: weighted(QUERY @ KEY.T / 5),
    "it were multiplied by the root where it should be divided": lambda: weighted(QUERY @ KEY.T * sqrt(5)),
    "the two results came back in the other order": lambda: weighted(SCORES)[::-1],
    "the vectors were brought to length 1 first (cosine similarity), where plain dot products are due": lambda: (
        weighted(F.normalize(QUERY, dim=-1) @ F.normalize(KEY, dim=-1).T / sqrt(5))
    ),
    "the size of axis −2 of key stood where a size of query is due": lambda: weighted(QUERY @ KEY.T / 2),
    "it were halved where a root is due: `x ** 1/2` means (x ** 1) / 2, so put 1/2 in brackets": lambda: weighted(
        QUERY @ KEY.T / 2.5
    ),
    "the scores were divided by their sum, without the exponential": lambda: (
        SCORES / SCORES.sum(-1, keepdim=True) @ VALUE,
        SCORES / SCORES.sum(-1, keepdim=True),
    ),
}
MASKED = {
    "mask were turned around: True where it should be False": lambda: weighted(SCORES.masked_fill(MASK, -torch.inf)),
    "0 were put in where −∞ is due": lambda: weighted(SCORES.masked_fill(~MASK, 0.0)),
    "the step with the masking were left out": lambda: weighted(SCORES),
    "the division by the root were left out": lambda: weighted((QUERY @ KEY.T).masked_fill(~MASK, -torch.inf)),
}


@pytest.mark.parametrize(("says", "wrong"), [one for one in ATTENTION.items() if one[1]])
def test_a_mutant_of_attention_does_what_it_says(says, wrong):
    got = made(small_attention)[says].replaces["small_attention"](QUERY, KEY, VALUE)
    for one, other in zip(got, wrong(), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("says", "wrong"), MASKED.items())
def test_a_mutant_with_a_mask_does_what_it_says(says, wrong):
    got = made(small_attention)[says].replaces["small_attention"](QUERY, KEY, VALUE, MASK)
    for one, other in zip(got, wrong(), strict=True):
        torch.testing.assert_close(one, other)


def heads_of(tokens: Tensor) -> Tensor:
    return tokens.unflatten(-1, (2, 3)).transpose(-3, -2)


BOTH = ((TOKENS[:2] > 0.5) & (TOKENS[:2] != 0)).sum()
CUT = {
    "the mean were not subtracted from the heads": lambda: heads_of(TOKENS) + BOTH,
    "the mean ran over everything, where one axis is due": lambda: heads_of(TOKENS) - TOKENS.mean() + BOTH,
    "the features were dealt out one by one: each head gets every H-th feature, not a block of its own": lambda: (
        (dealt := TOKENS.unflatten(-1, (3, 2)).permute(2, 0, 1)) - dealt.mean(-1, keepdim=True) + BOTH
    ),
    "two axes were not swapped that have to be": lambda: (
        (flat := TOKENS.unflatten(-1, (2, 3))) - flat.mean(-1, keepdim=True) + BOTH
    ),
    "a reshape or view stood where axes have to be swapped: the shape is right, but the numbers go elsewhere": lambda: (
        (flat := TOKENS.reshape(2, 7, 3)) - flat.mean(-1, keepdim=True) + BOTH
    ),
    "all of tokens were taken, where only the first few are due": lambda: (
        (right := heads_of(TOKENS)) - right.mean(-1, keepdim=True) + (TOKENS > 0.5).sum()
    ),
    "the last ones of tokens were taken, where the first ones are due": lambda: (
        (right := heads_of(TOKENS)) - right.mean(-1, keepdim=True) + (TOKENS[-2:] > 0.5).sum()
    ),
    "pad_id were always 2, whatever is handed in": lambda: (
        (right := heads_of(TOKENS)) - right.mean(-1, keepdim=True) + (TOKENS[:2] > 0.5).sum()
    ),
}


@pytest.mark.parametrize(("says", "wrong"), CUT.items())
def test_a_mutant_of_shapes_does_what_it_says(says, wrong):
    torch.testing.assert_close(made(cut)[says].replaces["cut"](TOKENS, 2), wrong())


@pytest.mark.parametrize(
    ("says", "count"),
    [("the loop went round once only", 1), ("the loop went round once less than it should", 2),
     ("the loop went round once more than it should", 4)],
)  # fmt: skip
def test_a_loop_goes_round_as_often_as_it_is_said(says, count):
    torch.testing.assert_close(made(rounds)[says].replaces["rounds"](TOKENS, 3), rounds(TOKENS, count))


def test_a_layer_is_left_out_moved_and_made_one_with_another():
    torch.manual_seed(0)
    found, right = made(Step), Step(6, 8)
    with torch.no_grad():
        right.norm1.weight.uniform_(0.5, 2)
        right.norm2.bias.uniform_(-1, 1)

    def out(says: str) -> Tensor:
        wrong = found[says].replaces["Step"](6, 8)
        wrong.load_state_dict(right.state_dict())
        return wrong(TOKENS)

    first = TOKENS + right.W_V(right.norm1(TOKENS)) * right.W_K(TOKENS)
    torch.testing.assert_close(out("norm2 were left out"), first + right.ffn(first))
    torch.testing.assert_close(out("ffn were left out"), first + right.norm2(first))
    torch.testing.assert_close(out("tokens were not added to what ffn returns"), right.ffn(right.norm2(first)))
    swapped = TOKENS + right.W_K(right.norm1(TOKENS)) * right.W_V(TOKENS)
    torch.testing.assert_close(out("W_K and W_V were exchanged"), swapped + right.ffn(right.norm2(swapped)))
    shared = found["W_K and W_V were one and the same layer"].replaces["Step"](6, 8)
    assert shared.W_K is shared.W_V
    biased = found["the linear layers had biases"].replaces["Step"](6, 8)
    assert biased.W_K.bias is not None
    assert biased.W_V.bias is not None
    assert found["W_V had a bias"].replaces["Step"](6, 8).W_K.bias is None
    wide = found["d_ff stood where d_model should stand in W_K"].replaces["Step"](6, 8)
    assert wide.W_K.weight.shape[0] == 8 or wide.W_K.weight.shape[1] == 8


def test_a_mutant_of_the_gradient_has_the_right_values_and_a_part_of_the_gradient():
    cut_off = {says: mutant for says, mutant in made(small_attention).items() if mutant.effect == "gradient"}
    query = QUERY.clone().requires_grad_()
    says = "The gradient is cut off at query: look there for .detach(), .data, .item(), .tolist(), numpy and no_grad"
    output, weights = cut_off[says].replaces["small_attention"](query, KEY, VALUE)
    torch.testing.assert_close(output, weighted(SCORES)[0])
    assert not output.requires_grad
    says = says.replace("at query", "at the weights that you return")
    output, weights = cut_off[says].replaces["small_attention"](query, KEY, VALUE)
    assert output.requires_grad
    assert not weights.requires_grad
    for mutant in cut_off.values():
        torch.testing.assert_close(mutant.replaces["small_attention"](query, KEY, VALUE)[0], output)


def test_a_check_that_is_left_out_raises_nothing():
    dropped = made(product)["query and key were not checked: no exception is raised"].replaces["product"]
    with pytest.raises(ValueError, match="widths"):
        product(QUERY, KEY[:, :4])
    with pytest.raises(RuntimeError, match="shapes"):
        dropped(QUERY, KEY[:, :4])


def test_the_reference_stays_as_it_is():
    before = small_attention(QUERY, KEY, VALUE)
    for mutant in made(small_attention).values():
        assert mutant.replaces["small_attention"] is not small_attention
    assert all(torch.equal(one, other) for one, other in zip(before, small_attention(QUERY, KEY, VALUE), strict=True))
    assert inspect.getsource(product).count("transpose") == 1


def test_a_helper_of_another_module_is_changed_for_the_mutant_alone():
    from attention import heads, multi_head

    layer = multi_head.MultiHeadAttention
    found = mutants([layer], public_names([layer, heads.split_heads, heads.merge_heads]), SUBJECT)
    dealt = next(mutant for mutant in found if "dealt out one by one" in mutant.says).replaces["MultiHeadAttention"]
    torch.manual_seed(0)
    wrong, right = dealt(6, 2), layer(6, 2)
    wrong.load_state_dict(right.state_dict())
    assert not torch.allclose(wrong(TOKENS)[1], right(TOKENS)[1])
    assert multi_head.split_heads is heads.split_heads
    torch.testing.assert_close(heads.split_heads(TOKENS, 2), heads_of(TOKENS))


def test_mutants_are_made_once():
    names = public_names([small_attention])
    assert mutants([small_attention], names) is mutants((small_attention,), names)


def test_the_public_names_of_a_task_are_functions_parameters_and_layers():
    assert public_names([small_attention]) == {"small_attention", "query", "key", "value", "mask"}
    assert public_names([Step]) == {"d_model", "d_ff", "tokens", "norm1", "norm2", "W_K", "W_V", "ffn"}


# ---------------------------------------------------------------- the course


def told_so_far(lesson, exercise) -> list:
    """The references up to an exercise."""
    last = lesson.exercises.index(exercise)
    return [lesson.reference[name] for each in lesson.exercises[: last + 1] for name in each.defines]


def of_exercise(lesson, exercise) -> tuple[Mutant, ...]:
    right = [lesson.reference[name] for name in exercise.defines]
    return mutants(right, public_names(told_so_far(lesson, exercise)), exercise.subject)


@pytest.mark.parametrize(("lesson", "exercise"), EXERCISES)
def test_every_exercise_of_the_course_has_the_words_of_attention(lesson, exercise):
    assert exercise.subject is SUBJECT


def test_without_a_subject_nothing_is_said_of_attention():
    plain = mutants([small_attention], frozenset())
    assert not re.search(r"\b(head|heads|query|queries|keys|causal)\b", " ".join(mutant.says for mutant in plain))
    assert "causal" in " ".join(mutant.says for mutant in mutants([small_attention], frozenset(), SUBJECT))


@pytest.mark.parametrize(("lesson", "exercise"), EXERCISES)
def test_every_exercise_has_mutants_with_a_sentence_each(lesson, exercise):
    found = of_exercise(lesson, exercise)
    # Of two calls without arguments that matter, as in 3.P6, there is no slip to make.
    assert (0 if exercise.id == "3.P6" else 4) <= len(found) <= MOST
    says = [mutant.says for mutant in found]
    assert all(count == 1 or one.endswith(ONE_PLACE) for one, count in Counter(says).items())
    assert all(re.fullmatch(r"[A-Z].*[^,. ]\.", one) and "  " not in one and len(one) < 200 for one in says)
    assert [mutant.cost for mutant in found] == sorted(mutant.cost for mutant in found)
    assert all(mutant.replaces.keys() == set(exercise.defines) for mutant in found)


@pytest.mark.parametrize(("lesson", "exercise"), EXERCISES)
def test_no_sentence_tells_a_name_that_the_student_has_not_read(lesson, exercise):
    book = nbformat.read(ROOT / "notebooks" / lesson.assignment / f"{lesson.assignment}.ipynb", as_version=4)
    read = set(re.findall(r"\w+", "\n".join(cell.source for cell in book.cells)))
    own = {
        name
        for definition in told_so_far(lesson, exercise)
        for node in ast.walk(ast.parse(inspect.getsource(definition)))
        if isinstance(node, ast.Name)
        for name in [node.id]
        if "_" in name
    }
    for mutant in of_exercise(lesson, exercise):
        names = set(re.findall(r"\w*_\w*", mutant.says)) - {"no_grad"}
        assert names <= read, f"{names - read}: {mutant.says}"
        assert not names & (own - read)


@pytest.mark.parametrize(("lesson", "exercise"), EXERCISES)
def test_no_sentence_shows_a_line_of_the_reference(lesson, exercise):
    for mutant in of_exercise(lesson, exercise):
        for name in exercise.defines:
            source = inspect.getsource(lesson.reference[name])
            code = [line.split("#")[0].strip() for line in source.splitlines()]
            assert not any(len(line) > 12 and line in mutant.says for line in code)


def test_texts_have_more_mutants_than_sentences():
    found = {text: what for what, text in mutants_of_text(inspect.getsource(small_attention))}
    assert len(found) > len(made(small_attention)) / 2
    for text in found:
        compile(text, "mutant", "exec")
    assert "line 7: A / B → A * B" in {f"line 7: {what.split(': ', 1)[1]}" for what in found.values()}
    assert any("condition negated" in what for what in found.values())


# ---------------------------------------------------------------- slips that belong to one function of PyTorch


def entropy(weights: Tensor) -> Tensor:
    """weights (n, S) → (n,)"""
    return torch.special.entr(weights).sum(-1)


def picked(weights: Tensor, target: Tensor) -> Tensor:
    """weights (n, S), target (n,) → a scalar"""
    return -weights.gather(-1, target.unsqueeze(-1)).log().mean()


def mixed(weights: Tensor, value: Tensor) -> Tensor:
    """weights (n, S), value (S, d) → (n, d)"""
    return weights @ value


def fused(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention in one kernel."""
    return F.scaled_dot_product_attention(query, key, value, attn_mask=None)


def by_head(weights: Tensor, mask: Tensor) -> Tensor:
    """weights (B, H, T, S), mask (T, S) or (B, T, S) → (B, H, T, S)"""
    return weights * (mask.unsqueeze(-3) if mask.ndim > 2 else mask)


def by_head_called(weights: Tensor, mask: Tensor) -> Tensor:
    """The same, by the method."""
    return weights * (mask.unsqueeze(-3) if mask.dim() > 2 else mask)


def features(query: Tensor) -> Tensor:
    """The same shape."""
    return F.elu(query) + 1


def train(model: nn.Module, optimizer: torch.optim.Optimizer, tokens: Tensor) -> float:
    """One step."""
    loss = model(tokens).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


WEIGHTS, TARGET = SCORES.softmax(-1), torch.tensor([3, 0, 1])
HEADS, MASKS = torch.randn(2, 2, 3, 5), torch.arange(2 * 3 * 5).reshape(2, 3, 5)
SLIPS = [
    (mixed, (WEIGHTS[:, :3], VALUE[:3]), "weights were transposed before the matrix product",
     lambda: WEIGHTS[:, :3].T @ VALUE[:3]),
    (entropy, (WEIGHTS,), "0.01 were added inside the logarithm, which changes the result",
     lambda: -(WEIGHTS * (WEIGHTS + 0.01).log()).sum(-1)),
    (entropy, (WEIGHTS,), "weights went through a softmax once more",
     lambda: torch.special.entr(WEIGHTS.softmax(-1)).sum(-1)),
    (picked, (WEIGHTS, TARGET), "0.1 were added inside the logarithm, which changes the result",
     lambda: -(WEIGHTS[range(3), TARGET] + 0.1).log().mean()),
    (picked, (WEIGHTS, TARGET), "the minus sign were left out", lambda: WEIGHTS[range(3), TARGET].log().mean()),
    (fused, (QUERY, KEY, VALUE), "the scores were not divided by the root of the width",
     lambda: weighted(QUERY @ KEY.T)[0]),
    (fused, (QUERY, KEY, VALUE), "the queries were divided by the root of the width, which the kernel does itself",
     lambda: weighted(QUERY @ KEY.T / 5)[0]),
    *((definition, (HEADS, MASKS), "mask got an axis where it needs none, or none where it needs one",
       lambda: HEADS * MASKS) for definition in (by_head, by_head_called)),
    (features, (QUERY,), "1 were added inside the elu, not to what it returns", lambda: F.elu(QUERY + 1)),
    (features, (QUERY,), "a relu stood in place of the elu", lambda: F.relu(QUERY) + 1),
]  # fmt: skip


@pytest.mark.parametrize(("definition", "inputs", "says", "wrong"), [pytest.param(*slip, id=slip[2]) for slip in SLIPS])
def test_a_slip_does_what_it_says(definition, inputs, says, wrong):
    torch.testing.assert_close(made(definition)[says].replaces[definition.__name__](*inputs), wrong())


def test_the_steps_of_a_training_are_left_out():
    def after(step: Callable) -> Tensor:
        torch.manual_seed(0)
        model = nn.Linear(6, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.weight.grad = torch.ones(2, 6)
        loss = step(model, optimizer, TOKENS)
        return torch.cat([model.weight.detach().flatten(), torch.as_tensor(loss).detach().reshape(1)])

    found, right = made(train), after(train)
    for says in ("the clearing of the old gradients were left out", "the optimizer's step were left out"):
        assert not torch.allclose(after(found[says].replaces["train"]), right), says
    says = ".item() were left out: a tensor came back, not a number"
    torch.testing.assert_close(after(found[says].replaces["train"]), right)
