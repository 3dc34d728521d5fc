# %% [wrong] relu_for_gelu | The bend of the mlp is nn.ReLU; GELU is asked for.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.ReLU(), nn.Linear(d_text, d_text))
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError(f"{method!r} does not work from {d_vision} to {d_text}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] mlp_middle_as_wide_as_image | The middle of the mlp is d_vision wide: d_vision → d_vision → d_text in place of d_vision → d_text → d_text.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in ("linear", "mlp", "identity"):
            raise ValueError("unknown method " + str(method))
        if method == "identity":
            if d_vision != d_text:
                raise ValueError("identity needs equal widths")
            self.proj = nn.Identity()
        elif method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        else:
            self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] identity_unchecked | An identity between different widths is accepted; no ValueError is raised.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            layers = [nn.Linear(d_vision, d_text)]
        elif method == "mlp":
            layers = [nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)]
        elif method == "identity":
            layers = [nn.Identity()]
        else:
            raise ValueError(method)
        self.proj = layers[0] if len(layers) == 1 else nn.Sequential(*layers)

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] key_error | Looks the method up in a dict; an unknown method raises a KeyError, not a ValueError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity: the widths differ")
        self.proj = {
            "linear": nn.Linear(d_vision, d_text),
            "mlp": nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity(),
        }[method]

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] assert_in_place_of_raise | Checks with assert: what is raised is an AssertionError, and not a ValueError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        assert method in {"linear", "mlp", "identity"}, f"unknown method {method}"
        if method == "identity":
            assert d_vision == d_text, "widths differ"
            self.proj = nn.Identity()
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            self.proj = nn.Linear(d_vision, d_text)

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] batch_flattened | forward flattens the leading axes and does not restore them: (2, 9, 64) comes back as (18, 32).
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.d_vision = d_vision
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError(f"no {method} aligner from {d_vision} to {d_text}")

    def forward(self, tokens):
        rows = tokens.reshape(-1, self.d_vision)
        return self.proj(rows)

# %% [right] match_statement | Uses match/case with a guard, and sets the part in one place.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        match method:
            case "linear":
                chosen = nn.Linear(in_features=d_vision, out_features=d_text)
            case "mlp":
                widths = [(d_vision, d_text), (d_text, d_text)]
                first, second = (nn.Linear(*pair) for pair in widths)
                chosen = nn.Sequential(first, nn.GELU(), second)
            case "identity" if d_vision == d_text:
                chosen = nn.Identity()
            case _:
                raise ValueError(f"cannot align {d_vision} to {d_text} by {method!r}")
        self.proj = chosen

    def forward(self, tokens):
        return self.proj(tokens)
