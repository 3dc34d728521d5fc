# %% [wrong] drawn_with_replacement | draws indices with randint, that is with replacement: some questions come several times and about a third not at all, so the result is no reordering
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    N = token_ids.shape[0]
    order = torch.randint(0, N, (N,), generator=generator)
    return token_ids[order], image_patches[order]


# %% [wrong] swap_of_views | Fisher-Yates with a tuple swap of rows: the rows are views of the tensor, so after the first assignment both sides show the same row; rows are lost and doubled (and the given tensors are overwritten)
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    for i in range(len(token_ids) - 1, 0, -1):
        j = int(torch.randint(0, i + 1, (1,), generator=generator))
        token_ids[i], token_ids[j] = token_ids[j], token_ids[i]
        image_patches[i], image_patches[j] = image_patches[j], image_patches[i]
    return token_ids, image_patches


# %% [wrong] inverse_for_images | the images are put in the inverse order: order says "new place i shows old row order[i]" for the questions, argsort of it says the opposite, so questions and images no longer belong together
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    keys = torch.rand(len(token_ids), generator=generator)
    order = keys.argsort()
    position = order.argsort()
    shuffled_questions = torch.index_select(token_ids, 0, order)
    shuffled_images = torch.index_select(image_patches, 0, position)
    return shuffled_questions, shuffled_images


# %% [wrong] generator_ignored | shuffles with Python's global random state; the pairs are kept, but the order does not come from the generator, so the same seed gives another training each time
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    pairs = list(zip(token_ids, image_patches))
    random.shuffle(pairs)
    questions, images = zip(*pairs)
    return torch.stack(questions), torch.stack(images)


# %% [wrong] permutes_T_rows | the permutation is as long as a question has words (T), not as there are questions (N): all but T questions are thrown away
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(token_ids.size(-1), generator=generator).to(token_ids.device)
    return tuple(x[order] for x in (token_ids, image_patches))


# %% [right] scatter_to_new_places | draws where each row goes, not where it comes from, and writes both tensors to these places
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    to = torch.randperm(len(token_ids), generator=generator, device=generator.device)

    def moved(rows: Tensor) -> Tensor:
        return torch.empty_like(rows).index_copy_(0, to.to(rows.device), rows)

    return moved(token_ids), moved(image_patches)
