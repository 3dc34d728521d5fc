# %% [wrong] children_alone | The loop goes over the model's children, so parameters that belong to the model itself, such as image_positions, stay frozen; model.requires_grad_(True) reaches all.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for part in model.children():
        part.requires_grad_(True)
    return list(model.parameters())

# %% [wrong] list_made_too_early | The list of the parameters that require a gradient is made before they are thawed, so it holds the aligner's alone, and the optimizer never moves the others.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [p for p in model.parameters() if p.requires_grad]
    model.requires_grad_(True)
    return learning

# %% [wrong] copies_for_the_optimizer | The list holds clones that require a gradient and not the model's own parameters; the optimizer moves the copies, the model stays as it is, and its parameters stay frozen.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    return [nn.Parameter(p.detach().clone(), requires_grad=True) for p in model.parameters()]

# %% [wrong] training_mode_is_no_thawing | model.train() switches dropout and the like and leaves requires_grad alone, so all parameters but the aligner's stay frozen.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.train()
    return list(model.parameters())

# %% [wrong] weights_without_biases | Only parameters whose name ends in "weight" are thawed and returned; the biases and image_positions stay frozen.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    chosen = []
    for name, parameter in model.named_parameters():
        if name.endswith("weight"):
            parameter.requires_grad_(True)
            chosen.append(parameter)
    return chosen

# %% [wrong] method_not_called | model.requires_grad_ stands there without brackets, so the method is only named and not called, and nothing is thawed.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_
    return list(model.parameters())

# %% [right] thawed_one_by_one | each parameter is thawed in the comprehension itself, since requires_grad_ returns the parameter
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    return [parameter.requires_grad_() for parameter in model.parameters()]
