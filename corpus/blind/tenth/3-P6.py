# %% [wrong] generator_is_returned_used_up | The parameters are unfrozen in a loop over an iterator that is then returned. It is used up after the loop, so the list is empty and the optimizer has nothing to train (it raises an error).
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    parameters = model.parameters()
    for p in parameters:
        p.requires_grad_(True)
    return list(parameters)

# %% [wrong] attribute_of_each_child | requires_grad is set on the sub-modules, one level down from the broken start. Modules have no such attribute either, so no parameter hears of it and only the aligner learns.
def start_stage_two(model):
    for module in model.modules():
        module.requires_grad = True
    return [p for p in model.parameters() if p.requires_grad]

# %% [wrong] everything_but_the_aligner | The aligner is frozen for stage 2 and left out of the list, as in a recipe where each stage trains another part. The text says that every parameter learns after the call, the aligner's too.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_(True)
    model.aligner.requires_grad_(False)
    return [p for name, p in model.named_parameters() if not name.startswith("aligner")]

# %% [wrong] list_made_before_unfreezing | The list of what requires gradients is made before requires_grad_ is called. All parameters get gradients, but only those of the aligner are in the list, so the optimizer moves nothing else.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.requires_grad_()
    return learning

# %% [wrong] weights_only | Only parameters whose name ends in "weight" are unfrozen and returned. Biases stay frozen, and so do the image positions, which are a parameter of another name.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    result = []
    for name, param in model.named_parameters():
        if name.endswith("weight"):
            param.requires_grad = True
            result.append(param)
    return result

# %% [right] one_parameter_at_a_time_by_map | Each parameter's own requires_grad_ is called while the list is made; it returns the parameter itself.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    return [*map(nn.Parameter.requires_grad_, dict(model.named_parameters()).values())]
