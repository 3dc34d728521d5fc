# %% [wrong] generator_forgotten | The order is drawn with PyTorch's global randomness and not from `generator`. Questions keep their images, but the same seed no longer gives the same training.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    order = torch.randperm(len(token_ids))
    return token_ids[order], image_patches[order]

# %% [wrong] order_and_its_inverse | The questions are taken in the order, and the images in the inverse of it (argsort of the order). The two are not the same permutation, so most questions get the image of another one.
def shuffle_questions(token_ids, image_patches, generator):
    order = torch.randperm(token_ids.shape[0], generator=generator)
    questions = token_ids[order]
    scenes = image_patches[torch.argsort(order)]
    return questions, scenes

# %% [wrong] drawn_with_replacement | randint draws each place anew, so some questions come twice or more and about a third is left out. A new order must hold each question exactly once.
def shuffle_questions(token_ids: Tensor, image_patches: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    N = len(token_ids)
    index = torch.randint(0, N, (N,), generator=generator)
    return token_ids[index], image_patches[index]

# %% [wrong] seeds_the_generator_anew | Before each draw the generator is set to the seed 0, so that both orders agree. They do, but the order is the same in every epoch and for every seed of the training, and all that is drawn later from that generator repeats as well.
def shuffle_questions(token_ids, image_patches, generator):
    def mixed(rows):
        generator.manual_seed(0)  # same seed -> same order for both
        return rows[torch.randperm(len(rows), generator=generator)]

    return mixed(token_ids), mixed(image_patches)

# %% [wrong] swapping_rows_like_python_lists | Rows are exchanged with a, b = b, a. Rows of a tensor are views, so the second assignment reads a row that was just overwritten: rows come twice and others are lost.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Fisher-Yates, the same swaps for both."""
    questions, scenes = token_ids.clone(), image_patches.clone()
    for i in range(len(questions) - 1, 0, -1):
        j = int(torch.randint(i + 1, (1,), generator=generator))
        questions[i], questions[j] = questions[j], questions[i]
        scenes[i], scenes[j] = scenes[j], scenes[i]
    return questions, scenes

# %% [right] lots_sorted | Draws a lot for each question from the generator, sorts the lots, and reads both tensors with index_select in that order.
def shuffle_questions(
    token_ids: Tensor, image_patches: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    lots = torch.rand(token_ids.size(0), generator=generator, dtype=torch.float64, device=generator.device)
    _, place = lots.sort()
    return tuple(one.index_select(0, place.to(one.device)) for one in (token_ids, image_patches))
