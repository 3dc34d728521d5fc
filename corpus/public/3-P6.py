# %% [right] loop_sets_requires_grad | for p in parameters: p.requires_grad = True, after haotian-liu/LLaVA (train.py unfreezing)
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    trainable = []
    for p in model.parameters():
        p.requires_grad = True
        trainable.append(p)
    return trainable


# %% [right] module_requires_grad_underscore | model.requires_grad_(True), list(parameters()), after torchvision finetuning tutorials
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.requires_grad_(True)
    return list(model.parameters())


# %% [right] unfreeze_module_by_module_with_train | each module set to train and its own parameters unfrozen, then filter by requires_grad, after fastai style unfreeze (unsure: whether the mode may change)
def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    model.train()
    for module in model.modules():
        for param in module.parameters(recurse=False):
            param.requires_grad_(True)
    return list(filter(lambda p: p.requires_grad, model.parameters()))
