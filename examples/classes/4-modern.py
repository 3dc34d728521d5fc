# %% [markdown] student="full-marks" base="solution" score="all"
# The solution of the lab.

# %% [markdown] student="untouched" base="student" score="0"
# Nothing was begun.
