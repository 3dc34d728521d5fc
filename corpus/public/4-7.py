# %% [right] no_grad_around_the_encoder_only | torch.no_grad around the encoder, the aligner outside, after haotian-liu/LLaVA (CLIPVisionTower.forward is under no_grad)
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        image_features = encoder(patches)
    return aligner(image_features)


# %% [right] detach_features | encoder output detached, after BYOL like code and Salesforce BLIP-2 (frozen vision encoder)
def image_tokens(encoder, aligner, patches):
    features = encoder(patches).detach()
    tokens = aligner(features)
    return tokens


# %% [right] set_grad_enabled_false | torch.set_grad_enabled(False) as a context, the features copied, after torchvision feature extraction tutorials
def image_tokens(encoder, aligner, patches):
    with torch.set_grad_enabled(False):
        image_embeds = encoder(patches)
    image_embeds = image_embeds.clone().detach()
    return aligner(image_embeds)


# %% [right] eval_and_no_grad_each_call | encoder.eval() before each use, as frozen towers do, after frozen vision towers (freeze_vit, disabled_train) (unsure: whether the mode of the encoder may change)
def image_tokens(encoder, aligner, patches):
    encoder.eval()
    with torch.no_grad():
        embeds = encoder(patches)
    return aligner(embeds)


# %% [right] requires_grad_off_on_the_encoder | the encoder's parameters frozen, no context at all, after frozen towers that set requires_grad to False (unsure: whether the encoder's flags may change)
def image_tokens(encoder, aligner, patches):
    for parameter in encoder.parameters():
        parameter.requires_grad = False
    return aligner(encoder(patches))
