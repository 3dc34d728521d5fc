# %% [wrong] features_of_heads_interleaved | The heads become the last axis before it is flattened, so the numbers of the heads take turns. First all numbers of head 0 should come, then those of head 1.
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(-2)
# %% [wrong] batches_joined_not_heads | Going through the tensor walks along its first axis. With a batch that is the batch, not the heads, so whole sentences are put side by side. Unbind along axis -3.
def merge_heads(heads):
    """Put the heads' numbers side by side again."""
    side_by_side = [head for head in heads]
    return torch.cat(side_by_side, dim=-1)
# %% [wrong] exactly_one_batch_axis | The result is reshaped to (shape[0], n, -1), which takes for granted that there is exactly one batch axis. Without a batch, or with two, the numbers land in the wrong place. Flatten the last two axes only.
def merge_heads(heads):
    n = heads.shape[-2]
    batch = heads.shape[0]
    swapped = heads.transpose(-3, -2).contiguous()
    return swapped.reshape(batch, n, -1)
