# %% [wrong] order_and_its_inverse | The questions are indexed with the order and the images with its argsort, the inverse permutation; they only belong together where the two happen to agree.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches[order.argsort()]

# %% [wrong] the_same_order_each_epoch | The generator is set to seed 0 before the draw, so each epoch gets the same order, whatever seed the caller chose, and the caller's later draws change as well.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    generator.manual_seed(0)  # so that it can be repeated
    order = torch.randperm(token_ids.shape[0], generator=generator)
    return token_ids[order], image_patches[order]

# %% [wrong] drawn_with_replacement | torch.randint draws with replacement, so some questions come several times and more than a third not at all; another order is a permutation, randperm.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    n = len(token_ids)
    which = torch.randint(n, (n,), generator=generator)
    return token_ids[which], image_patches[which]

# %% [wrong] the_last_one_is_missing | randperm(n − 1) never draws the last question, so one is lost in each call; it should be randperm(n).
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    last = len(token_ids) - 1  # we count from 0
    order = torch.randperm(last, generator=generator)
    return token_ids[order], image_patches[order]

# %% [wrong] numpy_draws_the_order | The order comes from np.random and not from the generator that was handed in, so the same seed of the generator does not give the same training.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.from_numpy(np.random.permutation(len(token_ids)))
    return token_ids[order], image_patches[order]

# %% [wrong] patches_shuffled_too | The order of the questions is used rightly, but the patches within the scenes are shuffled as well, so the named place shows another digit.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids), generator=generator)
    cells = torch.randperm(image_patches.shape[1], generator=generator)
    return token_ids[order], image_patches[order][:, cells]

# %% [right] sorted_by_lot | every question draws a number from the generator, and both tensors are taken in the order of these
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    lots = torch.rand(len(token_ids), generator=generator, dtype=torch.float64)
    order = lots.argsort()
    return tuple(side.index_select(0, order.to(side.device)) for side in (token_ids, image_patches))
