# %% [wrong] drawn_with_replacement | randint draws with replacement, so some questions come twice and others not at all; it is no other order of the same ones.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    chosen = torch.randint(len(token_ids), (len(token_ids),), generator=generator)
    return token_ids[chosen], image_patches[chosen]

# %% [wrong] images_in_the_inverse_order | The images are put in order.argsort(), the inverse of the questions' order, so most questions get another one's image.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(token_ids.shape[0], generator=generator)
    return token_ids.index_select(0, order), image_patches.index_select(0, order.argsort())

# %% [wrong] generator_set_back_to_zero | The generator is seeded with 0 on each call, so every seed and every call give the same order.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    generator.manual_seed(0)
    order = torch.randperm(len(token_ids), generator=generator)
    questions, scenes = token_ids[order], image_patches[order]
    return questions, scenes
