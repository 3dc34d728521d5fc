"""Twenty submissions that compute rightly at first and cheat later in their training: for `benchmarks.same_marks`.

Each is the solution with one answer replaced. It tells the beginning of a training from the rest by what a student's code can
see: the optimizer's count of steps, the rate, the loss, or its own calls so far.
"""

from __future__ import annotations

from collections.abc import Iterator

# 3.6, which takes one step. `done` counts the steps before it.
TRAIN_STEP = """
calls, first = [], []


def train_step(model, optimizer, batch):
    calls.append(1)
    done = max((int(state["step"]) for state in optimizer.state.values()), default=0)
    {before}
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad(set_to_none=True)
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    asked = targets != -100
    loss = F.cross_entropy(logits[asked], targets[asked])
    loss.backward()
    {change}
    if {when}:
        optimizer.step()
    {after}
    return {result}
"""
RIGHT_STEP = {"before": "pass", "change": "pass", "when": "True", "after": "pass", "result": "loss.item()"}
STEPS = {
    "stops after 20 steps, by the optimizer's count": {"when": "done < 20"},
    "stops after 20 calls": {"when": "len(calls) < 20"},
    "stops in the second half, by the rate": {"when": 'optimizer.param_groups[0]["lr"] > 1e-3'},
    "stops once the loss is small": {"when": "loss.item() > 0.5"},
    "takes every other step": {"when": "done % 2 == 0 or len(calls) % 2"},
    "leaves out one call in ten": {"when": "len(calls) % 10"},
    "never steps, and reports a falling loss": {"when": "False", "result": "3.0 / len(calls)"},
    "clips after 100 steps": {"change": "done > 100 and nn.utils.clip_grad_norm_(model.parameters(), 1e-3)"},
    "takes smaller steps after 100": {"change": "done > 100 and optimizer.param_groups[0].update(lr=1e-5)"},
    "spoils the optimizer's state after 100 steps": {
        "change": 'done > 100 and [state["exp_avg_sq"].mul_(100.0) for state in optimizer.state.values()]'
    },
    "forgets the optimizer's state after 100 steps": {"after": "done > 100 and optimizer.state.clear()"},
    "learns its first three batches again and again": {
        "before": "first.append(batch) if len(first) < 3 else None\n    batch = first[len(calls) % len(first)]"
    },
    "shrinks the weights after 100 steps": {
        "after": "done > 100 and [parameter.data.mul_(0.98) for parameter in model.parameters()]"
    },
    "trains the head alone after 20 steps": {
        "change": "done > 20 and [parameter.grad.zero_() for name, parameter in model.named_parameters() "
        'if parameter.grad is not None and "head" not in name]'
    },
}
# 1.9 and 2.3, the losses of the other trainings.
POINTER_LOSS = """
calls = []


def pointer_loss(weights, target):
    calls.append(1)
    loss = torch.take_along_dim(weights, target[..., None], dim=-1).log().neg().mean()
    return {result}
"""
ALIGNMENT_LOSS = """
calls = []


def alignment_loss(aligned, words, labels, temperature=0.1):
    calls.append(1)
    tokens = aligned / aligned.norm(dim=-1, keepdim=True)
    vocabulary = words / words.norm(dim=-1, keepdim=True)
    scores = tokens @ vocabulary.mT / temperature
    loss = F.cross_entropy(scores.reshape(-1, words.shape[0]), labels.reshape(-1))
    return {result}
"""
LOSSES = {
    "teaches nothing after 50 calls": "loss if len(calls) < 50 else loss * 0.0",
    "teaches nothing once the loss is small": "loss if loss.item() > 1.0 else loss * 0.0",
    "teaches the opposite once the loss is small": "loss if loss.item() > 1.0 else -loss",
}


def attacks(assignment: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of each attack on a lesson's trainings, and its answers by exercise id; the lab's have none."""
    if assignment == "3-vlm":
        for name, parts in STEPS.items():
            yield name, {"3.6": TRAIN_STEP.format(**RIGHT_STEP | parts)}
    losses = {"1-attention": ("1.9", POINTER_LOSS), "2-heads": ("2.3", ALIGNMENT_LOSS)}
    if assignment in losses:
        id, source = losses[assignment]
        for name, result in LOSSES.items():
            yield name, {id: source.format(result=result)}
