# %% [wrong] images_by_the_inverse | Orders the images by the inverse of the order of the questions, so they no longer belong together.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches[order.argsort()]

# %% [wrong] generator_forgotten | Draws the order from PyTorch's global generator: the same seed does not give the same training.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids))
    return token_ids[order], image_patches[order]

# %% [wrong] patches_shuffled | Orders the second axis of the images: it shuffles patches (or fails), and not the scenes.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(token_ids.shape[0], generator=generator)
    patch_order = torch.randperm(image_patches.shape[1], generator=generator)
    return token_ids[order], image_patches[order][:, patch_order]

# %% [wrong] drawn_with_replacement | Draws with randint, so some questions come twice and others not at all; another order has each once.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    n = len(token_ids)
    picked = torch.randint(n, (n,), generator=generator)
    return token_ids[picked], image_patches[picked]

# %% [wrong] images_stay | Shuffles the questions alone; the images stay in the old order.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(token_ids.size(0), generator=generator)
    token_ids = token_ids.index_select(0, order.to(token_ids.device))
    return token_ids, image_patches

# %% [wrong] reseeded_each_time | Seeds the generator anew in each call: every epoch gets the same order, and the caller's seed does not count.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    generator.manual_seed(0)
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches[order]

# %% [right] sorted_random_numbers | Sorts random numbers for the order, zips pairs together, and stacks them again.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.rand(len(token_ids), generator=generator).argsort().tolist()
    pairs = [(token_ids[place], image_patches[place]) for place in order]
    questions, images = zip(*pairs)
    return torch.stack(questions), torch.stack(images)
