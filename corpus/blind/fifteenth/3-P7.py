# %% [wrong] order_not_from_the_generator | The order comes from PyTorch's global random numbers, so the same seed does not give the same training. Hand the generator to randperm.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids))
    return token_ids[order], image_patches[order]


# %% [wrong] drawn_with_repetition | randint draws with replacement: some questions come twice and others not at all. Another order of the same questions is a permutation, as randperm gives it.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    N = token_ids.shape[0]
    order = torch.randint(0, N, (N,), generator=generator)
    mixed_questions = torch.index_select(token_ids, 0, order)
    mixed_images = torch.index_select(image_patches, 0, order)
    return mixed_questions, mixed_images
