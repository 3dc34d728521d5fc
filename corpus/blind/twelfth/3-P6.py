# %% [wrong] generator_used_up | model.parameters() is a generator; the loop that unfreezes uses it up, so list() of it afterwards is empty: everything requires gradients, but the optimizer gets no parameters
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    parameters = model.parameters()
    for parameter in parameters:
        parameter.requires_grad = True
    return list(parameters)


# %% [wrong] collected_before_unfreezing | the list of learning parameters is made before the model is unfrozen, so it holds only those of the aligner; the others get gradients, but no optimizer moves them
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [p for p in model.parameters() if p.requires_grad]
    model.requires_grad_(True)
    return learning


# %% [wrong] children_only | goes through the child modules and misses parameters that belong to the model itself (here image_positions): they stay frozen and are not in the list
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    result = []
    for name, module in model.named_children():
        for p in module.parameters():
            p.requires_grad_()
            result.append(p)
    return result


# %% [wrong] toggled | flips requires_grad instead of setting it: the frozen ones begin to learn, but the aligner, which was learning, is frozen now
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    def flip(p):
        return p.requires_grad_(not p.requires_grad)

    return [flip(p) for p in model.parameters()]


# %% [wrong] new_parameters | wraps each tensor in a new nn.Parameter for the list: the optimizer gets objects that are not the model's (they share memory, but never get a gradient), and the model's own stay frozen
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    return [nn.Parameter(weight.data, requires_grad=True) for weight in model.state_dict(keep_vars=True).values()]


# %% [right] apply_per_module | visits every submodule with model.apply and unfreezes only what hangs on it directly
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    def thaw(module: nn.Module) -> None:
        for parameter in module.parameters(recurse=False):
            parameter.requires_grad_(True)

    model.apply(thaw)
    return [parameter for _, parameter in model.named_parameters()]
