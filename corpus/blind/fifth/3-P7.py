# %% [wrong] inverse_for_the_images | questions are indexed with the order and the images with its inverse (argsort), so they are paired wrongly again
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches[order.argsort()]

# %% [wrong] without_the_generator | randperm draws from the global state and not from the generator, so the same seed does not give the same training
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(token_ids.shape[0])
    return token_ids[order], image_patches[order]

# %% [wrong] nothing_shuffled | both come back in the order in which they came; the pairs are right, but another order is asked
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    # keep question and image together
    return token_ids.clone(), image_patches.clone()

# %% [wrong] drawn_with_replacement | randint draws with replacement: some questions come twice and others never; randperm is needed
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    n = len(token_ids)
    chosen = torch.randint(0, n, (n,), generator=generator)
    return token_ids[chosen], image_patches[chosen]

# %% [wrong] patches_shuffled | the order has the length of the patches and is applied to axis 1: the patches within each image change places, and the questions stay as they were
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(image_patches.shape[1], generator=generator)
    return token_ids, image_patches[:, order]

# %% [wrong] own_seed | a new generator with a fixed seed is made inside, so every epoch has the same order, whatever generator is handed in
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(0)
    idx = torch.randperm(len(token_ids), generator=g)
    return token_ids[idx], image_patches[idx]

# %% [right] sorted_random_keys | a random number for each question is drawn from the generator, and the order that sorts them serves both
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    keys = torch.rand(token_ids.shape[0], generator=generator, device=generator.device, dtype=torch.float64)
    order = keys.argsort()
    return tuple(side.index_select(0, order.to(side.device)) for side in (token_ids, image_patches))
