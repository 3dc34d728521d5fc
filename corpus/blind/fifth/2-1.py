# %% [wrong] assert_for_identity | unequal widths with "identity" are stopped by an assert (AssertionError, which Python can switch off); the task wants a ValueError
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            assert d_vision == d_text, "widths differ"
            self.proj = nn.Identity()
        else:
            raise ValueError(method)

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] relu_between | the mlp has nn.ReLU between its two layers and not nn.GELU, so negative numbers are cut off flat
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
            raise ValueError(f"unknown method {method!r}, or widths that differ")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] wide_middle | the mlp's middle is d_vision wide: Linear(d_vision, d_vision) then Linear(d_vision, d_text), in place of d_text in the middle; 64 → 32 has 6,240 numbers and not 3,136
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in ("linear", "mlp", "identity"):
            raise ValueError(f"unknown method {method!r}")
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity needs equal widths")
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        if method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))
        if method == "identity":
            self.proj = nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] else_is_linear | the last else makes a linear layer of any unknown method, "conv" say, and raises no ValueError for it
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("identity is only possible between equal widths")
            self.proj = nn.Identity()
        else:
            self.proj = nn.Linear(d_vision, d_text)

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] no_bias | the linear form is made with bias=False, as the projections of lesson 1 were; both forms have a bias here (2,080 numbers, not 2,048)
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text, bias=False)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("different widths")
            self.proj = nn.Identity()
        else:
            raise ValueError("unknown method")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] returned_error | for an unknown method __init__ returns a ValueError in place of raising it; Python then raises a TypeError ("__init__ should return None"), not the ValueError
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            return ValueError(f"cannot make {method}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [right] match_statement | match/case with a guard for the identity, and one error at the end for all that is left
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        match method:
            case "linear":
                proj = nn.Linear(d_vision, d_text)
            case "mlp":
                proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
            case "identity" if d_vision == d_text:
                proj = nn.Identity()
            case _:
                raise ValueError(f"no aligner {method!r} from {d_vision} to {d_text} numbers")
        self.proj = proj

    def forward(self, tokens):
        return self.proj(tokens)
