# %% [wrong] cleared_before_the_update | Clears the gradients after backward and just before the update. The optimizer finds none, the weights stay as they are, and the loss never falls.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


# %% [wrong] gradients_clipped | Clips the gradients to a length of 1 before the update, as many training loops do. The task says without clipping; with large gradients the weights come out differently.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    model.train()
    ids, lengths, patches = batch
    optimizer.zero_grad(set_to_none=True)
    logits = model(ids, patches)[0]
    loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), shift_targets(ids, lengths).reshape(-1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


# %% [wrong] mean_of_the_questions_means | Takes the mean for each question first and then the mean over the questions. Asked for is the mean over all targets: a question with four targets should count twice as much as one with two.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    per_question = [F.cross_entropy(scores, wanted) for scores, wanted in zip(logits, targets)]
    loss = torch.stack(per_question).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss.detach())


# %% [wrong] padding_ignored_by_number | Tells the cross-entropy to ignore 0, the number of the padding. The targets mark what is to be ignored by -100, and that is no word of the vocabulary: it stops with an error.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    loss = criterion(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [wrong] mode_left_as_it_is | Forgets model.train(). A model that was answering questions just before is still in evaluation mode, and its dropout would stay off while it learns.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    logits, _maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [right] written_out_cross_entropy | Selects the positions that have a target, and takes the mean of logsumexp minus the score of the right word.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    ids, lengths, scene = batch
    optimizer.zero_grad()
    wanted = shift_targets(ids, lengths, ignore_index=-1)
    scores = model.train()(ids, scene)[0][wanted >= 0]
    right = wanted[wanted >= 0]
    surprise = scores.logsumexp(-1) - scores[torch.arange(len(right), device=right.device), right]
    mean = surprise.mean()
    mean.backward()
    before = mean.item()
    optimizer.step()
    return before
