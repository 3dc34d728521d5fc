# %% [wrong] assert_in_place_of_raise | Bad arguments are caught with `assert`: that raises an AssertionError and not the ValueError that is asked for.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        assert method in ("linear", "mlp", "identity")
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            assert d_vision == d_text, "identity needs equal widths"
            self.proj = nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] identity_between_any_widths | The identity is made whatever the widths are: no ValueError where they differ.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] wide_middle | The middle of the MLP is d_vision wide; it should be d_text.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError(method)

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] else_is_the_mlp | The last `else` makes an MLP, so an unknown method passes without an error.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity":
            if d_vision != d_text:
                raise ValueError("identity: widths differ")
            self.proj = nn.Identity()
        elif method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        else:
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] relu_by_habit | ReLU stands between the two layers in place of GELU.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in {"linear", "mlp", "identity"}:
            raise ValueError("method?")
        if method == "identity" and d_vision != d_text:
            raise ValueError("widths?")
        self.proj = {
            "linear": nn.Linear(d_vision, d_text),
            "mlp": nn.Sequential(nn.Linear(d_vision, d_text), nn.ReLU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity(),
        }[method]

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] widths_checked_for_all | The widths are compared before the method is looked at: a linear aligner between different widths, the very purpose, raises a ValueError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if d_vision != d_text or method not in ("linear", "mlp", "identity"):
            raise ValueError("identity needs d_vision = d_text")
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            self.proj = nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)


# %% [right] match_statement | Decides with `match`, and a guard for the identity.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        match method:
            case "linear":
                proj = nn.Linear(d_vision, d_text)
            case "mlp":
                layers = [nn.Linear(d_vision, d_text), nn.GELU()]
                layers.append(nn.Linear(d_text, d_text))
                proj = nn.Sequential(*layers)
            case "identity" if d_vision == d_text:
                proj = nn.Identity()
            case _:
                raise ValueError(f"no aligner {method!r} from {d_vision} to {d_text}")
        self.proj = proj

    def forward(self, tokens):
        return self.proj(tokens)
