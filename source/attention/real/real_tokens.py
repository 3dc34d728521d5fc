"""Image tokens of the pretrained encoder: 384 numbers for each patch of two photos, without layers of ours.

Lesson 2 carries them to words. How they come about is the lab's part 0.
"""

from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from attention.real.real_eyes import INSTALL, MEAN, SPREAD, NoRealEyes, find_file
from attention.real.real_photos import sample_pictures


def real_tokens() -> dict[str, Tensor]:
    """Return the tokens (256, 384) of both pictures by name, after the last layer and its norm.

    The token of [CLS] is left out.

    Raises:
        NoRealEyes: the file, or one of the two programs that read and run it, is not installed; one line says how to get it.
    """
    path = find_file()
    try:
        import onnx
        import onnxruntime
    except ImportError:
        raise NoRealEyes(f"What runs the real weights is not installed: {INSTALL}") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(_without_decoder(path, onnx), options, providers=["CPUExecutionProvider"])
    pictures = {name: _normed(picture).unsqueeze(0).numpy() for name, picture in sample_pictures().items()}
    return {name: torch.tensor(session.run(None, {"input_image": one})[0][0]) for name, one in pictures.items()}


def pixels_of(picture: Tensor) -> Tensor:
    """Return what the model is given of each patch of a picture (3, 224, 224): (256, 588)."""
    return F.unfold(_normed(picture).unsqueeze(0), 14, stride=14)[0].T


def _normed(picture: Tensor) -> Tensor:
    mean, spread = (torch.tensor(each).reshape(3, 1, 1) for each in (MEAN, SPREAD))
    return (picture - mean) / spread


def _without_decoder(path: Path, onnx) -> bytes:
    """Return the published program, ending where [CLS] is cut off the tokens."""
    model = onnx.load(str(path))
    (patches,) = (node for node in model.graph.node if node.name == "/Slice")
    del model.graph.output[:]
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info(patches.output[0]))
    return model.SerializeToString()
