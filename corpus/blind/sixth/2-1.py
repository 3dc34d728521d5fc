# %% [wrong] relu | The mlp bends with nn.ReLU() instead of nn.GELU()
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
            raise ValueError(f"cannot build {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] hidden_d_vision | The hidden layer of the mlp is d_vision wide instead of d_text: Linear(d_vision, d_vision), then Linear(d_vision, d_text), so the parameters have other shapes
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity":
            if d_vision != d_text:
                raise ValueError("identity needs equal widths")
            self.proj = nn.Identity()
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))
        elif method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        else:
            raise ValueError(method)

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] identity_unchecked | An identity between different widths is accepted: the ValueError for d_vision != d_text is missing
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        builders = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity,
        }
        if method not in builders:
            raise ValueError(f"method must be one of {list(builders)}")
        self.proj = builders[method]()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] key_error | The method is looked up in a dict, so an unknown method raises a KeyError instead of a ValueError
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity: widths differ")
        self.proj = {
            "linear": nn.Linear(d_vision, d_text),
            "mlp": nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity(),
        }[method]

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] no_bias | The linear form has bias=False; the task's nn.Linear(d_vision, d_text) has a bias, so proj.bias is None and 32 numbers are missing
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in ("linear", "mlp", "identity"):
            raise ValueError(f"unknown method {method}")
        if method == "identity" and d_vision != d_text:
            raise ValueError("no identity between different widths")
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text, bias=False)
        if method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        if method == "identity":
            self.proj = nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] normalised_output | forward also divides each aligned token by its length (F.normalize), as CLIP does; the task only puts the tokens through self.proj, so (7.5, −1) does not come out
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            layers = [nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)]
            self.proj = nn.Sequential(*layers)
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError(f"{method!r} with {d_vision} and {d_text}")

    def forward(self, tokens):
        return F.normalize(self.proj(tokens), dim=-1)

# %% [right] match | match statement with a guard
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
                raise ValueError(f"no aligner {method!r} from {d_vision} to {d_text}")

    def forward(self, tokens):
        return self.proj(tokens)
