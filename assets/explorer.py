"""The explorer with the reference's model: train it as lesson 3 does, and write assets/explorer.html.

The same bytes come out on the same machine; another processor rounds differently, and 800 steps enlarge the difference.
So the page is made when the model or the page changes, not with every build: `python assets/explorer.py --page` keeps
the numbers of the models that it holds, and puts the present page around them.
"""

import argparse
from copy import deepcopy
from pathlib import Path

import torch
from attention.experiments.recipe import MODEL, teach_nowhere, train
from attention.plots.explorer import export_explorer, models_of
from attention.training import train_step
from attention.vlm import MiniVLM
from torch import nn

SEED = 0
PAGE = Path(__file__).with_name("explorer.html")


def trained_models() -> dict[str, nn.Module]:
    """Lesson 3's model as it is after training, and after the 200 steps that teach it to say "nowhere"."""
    torch.set_num_threads(1)
    model = MiniVLM(**MODEL)
    train(model, train_step, SEED)
    cautious = deepcopy(model)
    teach_nowhere(cautious, train_step, SEED)
    return {"trained": model, "taught to say nowhere": cautious}


def kept_models() -> dict[str, nn.Module]:
    """The models that the page holds now."""
    models = {}
    for name, state in models_of(PAGE).items():
        models[name] = MiniVLM(**MODEL)
        models[name].load_state_dict(state)
    return models


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--page", action="store_true", help="keep the numbers of the models")
    export_explorer(kept_models() if parser.parse_args().page else trained_models(), PAGE)


if __name__ == "__main__":
    main()
