# %% [wrong] flag_on_modules | requires_grad = True is set on each module; modules have no such attribute, Python makes a new one, and no parameter hears of it
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for module in model.modules():
        module.requires_grad = True
    return list(model.parameters())

# %% [wrong] aligner_left_out | The aligner's parameters are left out of the list, as if they were done after stage 1: the optimizer never moves them, though they must learn too
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_(True)
    return [p for name, p in model.named_parameters() if not name.startswith("aligner")]

# %% [wrong] children_only | Only the child modules are thawed and listed; parameters of the model itself, such as image_positions, belong to no child and stay frozen
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = []
    for child in model.children():
        child.requires_grad_(True)
        learning.extend(child.parameters())
    return learning

# %% [wrong] list_too_early | The list of learning parameters is made before the model is thawed, so it holds the aligner's alone, and the optimizer updates nothing else
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [p for p in model.parameters() if p.requires_grad]
    model.requires_grad_(True)
    return learning

# %% [wrong] toggled | requires_grad is turned round for each parameter, which freezes the aligner, the only part that was learning
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for p in model.parameters():
        p.requires_grad = not p.requires_grad
    return list(model.parameters())

# %% [wrong] copies_returned | The list holds detached copies of the parameters, so the optimizer moves tensors that the model does not use
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_()
    return [nn.Parameter(p.detach().clone()) for p in model.parameters()]

# %% [right] thaw_and_collect | each parameter is thawed where it is collected
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    return [parameter.requires_grad_(True) for parameter in model.parameters()]
