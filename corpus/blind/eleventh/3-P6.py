# %% [wrong] list_made_before_thawing | The list is made while everything but the aligner is still frozen, and only then is the model thawed. So the optimizer gets the aligner's parameters alone, and nothing else learns.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [p for p in model.parameters() if p.requires_grad]
    model.requires_grad_(True)
    return learning

# %% [wrong] children_alone | Each child module is thawed. Parameters that belong to the model itself, such as image_positions, are in no child and stay frozen, though they are in the list.
def start_stage_two(model):
    for child in model.children():
        child.requires_grad_(True)
    return list(model.parameters())

# %% [wrong] assigns_to_the_method | `parameter.requires_grad_ = True` puts the value in place of the function with the underscore and calls nothing. All frozen parameters stay frozen, and only the aligner learns.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    parameters = []
    for parameter in model.parameters():
        parameter.requires_grad_ = True
        parameters.append(parameter)
    return parameters

# %% [wrong] freezes_the_aligner_in_turn | Everything is thawed but the aligner, which has had its turn in stage 1, is frozen now. The text wants every parameter to learn, the aligner's too.
def start_stage_two(model):
    for name, p in model.named_parameters():
        p.requires_grad_(not name.startswith("aligner"))
    return [p for p in model.parameters()]

# %% [wrong] hands_out_the_state_dict | The model is thawed, but the list holds the tensors of state_dict(). These are detached, no parameters of the model: they get no gradient, and the optimizer finds nothing to do.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    """Let every parameter of a frozen model learn again; returns them all."""
    model.train()
    model.requires_grad_(True)
    return list(model.state_dict().values())

# %% [right] thaws_one_by_one_through_apply | Goes through all modules with model.apply and thaws the parameters that each one owns itself, then unpacks the list.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    def thaw(module):
        for own in module.parameters(recurse=False):
            own.requires_grad_()

    model.apply(thaw)
    return [*model.parameters()]
