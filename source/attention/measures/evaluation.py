"""Asking a trained model: how often it is right, where it looks, and what happens when the image changes.

Everything is measured on full scenes of digits that are not in the training set (their writers are: the digits
are split by image).
Axes: B questions, T tokens, S patches.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attention.data.digits import _MEAN, _STD, POSITIONS
from attention.data.tokens import (
    ANSWER_LENGTHS,
    EOS,
    NOWHERE,
    PROMPT_LENGTHS,
    TASKS,
    WORDS,
    Questions,
    decode,
    draw_questions,
    encode,
)

BLANK_PATCH = torch.full((64,), -_MEAN / _STD)


def held_out(task: str, count: int, seed: int = 7, split: str = "test", absent: float = 0.0) -> Questions:
    """Return questions of one kind about full scenes, by default of unseen images.

    `absent` as in `draw_questions`.
    """
    generator = torch.Generator().manual_seed(seed)
    return draw_questions(count, generator, split, (task,), fewest=9, most=9, absent=absent)


def prompt_of(task: str, questions: Questions) -> Tensor:
    """Return the prompts of questions of one kind: (B, P)."""
    return questions.token_ids[:, : PROMPT_LENGTHS[TASKS.index(task)]]


def answer_to(model: nn.Module, generate: Callable, text: str, image_patches: Tensor) -> str:
    """Return what the model says to one question about one scene (9, 64)."""
    device = next(model.parameters()).device
    prompt = encode(text).unsqueeze(0).to(device)
    token_ids = generate(model, prompt, image_patches.unsqueeze(0).to(device), max_new_tokens=4, eos_id=EOS)
    return decode(token_ids[0, prompt.shape[1] :])


def answers(model: nn.Module, generate: Callable, task: str, questions: Questions) -> Tensor:
    """Return the words that the model answers: (B, 1), or (B, 3) for "read"; −1 where it stopped too early."""
    device, words = next(model.parameters()).device, ANSWER_LENGTHS[TASKS.index(task)]
    prompt = prompt_of(task, questions).to(device)
    token_ids = generate(model, prompt, questions.image_patches.to(device), max_new_tokens=words + 1, eos_id=EOS)
    said = token_ids[:, prompt.shape[1] : prompt.shape[1] + words].cpu()
    return torch.nn.functional.pad(said, (0, words - said.shape[1]), value=-1)


def accuracy(model: nn.Module, generate: Callable, task: str, questions: Questions) -> float:
    """Return the share of questions with every word of the answer right."""
    start, words = PROMPT_LENGTHS[TASKS.index(task)], ANSWER_LENGTHS[TASKS.index(task)]
    truth = questions.token_ids[:, start : start + words]
    return (answers(model, generate, task, questions) == truth).all(1).float().mean().item()


def where_it_points(model: nn.Module, generate: Callable, questions: Questions) -> dict[str, float]:
    """Return the shares of answers to "where" that name a place, and that say "nowhere".

    What is left is no answer.
    """
    said = answers(model, generate, "where", questions)[:, 0]
    places = torch.tensor([WORDS.index(name) for name in POSITIONS])
    return {
        "a place": torch.isin(said, places).float().mean().item(),
        "nowhere": (said == NOWHERE).float().mean().item(),
    }


def looked(model: nn.Module, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return what happens in the last cross-attention, overheard while the model runs.

    Returns:
        tokens (B, T, d_model) and image_tokens (B, S, d_model) that it gets, weights (B, H, T, S) that it gives.
    """
    cross_attn, met, forward = model.blocks[-1].cross_attn, [], model.blocks[-1].cross_attn.forward

    def listen(tokens: Tensor, context: Tensor | None = None, *rest, **more):
        met.append((tokens, context))
        return forward(tokens, context, *rest, **more)

    device, training = next(model.parameters()).device, model.training
    cross_attn.forward = listen
    model.eval()
    try:
        with torch.no_grad():
            _, maps = model(token_ids.to(device), image_patches.to(device))
    finally:
        del cross_attn.forward
        model.train(training)
    return *met[0], maps[-1]


def every_map(model: nn.Module, token_ids: Tensor, image_patches: Tensor) -> dict[str, Tensor]:
    """Return all attention maps of one pass, by layer.

    Those over the words are (B, H, T, T), those over the image (B, H, T, S).
    """
    met, handles, training = {}, [], model.training
    for number, block in enumerate(model.blocks, 1):
        for part, over in (("self_attn", "words"), ("cross_attn", "image")):
            if (layer := getattr(block, part)) is not None:
                name = f"block {number}, {over}"
                handles.append(layer.register_forward_hook(lambda *given, name=name: met.update({name: given[-1][1]})))
    device = next(model.parameters()).device
    model.eval()
    try:
        with torch.no_grad():
            model(token_ids.to(device), image_patches.to(device))
    finally:
        for handle in handles:
            handle.remove()
        model.train(training)
    return met


def follow(model: nn.Module, text: str, image_patches: Tensor) -> dict[str, Tensor]:
    """Return what one question about one scene (9, 64) becomes on its way through a model of two blocks, by name."""
    parts = {
        "aligned": model.aligner,
        "image tokens": model.image_norm,
        "text tokens": model.text_positions,
        "block 1": model.blocks[0],
        "block 2": model.blocks[-1],
    }
    met, handles = {"patches": image_patches}, []
    for name, part in parts.items():

        def keep(part: nn.Module, given: tuple, made: object, name: str = name) -> None:
            met[name] = made

        handles.append(part.register_forward_hook(keep))
    device = next(model.parameters()).device
    try:
        with torch.no_grad():
            logits, maps = model(encode(text).unsqueeze(0).to(device), image_patches.unsqueeze(0).to(device))
    finally:
        for handle in handles:
            handle.remove()
    met = {name: made[0] if isinstance(made, tuple) else made for name, made in met.items()}
    met |= {"map": maps[-1], "logits": logits[:, -1]}
    return {name: made.cpu().squeeze(0) for name, made in met.items()}


def maps_by_cell(model: nn.Module, task: str, questions: Questions) -> Tensor:
    """Return square maps of the last cross-attention, (H, 9, 9).

    Row c is the mean map of the questions about cell c.
    """
    weights = looked(model, prompt_of(task, questions), questions.image_patches)[2][:, :, -1]
    return torch.stack([weights[questions.cells[:, 0] == cell].mean(0) for cell in range(9)], 1)


def on_target(maps: Tensor, cells: Tensor) -> float:
    """Return the grounding: the share of maps (B, S) whose largest value is on the cell (B,) that was asked about."""
    return (maps.argmax(-1).cpu() == cells.cpu()).float().mean().item()


def blank_patches(image_patches: Tensor, position: Tensor) -> Tensor:
    """Return a copy in which one patch of each scene, position (B,), is empty."""
    chosen = torch.arange(image_patches.shape[1]) == position.unsqueeze(1)
    return torch.where(chosen.unsqueeze(-1), BLANK_PATCH, image_patches)


def another_cell(cells: Tensor, seed: int = 7) -> Tensor:
    """Return for each scene a cell that is not the one in question."""
    generator = torch.Generator().manual_seed(seed)
    return (cells + torch.randint(1, 9, cells.shape, generator=generator)) % 9
