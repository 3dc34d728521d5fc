# %% [wrong] children_only | Calls requires_grad_ on the child modules. A parameter that hangs directly on the model (image_positions in PocketVLM) belongs to no child and stays frozen.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for name, child in model.named_children():
        child.requires_grad_(True)
    return list(model.parameters())


# %% [wrong] trainable_before_thaw | Collects the parameters that require gradients before thawing. The list holds the aligner alone, so the optimizer never moves the rest.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [p for p in model.parameters() if p.requires_grad]
    model.requires_grad_(True)
    return learning


# %% [wrong] comparison_instead_of_assignment | `==` compares and sets nothing: every parameter stays as frozen as it was, and the full list only looks like a repair.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    params = []
    for module in model.modules():
        for p in module.parameters(recurse=False):
            p.requires_grad == True
            params.append(p)
    return params


# %% [wrong] aligner_left_out | Treats stage 2 as "everything but the aligner": freezes it and leaves it out of the list, although the text says that the aligner has to learn, too.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    chosen = []
    for name, parameter in model.named_parameters():
        learns = not name.startswith("aligner")
        parameter.requires_grad_(learns)
        if learns:
            chosen.append(parameter)
    return chosen


# %% [wrong] named_pairs | Returns list(model.named_parameters()): pairs of name and tensor, not the parameters that the optimizer is to get.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_()
    return [*model.named_parameters()]


# %% [right] map_over_parameters | requires_grad_ returns the tensor itself, so one comprehension both thaws and collects.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    return [parameter.requires_grad_(True) for _, parameter in model.named_parameters()]
