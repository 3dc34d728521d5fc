# %% [wrong] order_not_from_the_generator | The order is drawn without the generator, from PyTorch's global one. Pairs stay together, but the same seed does not give the same training.
def shuffle_questions(token_ids, image_patches, generator):
    order = torch.randperm(token_ids.shape[0])
    return token_ids[order], image_patches[order]

# %% [wrong] generator_rewound_by_seed | To get the same order twice, the generator is seeded anew before each draw, always with 0. Pairs fit, but each epoch has the same order, and the order no longer depends on the generator that was given.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    generator.manual_seed(0)
    questions = token_ids[torch.randperm(len(token_ids), generator=generator)]
    generator.manual_seed(0)
    scenes = image_patches[torch.randperm(len(image_patches), generator=generator)]
    return questions, scenes

# %% [wrong] drawn_with_repeats | randint draws N places, with repeats. Some questions come twice and others never; another order of all of them is asked for.
def shuffle_questions(token_ids: Tensor, image_patches: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    N = len(token_ids)
    pick = torch.randint(0, N, (N,), generator=generator)
    return token_ids[pick], image_patches[pick]

# %% [wrong] images_by_the_inverse_order | The images are indexed by the inverse of the order (argsort of it). The question at place i is that of order[i], and its image has to be taken from order[i] too; nearly every question gets another's image.
def shuffle_questions(token_ids: Tensor, image_patches: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    perm = torch.randperm(token_ids.size(0), generator=generator)
    return token_ids[perm], image_patches[perm.argsort()]

# %% [wrong] sorted_thrown_away | sorted returns a new list, which is thrown away; both come back in the order in which they came. Another order is asked for (and the batches stay sorted by place).
def shuffle_questions(token_ids: Tensor, image_patches: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    pairs = [(q, s) for q, s in zip(token_ids, image_patches)]
    sorted(pairs, key=lambda pair: torch.rand(1, generator=generator).item())
    return torch.stack([q for q, _ in pairs]), torch.stack([s for _, s in pairs])

# %% [right] sorted_by_random_numbers | A random number is drawn for each pair, and argsort of these numbers is the one order that both tensors are taken by (index_select).
def shuffle_questions(token_ids: Tensor, image_patches: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    lots = torch.rand(token_ids.size(0), generator=generator, dtype=torch.float64, device=generator.device)
    order = lots.argsort().to(token_ids.device)
    return tuple(both.index_select(0, order) for both in (token_ids, image_patches))
