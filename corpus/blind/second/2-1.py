# %% [right] table_of_makers | right
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        makers = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(
                OrderedDict([("0", nn.Linear(d_vision, d_text)), ("1", nn.GELU()), ("2", nn.Linear(d_text, d_text))])
            ),
        }
        if d_vision == d_text:
            makers["identity"] = nn.Identity
        if method not in makers:
            raise ValueError(f"{method!r} is not possible from {d_vision} to {d_text}; there are {sorted(makers)}")
        self.proj = makers[method]()

    def forward(self, tokens):
        projected = self.proj.forward(tokens)
        return projected

# %% [wrong] no_bias | The linear layers are made without a bias, though both forms have one.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text, bias=False)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text, bias=False), nn.GELU(), nn.Linear(d_text, d_text, bias=False))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError(f"identity needs equal widths, not {d_vision} and {d_text}")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] mlp_hidden_vision | The hidden layer of the mlp has the width d_vision instead of d_text.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError(f"identity needs equal widths, not {d_vision} and {d_text}")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] relu | ReLU is used instead of GELU in the mlp.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.ReLU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError(f"identity needs equal widths, not {d_vision} and {d_text}")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] identity_unchecked | An identity between different widths raises nothing.
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

# %% [wrong] assert_for_error | The widths are checked with an assert, which is an AssertionError and no ValueError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            assert d_vision == d_text, "identity needs equal widths"
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] unknown_is_identity | Any other method falls through to the identity (a plain else) instead of raising.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            if d_vision != d_text:
                raise ValueError(f"identity needs equal widths, not {d_vision} and {d_text}")
            self.proj = nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] error_returned | The ValueError for an unknown method is made but not raised.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError(f"identity needs equal widths, not {d_vision} and {d_text}")
            self.proj = nn.Identity()
        else:
            self.proj = None
            ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)
