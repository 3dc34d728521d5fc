# %% [right] named_one_by_one | right
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = []
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            parameter.requires_grad = True
        learning.append(parameter)
    return learning

# %% [wrong] newly_freed_only | Only the parameters that were frozen before are returned, so the aligner is missing in the optimizer.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    frozen = [parameter for parameter in model.parameters() if not parameter.requires_grad]
    for parameter in frozen:
        parameter.requires_grad_(True)
    return frozen

# %% [wrong] list_before_unfreezing | The list of learning parameters is made before the model is unfrozen, so it holds only the aligner's.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.requires_grad_(True)
    return learning

# %% [wrong] data_requires_grad | requires_grad is set on parameter.data, a detached tensor, so the parameters stay frozen.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for parameter in model.parameters():
        parameter.data.requires_grad = True
    return list(model.parameters())

# %% [wrong] own_parameters_only | parameters(recurse=False) reaches only the parameters of the model itself, not those of its layers.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for parameter in model.parameters(recurse=False):
        parameter.requires_grad_()
    return list(model.parameters())

# %% [wrong] train_mode | model.train() is taken for the switch that lets the parameters learn; requires_grad stays False.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.train()
    return list(model.parameters())

# %% [wrong] compared_not_assigned | `==` compares and does not assign, so nothing is unfrozen.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for parameter in model.parameters():
        parameter.requires_grad == True
    return [parameter for parameter in model.parameters()]

# %% [wrong] modules_attribute | requires_grad is set as an attribute on each child module, where no parameter hears of it.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for part in model.children():
        part.requires_grad = True
    return list(model.parameters())

# %% [wrong] copy_unfrozen | A deep copy of the model is unfrozen and its parameters are returned, so the model itself does not learn.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    fresh = deepcopy(model)
    fresh.requires_grad_(True)
    return list(fresh.parameters())

# %% [wrong] aligner_frozen_in_exchange | The aligner is frozen again when the rest begins to learn.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_(True)
    model.aligner.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]
