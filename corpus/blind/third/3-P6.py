# %% [wrong] asked_before_thawed | Makes the list of those that require gradients before it thaws the rest: what was frozen is not in it.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.requires_grad_(True)
    return learning

# %% [wrong] attribute_of_the_parts | Sets requires_grad on every module, where it is a new attribute that no parameter hears of.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for part in model.modules():
        part.requires_grad = True
    return list(model.parameters())

# %% [wrong] all_but_the_aligner | Thaws everything but the aligner, "which has learned already"; it must learn, too.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    chosen = []
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("aligner" not in name)
        if parameter.requires_grad:
            chosen.append(parameter)
    return chosen

# %% [wrong] compared_not_set | Writes == in place of =, so requires_grad is compared and not set.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for parameter in model.parameters():
        parameter.requires_grad == True
    return list(model.parameters())

# %% [wrong] top_level_only | recurse=False gives only the parameters that belong to the model itself; those of its parts stay frozen.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    parameters = list(model.parameters(recurse=False))
    for parameter in parameters:
        parameter.requires_grad = True
    return parameters

# %% [wrong] train_mode_for_gradients | Takes training mode for what lets parameters learn: model.train() says nothing about requires_grad.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.train(True)
    return [parameter for parameter in model.parameters()]

# %% [right] dict_of_parameters | Goes over named_parameters as a dict and thaws each one by the function of the tensor, which returns it.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    by_name = dict(model.named_parameters())
    return [by_name[name].requires_grad_() for name in by_name]
