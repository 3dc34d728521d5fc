# %% [wrong] hidden_as_wide_as_vision | The first layer of the mlp goes from d_vision to d_vision and the second one to d_text; it should be d_vision → d_text → d_text, so the parameters are others (6,240 instead of 3,136).
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
            raise ValueError(f"cannot use {method!r} from {d_vision} to {d_text}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] always_a_sequential | The linear layer is wrapped into nn.Sequential, so proj is no nn.Linear: proj.weight does not exist, and the parameters are called proj.0.weight and proj.0.bias.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity":
            if d_vision != d_text:
                raise ValueError("identity needs equal widths")
            self.proj = nn.Identity()
            return
        if method not in ("linear", "mlp"):
            raise ValueError(f"unknown method {method!r}")
        layers = [nn.Linear(d_vision, d_text)]
        if method == "mlp":
            layers += [nn.GELU(), nn.Linear(d_text, d_text)]
        self.proj = nn.Sequential(*layers)

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] unknown_means_linear | The last else makes a linear layer for whatever else is asked for, so a misspelt method passes silently; it must raise a ValueError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("identity is only possible for equal widths")
            self.proj = nn.Identity()
        else:
            self.proj = nn.Linear(d_vision, d_text)

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] one_long_list | forward flattens all leading axes and does not bring them back, so (B, n, d_vision) comes back as (B·n, d_text); only the last axis may change.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("widths differ")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        flat = tokens.flatten(0, -2)  # Linear wants (N, features)
        return self.proj(flat)

# %% [wrong] widths_must_always_agree | The check of the widths stands before the if and so holds for every method; TokenAligner(64, 32) raises a ValueError although only the identity needs equal widths.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if d_vision != d_text:
            raise ValueError("d_vision and d_text differ")
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            self.proj = nn.Identity()
        else:
            raise ValueError(method)

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] key_error_from_the_table | An unknown method is looked up in the dictionary without a check, which raises a KeyError; the task asks for a ValueError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity needs d_vision == d_text")
        table = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity,
        }
        self.proj = table[method]()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [right] match_statement | a match over the method, with a guard for the identity and the error in the last case
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
                raise ValueError(f"no aligner {method!r} from width {d_vision} to width {d_text}")

    def forward(self, tokens):
        return self.proj(tokens)
