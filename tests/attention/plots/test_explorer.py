"""What the explorer's page holds, and which models it refuses. That it computes: tests/browser/test_explorer_page.py."""

import json
import re
from pathlib import Path

import pytest
import torch
from attention.data.digits import digits
from attention.data.tokens import TASKS, WORDS
from attention.experiments.recipe import MODEL, draw_start
from attention.generation import generate
from attention.grounding import value_weighted_map
from attention.measures.evaluation import accuracy, held_out, looked, on_target, prompt_of, where_it_points
from attention.plots.explorer import export_explorer, models_of, parameter_shapes
from attention.plots.explorer_page import PAGE
from attention.vlm import MiniVLM
from torch import nn

COMMITTED = Path(__file__).resolve().parents[3] / "assets" / "explorer.html"


def model(seed: int = 0, **changes) -> MiniVLM:
    made = MiniVLM(**{**MODEL, **changes})
    draw_start(made, seed)
    return made


def data_of(page: Path) -> dict:
    return json.loads(page.read_text("utf-8").partition('id="data">')[2].partition("</script>")[0])


def test_the_page_reads_the_parameters_of_the_lessons_model():
    shapes = {name: tuple(one.shape) for name, one in MiniVLM(**MODEL).named_parameters()}
    assert parameter_shapes() == shapes


def test_every_number_of_the_models_is_in_the_page(tmp_path):
    given = {"one": model(1), "</script> two": model(2)}
    page = export_explorer(given, tmp_path / "page.html")
    held = models_of(page)
    assert list(held) == list(given)
    for name, one in given.items():
        for parameter, value in one.named_parameters():
            assert torch.equal(held[name][parameter], value), parameter
    assert page.stat().st_size < 2_000_000


def test_one_model_needs_no_name(tmp_path):
    assert list(models_of(export_explorer(model(), tmp_path / "page.html"))) == ["trained"]


def test_the_witnesses_are_what_the_model_answers_about_digits_of_the_page(tmp_path):
    one = model()
    data = data_of(export_explorer(one, tmp_path / "page.html"))
    patches = digits("test").patches
    witnesses = data["models"][0]["witnesses"]
    assert {WORDS[witness["tokens"][1]] for witness in witnesses} == {"where", "what", "read"}
    for witness in witnesses:
        scene = patches[witness["digits"]]
        with torch.no_grad():
            logits = one(torch.tensor([witness["tokens"]]), scene.unsqueeze(0))[0][0, -1]
        assert torch.allclose(torch.tensor(witness["logits"]), logits, atol=1e-5)


class OwnWay(nn.Module):
    """The same parameters under the same names, in a class that is not the reference's, with a buffer of its own."""

    def __init__(self) -> None:
        super().__init__()
        made = model(5)
        for name, part in reversed(list(made.named_children())):
            self.add_module(name, part)
        self.register_buffer("mask", torch.ones(9, 9).tril())
        self.answer = made.forward

    def forward(self, token_ids, image_patches):
        return self.answer(token_ids, image_patches)


def test_a_model_may_be_written_in_another_way(tmp_path):
    held = models_of(export_explorer(OwnWay(), tmp_path / "page.html"))["trained"]
    assert torch.equal(held["head.weight"], model(5).head.weight)


def not_finite() -> MiniVLM:
    made = model()
    with torch.no_grad():
        made.blocks[1].ffn[0].bias[3] = float("nan")
    return made


def with_a_gate() -> MiniVLM:
    made = model()
    made.gate = nn.Parameter(torch.zeros(1))
    return made


def without_positions() -> MiniVLM:
    made = model()
    made.image_positions = nn.Identity()
    return made


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: model(d_ff=64), r"'blocks\.0\.ffn\.0\.weight' is \(64, 64\), and the page computes with \(128, 64\)"),
        (lambda: model(num_layers=1), r"it has no parameter 'blocks\.1\.norm1\.weight'"),
        (lambda: model(num_layers=3), r"it has no parameter 'blocks\.1\.norm2\.weight'"),
        (without_positions, r"it has no parameter 'image_positions\.embedding'"),
        (with_a_gate, r"it has a parameter 'gate', which the page does not compute with"),
        (not_finite, r"'blocks\.1\.ffn\.0\.bias' holds numbers that are not finite; train the model again"),
    ],
)
def test_another_model_is_refused_and_nothing_is_written(made, message, tmp_path):
    page = tmp_path / "page.html"
    with pytest.raises(ValueError, match=rf"the model 'mine' cannot be shown: .*{message}"):
        export_explorer({"mine": made()}, page)
    assert not page.exists()


def test_the_page_holds_all_its_parts_and_fetches_nothing():
    assert re.findall(r"\{\{.*?\}\}", PAGE) == ["{{data}}"]
    assert not re.findall(r"https?:|src=|@import|url\(", PAGE)
    assert "default-src 'none'" in PAGE


def test_the_committed_page_is_what_its_parts_make(tmp_path):
    committed = COMMITTED.read_text("utf-8")
    before, _, rest = committed.partition('id="data">')
    assert (before + 'id="data">{{data}}</script>' + rest.partition("</script>")[2]) == PAGE, (
        "run: python assets/explorer.py --page"
    )
    ours = data_of(export_explorer(model(), tmp_path / "page.html"))
    theirs = data_of(COMMITTED)
    assert {**theirs, "models": []} == {**ours, "models": []}
    assert COMMITTED.stat().st_size < 2_000_000


def test_the_committed_models_pass_the_lessons_gates():
    trained, cautious = MiniVLM(**MODEL).eval(), MiniVLM(**MODEL).eval()
    held = models_of(COMMITTED)
    assert list(held) == ["trained", "taught to say nowhere"]
    for made, state in zip((trained, cautious), held.values(), strict=True):
        made.load_state_dict(state)
        for task, least in {"where": 0.9, "what": 0.95, "read": 0.85}.items():
            assert accuracy(made, generate, task, held_out(task, 500)) >= least
    for task in TASKS:
        asked = held_out(task, 500)
        tokens, image_tokens, _ = looked(trained, prompt_of(task, asked), asked.image_patches)
        with torch.no_grad():
            maps = value_weighted_map(trained.blocks[-1].cross_attn, tokens, image_tokens)[:, -1]
        assert on_target(maps, asked.cells[:, 0]) >= 0.9
    absent = held_out("where", 500, absent=1.0)
    assert where_it_points(trained, generate, absent)["a place"] > 0.9
    assert where_it_points(cautious, generate, absent)["nowhere"] > 0.9
