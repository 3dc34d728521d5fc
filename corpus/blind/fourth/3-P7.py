# %% [wrong] order_and_its_inverse | The scenes are indexed with the inverse of the order: questions and scenes part as before.
def shuffle_questions(token_ids, image_patches, generator):
    order = torch.randperm(len(token_ids), generator=generator)
    back = order.argsort()
    return token_ids[order], image_patches[back]


# %% [wrong] generator_not_used | The order is drawn without the generator: the same seed no longer gives the same training.
def shuffle_questions(token_ids, image_patches, generator):
    perm = torch.randperm(token_ids.shape[0])
    return token_ids[perm], image_patches[perm]


# %% [wrong] two_draws_again | Two calls of `randperm` from the same generator give two orders; it is the broken piece in other words.
def shuffle_questions(token_ids, image_patches, generator):
    def shuffled(tensor):
        return tensor[torch.randperm(tensor.size(0), generator=generator)]

    return shuffled(token_ids), shuffled(image_patches)


# %% [wrong] not_shuffled | Nothing is shuffled: the pairs are right, and the questions stay sorted by place.
def shuffle_questions(token_ids, image_patches, generator):
    # keep each question with its own image
    order = torch.arange(len(token_ids))
    return token_ids[order], image_patches[order]


# %% [wrong] drawn_with_replacement | Draws with replacement: some questions come twice, and others not at all.
def shuffle_questions(token_ids, image_patches, generator):
    N = len(token_ids)
    order = torch.randint(N, (N,), generator=generator)
    return token_ids[order], image_patches[order]


# %% [wrong] words_shuffled | The order is drawn for the axis of the words: the words of each question are shuffled, and the scenes stay.
def shuffle_questions(token_ids, image_patches, generator):
    order = torch.randperm(token_ids.shape[1], generator=generator)
    return token_ids[:, order], image_patches


# %% [right] sort_random_keys | Draws one random number for each question and sorts by it; both tensors are picked with `index_select`.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    keys = torch.rand(token_ids.shape[0], generator=generator, dtype=torch.float64, device=generator.device)
    order = keys.argsort().to(token_ids.device)
    return tuple(tensor.index_select(0, order.to(tensor.device)) for tensor in (token_ids, image_patches))
