"""Write source/attention/real/real_maps.txt: maps of two photos as the published file itself computes them.

    .venv/bin/python assets/real_maps.py

It needs the extra `real`, and the published weights: `make real`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from attention.real.real_eyes import MEAN, SPREAD, find_file
from attention.real.real_maps import STORED_LAYERS
from attention.real.real_photos import sample_pictures

MAPS = Path(__file__).parents[1] / "source" / "attention" / "real" / "real_maps.txt"


def maps_of_the_file() -> dict[str, np.ndarray]:
    """All maps (12, 6, 257, 257) of both photos: what the file's twelve softmaxes give."""
    model = onnx.load(str(find_file()))
    outputs = [node.output[0] for node in model.graph.node if node.op_type == "Softmax"]
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in outputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    mean, spread = (torch.tensor(each).reshape(3, 1, 1) for each in (MEAN, SPREAD))
    return {
        name: np.stack(session.run(outputs, {"input_image": ((picture - mean) / spread)[None].numpy()}))[:, 0]
        for name, picture in sample_pictures().items()
    }


def as_text(maps: dict[str, np.ndarray]) -> str:
    """The rows of [CLS] in the stored layers, a line for each photo, layer and head."""
    rows = [maps[name][layer, head, 0] for name in maps for layer in STORED_LAYERS for head in range(6)]
    return "".join(" ".join(str(round(100_000 * float(weight))) for weight in row) + "\n" for row in rows)


if __name__ == "__main__":
    MAPS.write_text(as_text(maps_of_the_file()), "utf-8")
