"""`python -m corpus`: it shows and compares answers, and writes those that are added or judged."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from corpus import __main__ as command
from corpus.answers import answers, path_of, read_answers

ADDED = "# %% [wrong] forgets_the_root | divides by d_k\ndef scaled_scores(query, key):\n    return 1  # \u2028√\n"


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of the only corpus that the command reads and writes; it does not exist yet."""
    path = tmp_path / "first.jsonl"
    monkeypatch.setattr(command, "path_of", lambda corpus: path)
    return path


def test_an_answer_is_shown_with_what_is_known_of_it(capsys: pytest.CaptureFixture[str]):
    command.main(["show", "1.4", "unscaled"])
    shown = capsys.readouterr().out
    assert shown.startswith("# %% [wrong] unscaled | attention_scores is used instead of scaled_scores")
    assert "\n    weights = stable_softmax(attention_scores(query, key))\n" in shown
    assert "\nHalf: read\n" in shown
    assert "so the softmax is too sharp. Divide them before the softmax.\nJudgement: cause (" in shown


def test_a_variant_is_shown_without_a_half_and_a_judgement(capsys: pytest.CaptureFixture[str]):
    command.main(["show", "1.1", "matmul and mT", "--corpus", "variants"])
    source = "def attention_scores(query, key):\n    return torch.matmul(query, key.mT)"
    assert capsys.readouterr().out == f"# %% [right] matmul and mT\n{source}\n\n"


def test_two_answers_are_compared(capsys: pytest.CaptureFixture[str]):
    command.main(["diff", "1.4", "unscaled", "return_order"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["--- unscaled", "+++ return_order"]
    assert "-    weights = stable_softmax(attention_scores(query, key))" in lines
    assert "+    return weights, output" in lines


def test_an_answer_is_compared_with_the_solution(capsys: pytest.CaptureFixture[str]):
    command.main(["diff", "1.4", "solution", "unscaled"])
    shown = capsys.readouterr().out
    assert "-    weights = torch.softmax(scaled_scores(query, key), dim=-1)" in shown
    assert "SOLUTION" not in shown
    assert "@exercise" not in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "1.4", "nobody"], "corpus first: 1.4 has no answer 'nobody'"),
        (["diff", "1.4", "solution", "nobody"], "corpus first: 1.4 has no answer 'nobody'"),
        (["diff", "9.9", "solution", "solution"], "corpus first: the course has no exercise '9.9'"),
        (["add", "1.2", "no-such-file.py"], "No such file or directory: 'no-such-file.py'"),
        (["judge", "pyproject.toml"], "corpus first: "),
    ],
)
def test_what_cannot_be_done_is_explained(arguments: list[str], message: str):
    with pytest.raises(SystemExit, match=message):
        command.main(arguments)


def test_answers_are_added_in_the_order_of_the_exercises(file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "answers.py").write_text(ADDED, "utf-8")
    for exercise in ("4.10", "4.9"):
        command.main(["add", exercise, str(tmp_path / "answers.py")])
    monkeypatch.setattr("sys.stdin", io.StringIO(ADDED))
    command.main(["add", "1.P1"])
    written = read_answers(file)
    assert [answer.exercise for answer in written] == ["1.P1", "4.9", "4.10"]
    assert {answer.source for answer in written} == {"def scaled_scores(query, key):\n    return 1  # \u2028√\n"}


def test_an_answer_is_replaced_only_on_request(file: Path, tmp_path: Path):
    text = tmp_path / "answers.py"
    text.write_text(ADDED, "utf-8")
    command.main(["add", "1.2", str(text)])
    text.write_text(ADDED.replace("return 1", "return 2"), "utf-8")
    with pytest.raises(SystemExit, match=r"1\.2 has an answer 'forgets_the_root'.* pass --replace"):
        command.main(["add", "1.2", str(text)])
    command.main(["add", "1.2", str(text), "--replace"])
    (answer,) = read_answers(file)
    assert "return 2" in answer.source


def test_a_judgement_changes_one_line(file: Path, tmp_path: Path):
    before = path_of("first").read_text("utf-8")
    file.write_text(before, "utf-8")
    chosen = next(answer for answer in answers() if answer.judgement == "part")
    judged = {"exercise": chosen.exercise, "name": chosen.name, "feedback": "Zeile\u2028√", "judgement": "false"}
    (tmp_path / "judged.jsonl").write_text(json.dumps(judged, ensure_ascii=False) + "\n", "utf-8")
    command.main(["judge", str(tmp_path / "judged.jsonl")])
    changed = [
        (old, new)
        for old, new in zip(before.split("\n"), file.read_text("utf-8").split("\n"), strict=True)
        if old != new
    ]
    ((old, new),) = changed
    assert json.loads(new) == json.loads(old) | judged
    assert chosen._replace(feedback="Zeile\u2028√", judgement="false") in read_answers(file)
