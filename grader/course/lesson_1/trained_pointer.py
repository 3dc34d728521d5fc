"""How the pointer that a submission trained in 1.9 is judged.

The judge does not trust the pointer's maps. The probe returns the submission's trained weights as tensors;
the reference computes the maps from them, and the maps that the submission's own attention returned must
equal those. The trained weights must also resemble the initial weights that the seed draws: 300 steps of
training leave them close to these, and weights that were trained from another start are not.
"""

import torch
from attention.experiments.digit_pointer import Pointer, draw_looks, draw_start, found
from attention.pointer_loss import pointer_loss

from grader.course.trainings.loaded import load_returned, unlike_start
from grader.declare.authoring import Case, Finding, Inputs, InputSampler, build_quietly, failed
from grader.judge.compare import compare

# The least share of unseen scenes on which the largest weight lies on the target patch. Six seeds gave .962
# to .978.
LEAST_HIT_RATE = 0.90
# The most mean loss on unseen scenes. 300 steps gave .163 at most, and .086 in the median, over 60 seeds with three sets of
# scenes each; 20 steps gave .22 to .44, and may hit often enough from one start of three.
MOST_LOSS = 0.19
# The least cosine of a trained weight matrix with its initial values. Trained from them: .77 to 1.00. Trained
# from other initial values: .04 at most.
LEAST_COSINE_WITH_START = 0.5


def draw_unseen_scenes(sampler: InputSampler, *, scenes: int) -> Inputs:
    """Draw scenes of held-out digits; for each the word that names one digit, and as target the index of its patch."""
    words, patches, target = draw_looks(scenes, sampler.generator, "test")
    return {"words": words, "patches": patches, "target": target}


def judge_pointer(case: Case) -> Finding:
    """Pass if four things hold.

    The weights are trained from the seed's initial weights or are the grader's own, the reference computes the same maps
    from them, enough maps are largest on the target patch, and the loss is as low as a whole training makes it. The last
    two are not asked where the weights are the grader's own: then the maps are the reference's, or wrong.
    """
    pointer, problem = pointer_of(case)
    if pointer is None:
        return failed(problem)
    with torch.no_grad():
        expected = pointer(case.inputs["words"], case.inputs["patches"])
    # The pointer's scores are large, and exp enlarges their rounding errors, up to 3e-4 of the largest
    # weight.
    finding = compare({"map": case.got.get("maps")}, {"map": expected}, rtol=30 * case.rtol, device=case.device)
    if not finding.passed:
        text = "recomputed from your trained weights. Does your CrossAttention pass 1.8?"
        return failed(f"{finding.message}, {text}")
    maps = case.got["maps"]
    if bool((maps < 0).any()) or not torch.allclose(maps.sum(-1), torch.ones(()), atol=1e-4):
        return failed("the weights of a map do not sum to 1")
    if "weights" in case.inputs:
        return Finding(passed=True)
    hits = found(maps, case.inputs["target"])
    if hits < LEAST_HIT_RATE:
        text = f"the pointer looks at the right patch {hits:.0%} of the time, at least {LEAST_HIT_RATE:.0%} is needed"
        return failed(f"{text}. Check pointer_loss and train again")
    loss = pointer_loss(expected.clamp(min=1e-6), case.inputs["target"]).item()
    if loss > MOST_LOSS:
        text = f"its loss on unseen scenes is {loss:.2f}, and {MOST_LOSS:g} at most after all steps"
        return failed(f"{text}. Did each step train it?")
    return Finding(passed=True)


def pointer_of(case: Case) -> tuple[Pointer | None, str]:
    """Make the reference pointer with the grader's weights, or those that came back; None and why if these are refused."""
    if "weights" not in case.inputs:
        return rebuild_pointer(case.got.get("state"), case.inputs["seed"])
    pointer = Pointer().requires_grad_(False)  # the grader chose the weights
    pointer.load_state_dict(dict(case.inputs["weights"]))
    return pointer, ""


def rebuild_pointer(state: object, seed: int) -> tuple[Pointer | None, str]:
    """Load the submission's trained weights, which nobody trusts, into the reference pointer; the seed draws the initial ones.

    Returns:
        The pointer and "", or None and a message, also where a weight is too far from its initial values.
    """
    pointer, start = build_quietly(Pointer), build_quietly(Pointer)
    draw_start(start, seed)
    missing = "the pointer does not have the parameters of 1.8: embedding, W_Q, W_K and W_V, without bias"
    problem = load_returned(pointer, state, missing, "1.8 gives it")
    problem = problem or unlike_start(pointer, start, LEAST_COSINE_WITH_START)
    return (None if problem else pointer), problem
