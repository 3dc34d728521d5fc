# %% [wrong] children_only | The loop goes over model.children() and thaws each module. A parameter that belongs to the model itself, as image_positions does, is in no child. It stays frozen and is missing in the list.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = []
    for child in model.children():
        child.requires_grad_(True)
        learning.extend(child.parameters())
    return learning

# %% [wrong] generator_used_up | model.parameters() is a generator, and the loop has used it up when the list is made of it. It should be asked for again. Everything is thawed, but the list is empty, and the optimizer refuses it.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    parameters = model.parameters()
    for parameter in parameters:
        parameter.requires_grad = True
    return list(parameters)

# %% [wrong] list_made_before_the_thaw | The list of those that learn is made while everything but the aligner is still frozen. It should be made after the thaw. All parameters require gradients, but the optimizer gets the aligner alone.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [p for p in model.parameters() if p.requires_grad]
    model.requires_grad_(True)
    return learning

# %% [wrong] two_equals_signs | requires_grad is compared with True, and not set to it: two equals signs. It should be an assignment. Nothing is thawed, and the list holds frozen parameters.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    every = list(model.parameters())
    for one in every:
        one.requires_grad == True
    return every

# %% [wrong] aligner_has_learned_enough | The aligner is left out and frozen, since stage 1 has trained it. The aligner's parameters must learn in stage 2, too. They are missing in the list.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    chosen = []
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(not name.startswith("aligner"))
        if parameter.requires_grad:
            chosen.append(parameter)
    return chosen

# %% [wrong] values_of_the_state_dict | The list is made of the values of the state dict. These are detached tensors and no parameters. The optimizer gets tensors that never have a gradient, and nothing learns.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for module in model.modules():
        module.requires_grad_()
    return [*model.state_dict().values()]

# %% [right] map_over_parameters | Uses that requires_grad_ returns the parameter itself, in a map over all parameters.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    return [*map(lambda parameter: parameter.requires_grad_(), model.parameters(recurse=True))]
