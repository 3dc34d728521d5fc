import pytest
import torch
from attention.data.digits import BLANK, POSITIONS
from attention.data.tokens import (
    EOS,
    MAX_TOKENS,
    NOWHERE,
    PAD,
    ROWS,
    TASKS,
    WORDS,
    decode,
    draw_questions,
    encode,
    one_of_each,
)


def drawn(count=200, **options):
    return draw_questions(count, torch.Generator().manual_seed(3), **options)


def test_every_answer_is_true_of_its_scene():
    questions = drawn(tasks=("where", "what", "read"))
    kinds = set()
    for ids, length, labels, cells in zip(
        questions.token_ids, questions.prompt_lengths, questions.labels.tolist(), questions.cells.tolist(), strict=True
    ):
        prompt, answer = decode(ids[:length]).split(), decode(ids[length:]).split()
        words = ["blank" if label == BLANK else str(label) for label in labels]
        kinds.add(prompt[0])
        if prompt[0] == "where":
            assert words[POSITIONS.index(answer[0])] == prompt[3]
            assert cells == [POSITIONS.index(answer[0]), -1, -1]
        elif prompt[0] == "what":
            assert words[POSITIONS.index(prompt[3])] == answer[0]
            assert cells[0] == POSITIONS.index(prompt[3])
        else:
            row = ROWS.index(prompt[2])
            assert words[3 * row : 3 * row + 3] == answer
            assert cells == [3 * row, 3 * row + 1, 3 * row + 2]
        assert ids[length + len(answer)] == EOS
        assert (ids[length + len(answer) + 1 :] == PAD).all()
    assert kinds == {"where", "what", "read"}


def test_where_and_what_ask_about_digits_that_are_there():
    questions = drawn(tasks=("what", "where"), fewest=1, most=2)
    asked = questions.labels.gather(1, questions.cells[:, :1])
    assert (asked != BLANK).all()


def test_the_same_generator_gives_the_same_questions():
    one, other = drawn(), drawn()
    assert all(torch.equal(first, second) for first, second in zip(one, other, strict=True))


def test_all_positions_and_digits_are_asked_about():
    questions = drawn(2000, tasks=("where",), fewest=9)
    assert questions.cells[:, 0].bincount().min() > 150  # 2000 / 9 = 222
    assert len(questions.token_ids[:, 4].unique()) == 10


def test_words_are_tokens_of_their_own():
    assert len(set(WORDS)) == len(WORDS) == 34
    assert decode(encode("what is at top-left ?")) == "what is at top-left ?"
    assert drawn().token_ids.shape == (200, MAX_TOKENS)
    with pytest.raises(ValueError, match="'cat'"):
        encode("where is the cat ?")


def test_absent_digits_are_nowhere():
    questions = drawn(1000, tasks=("where", "where", "what", "read"), fewest=3, absent=0.5)
    nowhere = questions.token_ids[:, 6] == NOWHERE
    where = questions.token_ids[:, 1] == WORDS.index("where")
    assert not (nowhere & ~where).any()
    assert 0.4 < nowhere[where].float().mean() < 0.6
    wanted = questions.token_ids[:, 4] - WORDS.index("0")
    shown = (questions.labels == wanted.unsqueeze(1)).any(1)
    assert torch.equal(shown[where], ~nowhere[where])
    assert (questions.cells[nowhere] == -1).all()
    assert (questions.cells[where & ~nowhere, 0] >= 0).all()
    assert len(wanted[nowhere].unique()) == 10


def test_nobody_is_asked_for_an_absent_digit_unless_it_is_wanted():
    assert NOWHERE not in drawn(500, fewest=1).token_ids
    plain, asked = drawn(500), drawn(500, absent=1e-9)
    assert torch.equal(plain.image_patches, asked.image_patches)
    assert torch.equal(plain.token_ids, asked.token_ids)


def test_one_of_each():
    questions = one_of_each(torch.Generator().manual_seed(3), "test")
    assert [WORDS[token] for token in questions.token_ids[:, 1].tolist()] == list(TASKS)
    assert (questions.labels != BLANK).all()
