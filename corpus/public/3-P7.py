# %% [right] one_randperm_for_both | one torch.randperm(generator=...), both indexed, after lucidrains/pytorch style shuffles
def shuffle_questions(token_ids, image_patches, generator):
    perm = torch.randperm(token_ids.size(0), generator=generator)
    return token_ids[perm], image_patches[perm]


# %% [right] argsort_of_random_numbers | torch.rand and argsort, index_select on the right device, after facebookresearch/mae (random_masking noise)
def shuffle_questions(token_ids, image_patches, generator):
    noise = torch.rand(len(token_ids), generator=generator, device=generator.device)
    ids_shuffle = torch.argsort(noise).to(token_ids.device)
    return token_ids.index_select(0, ids_shuffle), image_patches.index_select(0, ids_shuffle)


# %% [right] list_of_pairs | an order as a Python list, pairs stacked again, after a DataLoader-like loop
def shuffle_questions(token_ids, image_patches, generator):
    order = torch.randperm(len(token_ids), generator=generator, device=generator.device).tolist()
    pairs = [(token_ids[i], image_patches[i]) for i in order]
    questions, images = zip(*pairs)
    return torch.stack(questions), torch.stack(images)
