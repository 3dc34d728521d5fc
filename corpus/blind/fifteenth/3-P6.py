# %% [wrong] the_aligner_is_left_out | Only the parameters that were frozen are collected and returned, so the optimizer never gets the aligner. All parameters learn in stage 2, the aligner's too.
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = []
    for parameter in model.parameters():
        if not parameter.requires_grad:
            parameter.requires_grad_(True)
            learning.append(parameter)
    return learning


# %% [wrong] only_the_submodules_thaw | The model's parts are thawed one by one, and a parameter that belongs to the model itself, such as image_positions, stays frozen. Thaw the whole model: model.requires_grad_(True).
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for part in model.children():
        part.requires_grad_(True)
    return list(model.parameters())
