"""Practice 3.P3: `start_stage_two`, which unfreezes a model that was frozen for its alignment."""

from collections.abc import Mapping
from copy import deepcopy

import torch
from attention.repairs import start_stage_two
from torch import Tensor, nn

from grader.declare.authoring import CheckSpec, Inputs, InputSampler, Value, edits, sizes, written_exercise
from grader.declare.probes import WrongForm


def draw_frozen(sampler: InputSampler, *, widths: list[int], depth: int, learns: str = "aligner") -> Inputs:
    """Draw numbers for the parameters of `frozen_model`.

    Args:
        widths: the width of the aligner's inputs, and that of its outputs.
        depth: the number of blocks.
        learns: the name of the part that is not frozen.
    """
    first, second = widths
    return {
        "learns": learns,
        "numbers": {
            "aligner": sampler.normal(second, first),
            "bias": sampler.normal(second),
            "blocks": [sampler.normal(second, second) for _ in range(depth)],
        },
    }


def frozen_model(numbers: Mapping, learns: str) -> nn.Module:
    """Return a model with an aligner, blocks that contain layers, and a single parameter.

    All its parameters are frozen, except the parameters of the part that `learns` names.
    """

    class Block(nn.Module):
        def __init__(self, weight: Tensor) -> None:
            super().__init__()
            self.ffn = nn.Sequential(nn.Linear(*weight.shape), nn.GELU())
            self.norm = nn.LayerNorm(len(weight))
            self.ffn[0].weight.data.copy_(weight)

    class Frozen(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.aligner = nn.Linear(*numbers["aligner"].shape[::-1])
            self.image_positions = nn.Parameter(numbers["bias"].clone())
            self.blocks = nn.ModuleList([Block(weight) for weight in numbers["blocks"]])
            self.aligner.weight.data.copy_(numbers["aligner"])

    model = Frozen().to(numbers["bias"].device)
    model.requires_grad_(False)
    model.aligner.requires_grad_(learns == "aligner")
    return model


def kind_of(one: Value) -> str:
    """Return a name for the kind of a member of the returned list.

    It is "tensors that learn", "tensors that do not learn", or the name of a type, such as
    "tuples".
    """
    if not isinstance(one, torch.Tensor):
        return f"{type(one).__name__}s"
    return "tensors that learn" if one.requires_grad else "tensors that do not learn"


def thawed(start_stage_two, numbers: Mapping, learns: str) -> Mapping[str, Value]:
    """Return which parameters are frozen after the call, and how the returned list differs from all parameters."""
    model = frozen_model(numbers, learns)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    returned = start_stage_two(model)
    if not isinstance(returned, (list, tuple)):
        raise WrongForm(f"got {type(returned).__name__}, expected a list of parameters")
    own, got = {id(one) for one in model.parameters()}, [id(one) for one in returned]
    return {
        "still frozen": [name for name, one in model.named_parameters() if not one.requires_grad],
        "the list contains": sorted(set(map(kind_of, returned))),
        "missing in the list": [name for name, one in model.named_parameters() if id(one) not in got],
        "strangers in the list": sum(one not in own for one in got),
        "twice in the list": len(got) - len(set(got)),
        "the numbers are as before": all(
            torch.equal(value, before[name]) for name, value in model.state_dict().items()
        ),
    }


FREEZE = written_exercise("3.P3 Repair a training that stands still", start_stage_two, (
    CheckSpec("values", 0, "every parameter learns, and is in the list once",
        examples=[sizes(widths=[3, 2], depth=1), sizes(widths=[2, 3], depth=1, learns="nothing")],
        trials=[sizes(widths=[5, 3], depth=2), sizes(widths=[2, 7], depth=3),
            sizes(widths=[3, 5], depth=1, learns="nothing")], probe=thawed),
),
    draw=draw_frozen,
    difficulty=2, minutes=8, review="Repair three trainings",
    mistakes=edits(start_stage_two, """
    sets_an_attribute: Your code sets an attribute of a module, which does not change its parameters: they are
        still frozen. Call the function for this, which has a name that ends in an underscore.
        model.requires_grad_(True)  →  model.requires_grad = True
        list(model.parameters())  →  [one for one in model.parameters() if one.requires_grad]
    lists_before_the_thaw: The list contains only the parameters that learned before, those of the aligner. First let
        all parameters learn, then make the list.
        model.requires_grad_(True)
            →  learning = [one for one in model.parameters() if one.requires_grad]; model.requires_grad_(True)
        list(model.parameters())  →  learning
    lists_without_a_thaw: The list contains every parameter, but most are still frozen. Call the function that
        lets all of them learn: its name ends in an underscore.
        model.requires_grad_(True)  →  pass
    only_what_was_frozen: The list contains only the parameters that were frozen. The aligner must also learn: list all
        parameters.
        model.requires_grad_(True)
            →  thawed = [one for one in model.parameters() if not one.requires_grad]; model.requires_grad_(True)
        list(model.parameters())  →  thawed
    aligner_is_left_out: Your code leaves out the aligner. It must also learn in stage 2, together with all other
        parameters.
        model.requires_grad_(True)  →  model.requires_grad_(True); model.aligner.requires_grad_(False)
        list(model.parameters())  →  [one for one in model.parameters() if one.requires_grad]
    aligner_not_listed: The aligner is missing from the list, but it must also learn in stage 2: list all parameters.
        list(model.parameters())  →  [one for name, one in model.named_parameters() if "aligner" not in name]
    aligner_frozen_now: The aligner is frozen now. It must also learn in stage 2, together with all other
        parameters.
        model.requires_grad_(True)  →  model.requires_grad_(True); model.aligner.requires_grad_(False)
    all_but_the_aligner_thaw: The aligner stays as it was, frozen or not. Let every parameter learn:
        model.requires_grad_(True).
        model.requires_grad_(True)
            →  [one.requires_grad_(True) for name, one in model.named_parameters() if "aligner" not in name]
    only_matrices: The list contains only parameters with two or more axes. Norms and every bias must also learn.
        list(model.parameters())  →  [one for one in model.parameters() if one.ndim > 1]
    only_the_outermost: In your code parts within other parts stay frozen. Use model.parameters(), which contains
        the parameters of all parts.
        model.requires_grad_(True)
            →  [one.requires_grad_(True) for part in (model, *model.children()) for one in
               part.parameters(recurse=False)]
        list(model.parameters())  →  [one for one in model.parameters() if one.requires_grad]
    only_the_parts: Your code misses the parameters that the model stores itself, outside its parts. Use
        model.parameters(), which contains all of them.
        model.requires_grad_(True)  →  [part.requires_grad_(True) for part in model.children()]
        list(model.parameters())  →  [one for part in model.children() for one in part.parameters()]
    only_the_parts_thaw: The parameters that the model stores itself, outside its parts, stay frozen. Call
        model.requires_grad_(True).
        model.requires_grad_(True)  →  [part.requires_grad_(True) for part in model.children()]
    turned_round: The parameters that learned before are frozen now, because each requires_grad was inverted. Let every
        parameter learn.
        model.requires_grad_(True)  →  [one.requires_grad_(not one.requires_grad) for one in model.parameters()]
    copies: Your list contains copies: the optimizer would change the copies, and the model would stay as it is.
        Return the parameters of the model itself.
        list(model.parameters())  →  [deepcopy(one.detach().clone()).requires_grad_(True) for one in model.parameters()]
    copies_without_a_thaw: Your list contains copies, and the parameters of the model are still frozen. Let the
        parameters of the model learn, and return these.
        model.requires_grad_(True)  →  pass
        list(model.parameters())  →  [deepcopy(one.detach().clone()).requires_grad_(True) for one in model.parameters()]
    pairs_with_names: The list contains pairs of a name and a parameter. The optimizer needs only the parameters.
        list(model.parameters())  →  list(model.named_parameters())
    tensors_of_the_state: The list contains the plain tensors of state_dict(), which get no gradient. Return the
        parameters.
        list(model.parameters())  →  list(model.state_dict().values())
    listed_twice: Your list contains some parameters more than once, because model.modules() contains the parts
        and also the parts of the parts. List each parameter once.
        list(model.parameters())  →  [one for part in model.modules() for one in part.parameters()]
""", deepcopy=deepcopy))  # fmt: skip
