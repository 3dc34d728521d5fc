"""The explorer: a trained model in one HTML file.

A browser is enough to play with it: no Python, no network. The page computes what `MiniVLM(**MODEL)` computes. It takes
the parameters by name, so it does not matter how the model was written. It also takes a few answers of the model, and
compares its own with them when it is opened.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from math import prod
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from attention.data.digits import _MEAN, _STD, POSITIONS, digits
from attention.data.tokens import BOS, EOS, PROMPT_LENGTHS, ROWS, TASKS, WORDS, draw_questions
from attention.experiments.recipe import MODEL
from attention.plots.explorer_page import PAGE

WITNESSES = 4  # questions of each kind that the page compares its own answers with


def export_explorer(models: nn.Module | Mapping[str, nn.Module], path: str | Path = "explorer.html") -> Path:
    """Write the page with one model, or with several by name; return its path.

    Raises:
        ValueError: a model is not a `MiniVLM(**MODEL)`: a parameter is missing, unknown, of another shape or not finite.
    """
    models = {"trained": models} if isinstance(models, nn.Module) else models
    pixels = (digits("test").patches * _STD + _MEAN).mul(16).round().to(torch.uint8)
    data = {
        "sizes": MODEL,
        "words": WORDS,
        "positions": POSITIONS,
        "rows": ROWS,
        "begin": BOS,
        "end": EOS,
        "mean": _MEAN,
        "deviation": _STD,
        "labels": digits("test").labels.tolist(),
        "pixels": _base64(pixels.numpy()),
        "tensors": list(parameter_shapes().items()),
        "models": [
            {"name": name, "weights": _weights(name, model), "witnesses": _witnesses(model)}
            for name, model in models.items()
        ],
    }
    path = Path(path)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    path.write_text(PAGE.replace("{{data}}", text), "utf-8")
    return path


def models_of(path: str | Path) -> dict[str, dict[str, Tensor]]:
    """Return the models of a page: the parameters of each, by name."""
    text = Path(path).read_text("utf-8").partition('id="data">')[2].partition("</script>")[0]
    shapes = parameter_shapes()
    models = {}
    for held in json.loads(text)["models"]:
        numbers = torch.from_numpy(np.frombuffer(b64decode(held["weights"]), "<f4").copy())
        parts = numbers.split([prod(shape) for shape in shapes.values()])
        models[held["name"]] = {name: part.reshape(shapes[name]) for name, part in zip(shapes, parts, strict=True)}
    return models


def parameter_shapes() -> dict[str, tuple[int, ...]]:
    """Return the parameters of `MiniVLM(**MODEL)` and their shapes, by name.

    They are in the order in which the page reads them.
    """
    d_model, words, last = MODEL["d_model"], MODEL["vocab_size"], MODEL["num_layers"] - 1

    def layers(name: str, d_in: int, d_hidden: int) -> dict[str, tuple[int, ...]]:
        return {
            f"{name}.0.weight": (d_hidden, d_in),
            f"{name}.0.bias": (d_hidden,),
            f"{name}.2.weight": (d_model, d_hidden),
            f"{name}.2.bias": (d_model,),
        }

    def norm(name: str) -> dict[str, tuple[int, ...]]:
        return {f"{name}.weight": (d_model,), f"{name}.bias": (d_model,)}

    shapes: dict[str, tuple[int, ...]] = layers("aligner", MODEL["d_vision"], d_model)
    shapes |= {"image_positions.embedding": (MODEL["num_patches"], d_model)} | norm("image_norm")
    shapes |= {"embedding.weight": (words, d_model)}
    shapes |= {"text_positions.embedding": (MODEL["max_tokens"], d_model)}
    for number in range(MODEL["num_layers"]):
        for step, part in enumerate(("self_attn", "cross_attn") if number == last else ("self_attn",), 1):
            shapes |= norm(f"blocks.{number}.norm{step}")
            shapes |= {f"blocks.{number}.{part}.W_{which}.weight": (d_model, d_model) for which in "QKVO"}
        shapes |= norm(f"blocks.{number}.norm3") | layers(f"blocks.{number}.ffn", d_model, MODEL["d_ff"])
    return shapes | norm("norm") | {"head.weight": (words, d_model)}


def _weights(name: str, model: nn.Module) -> str:
    """Return all parameters one after the other, as base64.

    Raises:
        ValueError: they are not those of the lesson's model.
    """
    parameters = dict(model.named_parameters())
    if fault := _fault(parameters):
        raise ValueError(f"the model {name!r} cannot be shown: {fault}. The explorer shows a MiniVLM(**MODEL).")
    numbers = torch.cat([parameters[wanted].detach().flatten().float().cpu() for wanted in parameter_shapes()])
    return _base64(numbers.numpy().astype("<f4"))


def _fault(parameters: Mapping[str, Tensor]) -> str | None:
    """Return what the page cannot compute with, or None."""
    shapes = parameter_shapes()
    for name, shape in shapes.items():
        if name not in parameters:
            return f"it has no parameter {name!r}"
        if tuple(parameters[name].shape) != shape:
            return f"{name!r} is {tuple(parameters[name].shape)}, and the page computes with {shape}"
        if not parameters[name].isfinite().all():
            return f"{name!r} holds numbers that are not finite; train the model again"
    unknown = [name for name in parameters if name not in shapes]
    return f"it has a parameter {unknown[0]!r}, which the page does not compute with" if unknown else None


def _witnesses(model: nn.Module) -> list[dict]:
    """Return some questions with the model's own scores for the next word, each about nine digits of the page."""
    generator = torch.Generator().manual_seed(0)
    device = next(model.parameters()).device
    witnesses = []
    for task, length in zip(TASKS, PROMPT_LENGTHS, strict=True):
        asked = draw_questions(WITNESSES, generator, "test", (task,), fewest=9)
        with torch.no_grad():
            logits = model(asked.token_ids[:, :length].to(device), asked.image_patches.to(device))[0][:, -1]
        for ids, scene, scores in zip(asked.token_ids, asked.image_patches, logits, strict=True):
            witnesses.append(
                {
                    "tokens": ids[:length].tolist(),
                    "digits": _shown_digits(scene),
                    "logits": [round(score, 6) for score in scores.tolist()],
                }
            )
    return witnesses


def _shown_digits(scene: Tensor) -> list[int]:
    """Return which digits of the test split a scene (9, 64) shows."""
    return (scene.unsqueeze(1) == digits("test").patches).all(-1).int().argmax(1).tolist()


def _base64(numbers: np.ndarray) -> str:
    return b64encode(numbers.tobytes()).decode()
