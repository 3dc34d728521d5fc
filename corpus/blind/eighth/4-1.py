# %% [wrong] first_layer_on_the_left | The layers are multiplied as A₁A₂…A_L; the first layer should stand on the right, A_L…A₂A₁. Right for a single layer.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    T = cross_map.shape[-2]
    eye = torch.eye(T, dtype=cross_map.dtype, device=cross_map.device)
    rollout = eye
    for maps in self_maps:
        rollout = rollout @ (0.5 * maps.mean(-3) + 0.5 * eye)
    return rollout @ cross_map.mean(-3)

# %% [wrong] identity_for_the_image_too | The map over the image is mixed with an identity as well; a word is none of the patches, so it should get none. Word t seems to look at patch t.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    def mixed(maps):
        mean = maps.mean(dim=-3)
        same = torch.eye(*mean.shape[-2:], dtype=mean.dtype, device=mean.device)
        return (mean + same) / 2

    found = mixed(cross_map)
    for maps in self_maps:
        found = mixed(maps) @ found
    return found

# %% [wrong] a_whole_of_each | Map and identity are added without the halves; each should count half. The rows sum to 2 for each layer, 2^L in the end.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    found = cross_map.mean(-3)
    for maps in self_maps:
        mean = maps.mean(-3)
        found = (mean + torch.eye(mean.shape[-1], dtype=mean.dtype, device=mean.device)) @ found
    return found

# %% [wrong] each_head_by_itself | Each head is followed through all layers on its own, and the mean over the heads is taken at the end; it should be taken in each layer. Head h of one layer does not hand on to head h of the next alone. (Right with one head.)
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    found = cross_map
    for maps in self_maps:
        eye = torch.eye(maps.shape[-1], dtype=maps.dtype, device=maps.device)
        found = (maps / 2 + eye / 2) @ found
    return found.mean(dim=-3)

# %% [wrong] heads_on_axis_one | The mean over the heads is taken along axis 1; it should be the third from the end. Right with one batch axis; without one it is a mean over the words that ask.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    result = cross_map.mean(1)
    for maps in self_maps:
        layer = maps.mean(1)
        identity = torch.eye(layer.shape[-1], dtype=layer.dtype, device=layer.device)
        result = torch.matmul(0.5 * layer + 0.5 * identity, result)
    return result

# %% [wrong] the_strongest_head | The largest weight of all heads is taken (amax); it should be their mean. Rows sum to more than 1 as soon as the heads differ.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    followed = cross_map.amax(dim=-3)
    for maps in self_maps:
        strongest = maps.amax(dim=-3)
        followed = 0.5 * followed + 0.5 * strongest @ followed
    return followed

# %% [right] no_identity_written | Half the identity times what there is, is half of what there is: no matrix of ones is made. The layers are taken off a list of means.
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    followed, *layers = (maps.mean(dim=-3) for maps in (cross_map, *self_maps))
    for layer in layers:
        followed = (followed + layer @ followed) / 2
    return followed
