# %% [wrong] last_layer_first | The layers are gone through from the last to the first. The first one should be multiplied onto the map of the image first, and the last one stand at the left. With layers that differ the product is another one.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(-3)
    for maps in reversed(self_maps):
        T = maps.shape[-1]
        mixed = 0.5 * maps.mean(-3) + 0.5 * torch.eye(T, dtype=maps.dtype, device=maps.device)
        result = mixed @ result
    return result

# %% [wrong] heads_averaged_at_the_end | The product is made for each head, and the mean over the heads is taken at the end. The mean should be taken in each layer first. Head 0 of one layer is followed to head 0 of the next only, as if heads were separate models.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map
    for maps in self_maps:
        eye = torch.eye(maps.shape[-1]).to(maps)
        rollout = torch.einsum("...ij,...jk->...ik", (maps + eye) / 2, rollout)
    return rollout.mean(dim=-3)

# %% [wrong] heads_looked_for_on_axis_one | The mean is taken over axis 1. The heads are the third axis from the end. With one batch axis it is right; without a batch the queries are averaged, and with two a batch axis.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    from functools import reduce

    def step(below, maps):
        mean = maps.mean(1)
        identity = torch.eye(mean.shape[-1], dtype=mean.dtype, device=mean.device)
        return (mean / 2 + identity / 2) @ below

    return reduce(step, self_maps, cross_map.mean(1))

# %% [wrong] multi_dot_of_batches | The layers are multiplied with torch.linalg.multi_dot, which takes plain matrices alone. Maps may have a batch, so @ should be used. For a batch an error comes out.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    T = cross_map.shape[-2]
    half = 0.5 * torch.eye(T, dtype=cross_map.dtype, device=cross_map.device)
    factors = [half + 0.5 * maps.mean(-3) for maps in self_maps[::-1]]
    if not factors:
        return cross_map.mean(-3)
    return torch.linalg.multi_dot([*factors, cross_map.mean(-3)])

# %% [wrong] halves_the_given_maps | With one head, squeeze gives a view of the map, and that view is halved in place. The maps should stay as they are. The result is right, but the caller's maps are ruined.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    def averaged(maps):
        return maps.squeeze(-3) if maps.shape[-3] == 1 else maps.mean(-3)

    total = averaged(cross_map)
    for maps in self_maps:
        a = averaged(maps)
        a.mul_(0.5)
        a.diagonal(dim1=-2, dim2=-1).add_(0.5)
        total = a @ total
    return total

# %% [wrong] image_gets_an_identity | The map over the image is mixed with half an identity, too, a rectangular one. A word is not one of the patches, so it should get none. Word 1 seems to be half patch 1, word 2 half patch 2.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    def with_residual(maps):
        average = maps.mean(-3)
        return 0.5 * average + 0.5 * torch.eye(*average.shape[-2:], dtype=maps.dtype, device=maps.device)

    result = with_residual(cross_map)
    for layer in self_maps:
        result = with_residual(layer) @ result
    return result

# %% [right] lerp_without_identity | No identity matrix at all: each layer takes the point halfway between what is there and what attention makes of it, with lerp.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    followed = cross_map.sum(-3) / cross_map.shape[-3]
    for maps in self_maps:
        attended = torch.einsum("...hij,...jk->...ik", maps, followed) / maps.shape[-3]
        followed = torch.lerp(followed.expand_as(attended), attended, 0.5)
    return followed
