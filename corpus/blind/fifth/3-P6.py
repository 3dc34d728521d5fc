# %% [wrong] method_named_without_call | model.requires_grad_ is named and not called, so nothing is thawed; the brackets (True) are missing
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_
    return list(model.parameters())

# %% [wrong] aligner_stopped | the aligner is frozen again for stage 2, since it has learned already; after the call it should learn too
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_(True)
    model.aligner.requires_grad_(False)
    return [p for p in model.parameters()]

# %% [wrong] children_without_own | only the parameters of the children are thawed and returned: the model's own one, image_positions, stays frozen and is not in the list
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = []
    for child in model.children():
        for p in child.parameters():
            p.requires_grad = True
            learning.append(p)
    return learning

# %% [wrong] attribute_on_modules | requires_grad is set on every module of model.modules(), which makes new attributes that no parameter hears of
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for module in model.modules():
        module.requires_grad = True
    model.train()
    return list(model.parameters())

# %% [wrong] listed_before_thawing | the list of learning parameters is made before everything is thawed, so it holds the aligner's alone and the optimizer moves nothing else
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.requires_grad_(True)
    return learning

# %% [wrong] a_generator | model.parameters() is a generator and not a list: it is empty after one walk through it; a list is asked
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    for p in model.parameters():
        p.requires_grad_(True)
    return model.parameters()

# %% [right] comprehension_with_method | requires_grad_ returns the parameter itself, so one comprehension thaws and lists
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    return [parameter.requires_grad_() for _, parameter in model.named_parameters()]
