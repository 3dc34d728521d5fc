# %% [wrong] maximum_over_the_heads | The heads are joined by their maximum and not by their mean, so rows sum to more than 1.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    def joined(maps):
        return maps.amax(dim=-3)

    rolled = joined(cross_map)
    identity = torch.eye(rolled.shape[-2], dtype=rolled.dtype, device=rolled.device)
    for maps in self_maps:
        rolled = (0.5 * joined(maps) + 0.5 * identity) @ rolled
    return rolled
