# %% [wrong] global_dice | The order is drawn from PyTorch's global generator. It should be drawn from the one that is handed in. Pairs stay together, but the same seed no longer gives the same training.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(token_ids.shape[0])
    return token_ids[order], image_patches[order]

# %% [wrong] images_in_the_inverse_order | The images are put in order.argsort(), 'to bring them back to their questions'. That is the inverse order; the same order was needed. Most questions get somebody else's image.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    back = order.argsort()
    return token_ids.index_select(0, order), image_patches.index_select(0, back)

# %% [wrong] drawn_with_replacement | The order is drawn with randint. It should be a permutation. Pairs belong together, but some questions come twice or more, and a third does not come at all.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    N = token_ids.size(0)
    picks = torch.randint(0, N, (N,), generator=generator)
    return token_ids[picks], image_patches[picks]

# %% [wrong] rows_swapped_through_views | Rows are swapped in Python's way, a, b = b, a. Rows of a tensor are views, so the first one is overwritten before it is read. Questions get lost and others are doubled.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    questions, images = token_ids.clone(), image_patches.clone()
    for i in range(len(questions) - 1, 0, -1):
        j = torch.randint(i + 1, (1,), generator=generator).item()
        questions[i], questions[j] = questions[j], questions[i]
        images[i], images[j] = images[j], images[i]
    return questions, images

# %% [wrong] generator_set_back | The generator is set back to seed 0 before each of the two draws, so that both give the same order. The pairs stay together, but every call has the same order, whatever the generator was, and the caller's generator is changed.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    shuffled = []
    for tensor in (token_ids, image_patches):
        generator.manual_seed(0)
        shuffled.append(tensor[torch.randperm(len(tensor), generator=generator)])
    return tuple(shuffled)

# %% [wrong] only_the_questions_move | Only the questions are put in the new order, the images are handed back as they came. Both should be. Each question is about another scene.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    return torch.take_along_dim(token_ids, order[:, None], 0), image_patches

# %% [right] sorts_random_numbers | Draws a random key for each pair, zips, sorts by the key in Python, and stacks again.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    keys = torch.rand(len(token_ids), generator=generator, dtype=torch.float64).tolist()
    pairs = sorted(zip(keys, range(len(keys))))
    order = torch.tensor([index for _, index in pairs], device=token_ids.device)
    return torch.index_select(token_ids, 0, order), torch.index_select(image_patches, 0, order.to(image_patches.device))
