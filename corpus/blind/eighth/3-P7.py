# %% [wrong] the_way_back | The images are indexed with the inverse of the order (argsort of it); both should be indexed with the same one. The pairs do not belong together, but for places that the order leaves or exchanges.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches[order.argsort()]

# %% [wrong] drawn_with_replacement | The indices are drawn with randint, with replacement; it should be a permutation. Pairs belong together, but some questions come several times and others (about 37 %) not at all.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    count = len(token_ids)
    chosen = torch.randint(count, (count,), generator=generator)
    return token_ids[chosen], image_patches[chosen]

# %% [wrong] the_same_order_each_time | The order is drawn from a new generator with seed 0; it should be drawn from the one that is handed in. Every epoch and every seed gets the same order, and generator is not moved on.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=torch.Generator().manual_seed(0))
    return token_ids[order], image_patches[order]

# %% [wrong] questions_alone | Only the questions are put in another order, the images stay; each question should keep its own image.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(token_ids.size(0), generator=generator)
    return token_ids.index_select(0, order), image_patches

# %% [wrong] length_of_a_question | The order has token_ids.shape[1] places, the words of a question; it should have shape[0], the number of questions. Only the first T questions come back, in another order.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(token_ids.shape[1], generator=generator)
    return tuple(both[order] for both in (token_ids, image_patches))

# %% [wrong] a_twin_of_the_generator | The images' order comes from a second generator with the first one's initial seed, "so that both draw the same"; one order should serve both. The first one has been drawn from before, so the two orders differ as soon as it is not fresh.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    twin = torch.Generator().manual_seed(generator.initial_seed())
    questions = token_ids[torch.randperm(len(token_ids), generator=generator)]
    images = image_patches[torch.randperm(len(image_patches), generator=twin)]
    return questions, images

# %% [right] sorted_by_lots | Each question draws a lot, and both tensors are fetched in the order of the lots.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    lots = torch.rand(len(token_ids), generator=generator, device=generator.device)
    order = lots.argsort().to(token_ids.device)
    return token_ids.index_select(0, order), image_patches.index_select(0, order.to(image_patches.device))
