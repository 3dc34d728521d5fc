# %% [wrong] filtered_too_early | The list is made before the parameters are freed, so what was frozen is not in it.
def start_stage_two(model):
    learning = [p for p in model.parameters() if p.requires_grad]
    model.requires_grad_(True)
    return learning


# %% [wrong] attribute_of_each_module | Sets `requires_grad` on every module, not on the parameters: modules have no such attribute, and nothing is freed.
def start_stage_two(model):
    for module in model.modules():
        module.requires_grad = True
    return list(model.parameters())


# %% [wrong] aligner_left_out | Frees everything, and leaves the aligner out of the list for the optimizer.
def start_stage_two(model):
    model.requires_grad_(True)
    return [p for name, p in model.named_parameters() if not name.startswith("aligner")]


# %% [wrong] aligner_only | Frees the aligner alone, which was the one thing that was not frozen; the rest stays frozen.
def start_stage_two(model):
    model.aligner.requires_grad_(True)
    return list(model.parameters())


# %% [wrong] training_mode_is_no_freeze | Confuses the mode with freezing: `model.train()` changes no `requires_grad`.
def start_stage_two(model):
    model.train()
    parameters = list(model.parameters())
    return parameters


# %% [wrong] names_and_parameters | Returns pairs of name and parameter in place of the parameters.
def start_stage_two(model):
    for name, p in model.named_parameters():
        p.requires_grad_(True)
    return list(model.named_parameters())


# %% [right] comprehension_that_frees | `requires_grad_` of a parameter returns the parameter, so one comprehension frees and lists.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    return [parameter.requires_grad_() for parameter in model.parameters()]
