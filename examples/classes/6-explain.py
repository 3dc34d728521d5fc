# %% [markdown] student="full-marks" base="solution" score="all"
# The solution of the lab.

# %% [markdown] student="untouched" base="student" score="0"
# Nothing was begun.

# %% [markdown] student="wrong-repairs" base="solution" score="all - 12"
# Two repairs that pass the gate, and leave the fault in or take the task away: the loss without the bonus, and mirroring
# that was switched off.

# %% exercise="6.8"
def mirror_left_right(cells, patches, turned):
    return cells, patches


# %% exercise="6.9"
def looking_loss(logits, answers, weights, strength):
    return F.cross_entropy(logits, answers)
