# %% [wrong] inverse_order | The images are indexed with order.argsort(), the inverse order, so questions and images part again (except for orders that are their own inverse)
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches[order.argsort()]

# %% [wrong] generator_unused | randperm is called without the generator, so the order comes from PyTorch's global state, and the same seed does not give the same training
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    perm = torch.randperm(token_ids.shape[0])
    return token_ids[perm], image_patches[perm]

# %% [wrong] with_replacement | torch.randint draws with replacement: some questions come twice and others never, so it is a bootstrap sample and not another order
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    n = len(token_ids)
    idx = torch.randint(n, (n,), generator=generator)
    return token_ids[idx], image_patches[idx]

# %% [wrong] second_axis | The order is drawn for the words, token_ids.shape[1], and applied to axis 1: the words within the questions are mixed, and with them the patches that have such a number
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(token_ids.shape[1], generator=generator)
    return token_ids[:, order], image_patches[:, order]

# %% [wrong] seed_fixed | A generator of its own with seed 0 draws the order, instead of the one handed in: every epoch gets the same order, whatever the seed
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(0)
    order = torch.randperm(len(image_patches), generator=rng)
    return token_ids.index_select(0, order), image_patches.index_select(0, order)

# %% [wrong] images_twice | The order is applied to the images twice, so they stand in another order than their questions
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    questions, scenes = token_ids[order], image_patches[order]
    return questions, scenes[order]

# %% [right] argsort_of_noise | one random number for each question, sorted; both are picked by the same order
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.rand(len(token_ids), generator=generator).argsort()
    return tuple(tensor[order.to(tensor.device)] for tensor in (token_ids, image_patches))
