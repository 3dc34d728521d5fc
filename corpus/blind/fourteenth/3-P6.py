# %% [wrong] only_the_thawed_are_returned | The list holds the parameters that were frozen before, and lacks those that learned already.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    thawed = [parameter for parameter in model.parameters() if not parameter.requires_grad]
    for parameter in thawed:
        parameter.requires_grad_(True)
    return thawed

# %% [wrong] copies_for_the_optimizer | The list holds fresh copies of the parameters, so the optimizer would move the copies, and the model stays as it is.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_(True)
    return [nn.Parameter(parameter.detach().clone()) for parameter in model.parameters()]

# %% [wrong] own_parameters_without_the_parts | parameters(recurse=False) gives only what the model holds itself, nothing of its parts: nothing is thawed.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for parameter in model.parameters(recurse=False):
        parameter.requires_grad = True
    return list(model.parameters())
