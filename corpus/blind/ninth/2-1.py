# %% [wrong] dict_lookup_gives_keyerror | Looks the method up in a dict. The layers are right, but an unknown method ends in a KeyError; a ValueError is asked for.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity needs equal widths")
        makers = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": lambda: nn.Identity(),
        }
        self.proj = makers[method]()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] error_made_and_not_raised | Makes a ValueError for an identity between different widths, but forgets the word raise. The error is thrown away, and an aligner that does not align is built in silence.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                ValueError(f"identity needs equal widths, not {d_vision} and {d_text}")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] in_a_word_in_place_of_equal | Tests with `method in ("linear")`, which is no tuple but a string, so any part of the word counts. "", "line" or "near" should be a ValueError, and give a linear aligner.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method in ("linear"):
            layers = nn.Linear(d_vision, d_text)
        elif method in ("mlp"):
            layers = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method in ("identity") and d_vision == d_text:
            layers = nn.Identity()
        else:
            raise ValueError(f"cannot align {d_vision} to {d_text} by {method!r}")
        self.proj = layers

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] middle_as_wide_as_the_patch | The middle of the mlp is d_vision wide. It should be d_text wide: from 64 to 32 there are 6,240 numbers to learn in place of 3,136.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in {"linear", "mlp", "identity"}:
            raise ValueError(f"no such method: {method}")
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity keeps the width")
        self.proj = nn.Identity()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        if method == "mlp":
            self.proj = nn.Sequential(
                nn.Linear(d_vision, d_vision),
                nn.GELU(),
                nn.Linear(d_vision, d_text),
            )

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] all_forms_built_at_once | Builds all forms as parts of the layer and chooses one as proj. The layer should have one part: the others are registered too, so a linear aligner has thousands of numbers that never learn.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.linear = nn.Linear(d_vision, d_text)
        self.mlp = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        self.identity = nn.Identity()
        if method == "linear":
            self.proj = self.linear
        elif method == "mlp":
            self.proj = self.mlp
        elif method == "identity" and d_vision == d_text:
            self.proj = self.identity
        else:
            raise ValueError(method)

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] batch_not_put_back | Flattens the tokens to a long list before the projection and never gives the leading axes back. (B, n, d_vision) should become (B, n, d_text), and comes out as (B·n, d_text).
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        match method:
            case "linear":
                self.proj = nn.Linear(d_vision, d_text)
            case "mlp":
                self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
            case "identity" if d_vision == d_text:
                self.proj = nn.Identity()
            case _:
                raise ValueError(f"{method!r} is not possible from {d_vision} to {d_text}")

    def forward(self, tokens):
        as_list = tokens.reshape(-1, tokens.shape[-1])
        return self.proj(as_list)

# %% [right] widths_list_and_static_helper | The layers come from a list of widths, with a bend between each two; a list with one width is the identity. The ValueErrors come first, in a static helper.
class TokenAligner(nn.Module):
    @staticmethod
    def widths(d_vision, d_text, method):
        known = {"linear": [d_vision, d_text], "mlp": [d_vision, d_text, d_text], "identity": [d_vision]}
        chosen = known.get(method) if isinstance(method, str) else None
        if chosen is None or chosen[-1] != d_text:
            raise ValueError(f"{method!r} cannot bring {d_vision} numbers to {d_text}")
        return chosen

    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        sizes = self.widths(d_vision, d_text, method)
        parts = []
        for before, after in zip(sizes, sizes[1:]):
            parts += [nn.GELU(), nn.Linear(before, after)]
        parts = parts[1:]
        self.proj = nn.Sequential(*parts) if len(parts) > 1 else (parts[0] if parts else nn.Identity())

    def forward(self, tokens):
        return self.proj(tokens)
