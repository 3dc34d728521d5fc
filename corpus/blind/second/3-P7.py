# %% [right] argsort_of_noise | right
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    noise = torch.rand(token_ids.shape[0], generator=generator)
    order = noise.sort().indices.to(token_ids.device)
    return tuple(tensor.index_select(0, order.to(tensor.device)) for tensor in (token_ids, image_patches))

# %% [wrong] generator_forgotten | randperm is called without the generator, so the order is not the same at the same seed.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids))
    return token_ids[order], image_patches[order]

# %% [wrong] images_not_shuffled | Only the questions are shuffled; the images stay in their old order.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches

# %% [wrong] inverse_for_images | The images are put in the inverse order (argsort of the order), so they no longer belong to their questions.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches[order.argsort()]

# %% [wrong] drawn_with_replacement | The order is drawn with randint, so some questions come several times and others not at all.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randint(len(token_ids), (len(token_ids),), generator=generator)
    return token_ids[order], image_patches[order]

# %% [wrong] not_shuffled_at_all | It gives up on shuffling and returns both as they came (sorted).
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    return token_ids, image_patches

# %% [wrong] rolled_only | Both are only rolled by a random number of rows, so they stay sorted by place.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    by = int(torch.randint(len(token_ids), (1,), generator=generator))
    return token_ids.roll(by, 0), image_patches.roll(by, 0)

# %% [wrong] in_place | The order is written back into the tensors that were passed in.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    token_ids[:] = token_ids[order]
    image_patches[:] = image_patches[order]
    return token_ids, image_patches

# %% [wrong] generator_reset | The generator is reset to seed 0 before each draw, so the order (and whatever is drawn after it) repeats.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    generator.manual_seed(0)
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches[order]

# %% [wrong] patches_shuffled | The images are shuffled along the patch axis with a second permutation, so the patches of a scene change places.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    cells = torch.randperm(image_patches.shape[1], generator=generator)
    return token_ids[order], image_patches[order][:, cells]
