# %% [wrong] parts_without_the_models_own | Only the children of the model are unfrozen; a parameter that belongs to the model itself (image_positions) is no child and stays frozen. It should be model.requires_grad_(True), or a loop over parameters().
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for part in model.children():
        part.requires_grad_(True)
    return list(model.parameters())

# %% [wrong] turned_round | requires_grad is turned round for every parameter; it should be set to True. What was frozen learns, and the aligner, which learned, is frozen.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for parameter in model.parameters():
        parameter.requires_grad = not parameter.requires_grad
    return list(model.parameters())

# %% [wrong] list_made_too_early | The list of those that learn is made before anything is unfrozen; it should be made afterwards. It holds the aligner alone, so the optimizer leaves all else as it is.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.requires_grad_(True)
    return learning

# %% [wrong] named_and_not_called | parameter.requires_grad_ is written without brackets, so nothing is called; it should be requires_grad_(). Everything but the aligner stays frozen.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = []
    for parameter in model.parameters():
        parameter.requires_grad_
        learning.append(parameter)
    return learning

# %% [wrong] copies_for_the_optimizer | The list holds new parameters with copies of the numbers; it should hold the model's own. The optimizer moves the copies, which get no gradient, and the model stands still.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_(True)
    return [nn.Parameter(parameter.detach().clone()) for parameter in model.parameters()]

# %% [wrong] training_mode_is_not_unfreezing | model.train() sets the mode (for dropout), and unfreezes nothing; it should be model.requires_grad_(True). The parameters stay frozen.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.train()
    return list(model.parameters())

# %% [right] unfrozen_on_the_way | requires_grad_ returns the parameter itself, so one comprehension unfreezes and collects.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    return [parameter.requires_grad_(True) for parameter in model.parameters()]
