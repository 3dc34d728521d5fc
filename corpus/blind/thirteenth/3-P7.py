# %% [wrong] generator_ignored | randperm is drawn without `generator`, from the global state. The pairs stay together, but the same generator does not give the same order, and the training cannot be repeated.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(token_ids.shape[0])
    return token_ids[order], image_patches[order]


# %% [wrong] drawn_with_replacement | randint draws with replacement: some questions come several times and others never. It is a sample, not another order of the same questions.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    n = len(token_ids)
    which = torch.randint(0, n, (n,), generator=generator)
    return token_ids.index_select(0, which.to(token_ids.device)), image_patches.index_select(0, which.to(image_patches.device))


# %% [wrong] inverse_for_the_images | Questions are indexed with the order, images with its argsort, the inverse of that order. Only where a permutation is its own inverse does a question keep its image.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    noise = torch.rand(len(token_ids), generator=generator)
    order = noise.argsort()
    rank = order.argsort()
    return token_ids[order], image_patches[rank]


# %% [wrong] only_questions_returned_shuffled | Shuffles pairs in a Python list, but writes `image_patches` unshuffled into the return value: the images keep their old order beside the new one of the questions.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    pairs = [(q, s) for q, s in zip(token_ids, image_patches)]
    order = torch.randperm(len(pairs), generator=generator).tolist()
    questions = torch.stack([pairs[i][0] for i in order])
    scenes = torch.stack([s for _, s in pairs])
    return questions, scenes


# %% [wrong] width_permuted | Permutes along the last axis of the questions and the patch axis of the images: words within a question change places, and patches within a scene, while the questions stay in their sorted order.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    words = torch.randperm(token_ids.shape[1], generator=generator)
    places = torch.randperm(image_patches.shape[1], generator=generator)
    return token_ids[:, words], image_patches[:, places]


# %% [right] sorted_random_keys | Draws one random key per question as doubles and sorts by it; both tensors are taken through the same index, in a generator expression over the two.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    keys = torch.rand(token_ids.size(0), generator=generator, dtype=torch.float64, device=generator.device)
    order = torch.sort(keys, stable=True).indices
    questions, scenes = (each.index_select(0, order.to(each.device)) for each in (token_ids, image_patches))
    return questions, scenes
