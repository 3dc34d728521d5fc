"""Insertion minus deletion in all runs of `python -m benchmarks.explanations`: the lowest and the highest.

Five seeds with 1,000 questions of each kind, and with the lab's own 500, on the kernels of two processors; seed 0 on a third's.
"""

OUR_QUALITY = {
    "where": {
        "gradient × attention": (0.848, 0.878),
        "value-weighted": (0.826, 0.863),
        "head average": (0.764, 0.843),
        "rollout": (0.453, 0.773),
        "random order": (-0.045, 0.019),
        "each patch blanked in turn": (0.851, 0.879),
    },
    "what": {
        "gradient × attention": (0.840, 0.885),
        "value-weighted": (0.878, 0.884),
        "head average": (0.873, 0.885),
        "rollout": (0.655, 0.856),
        "random order": (-0.043, 0.016),
        "each patch blanked in turn": (0.881, 0.885),
    },
    "read": {
        "gradient × attention": (0.872, 0.883),
        "value-weighted": (0.880, 0.885),
        "head average": (0.871, 0.885),
        "rollout": (0.782, 0.884),
        "random order": (-0.035, 0.029),
        "each patch blanked in turn": (0.882, 0.886),
    },
}
