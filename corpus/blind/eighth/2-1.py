# %% [wrong] key_error_from_a_table | The method is looked up in a dict, which raises a KeyError for an unknown one; it should be a ValueError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity needs equal widths")
        make = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity,
        }
        self.proj = make[method]()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] hidden_layer_as_wide_as_the_image | The middle of the mlp is d_vision wide: Linear(d_vision, d_vision), then Linear(d_vision, d_text). It should be d_text wide; the shapes of the weights and their number are others.
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
            raise ValueError(f"cannot align {d_vision} to {d_text} by {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] unknown_means_linear | Whatever is not "mlp" or "identity" falls through to the linear layer; an unknown method should raise a ValueError. A misspelt method is accepted in silence.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.proj = self._build(d_vision, d_text, method)

    @staticmethod
    def _build(d_vision, d_text, method):
        if method == "identity":
            if d_vision != d_text:
                raise ValueError(f"identity from {d_vision} to {d_text}?")
            return nn.Identity()
        first = nn.Linear(d_vision, d_text)
        if method == "mlp":
            return nn.Sequential(first, nn.GELU(), nn.Linear(d_text, d_text))
        return first

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] all_methods_kept | All forms are made and kept in a ModuleDict beside proj; there should be one part, self.proj. The unused ones are registered too, so the parameter count is wrong, and the optimizer gets parameters that nothing uses.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.options = nn.ModuleDict(
            {
                "linear": nn.Linear(d_vision, d_text),
                "mlp": nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
                "identity": nn.Identity(),
            }
        )
        if method not in self.options:
            raise ValueError(f"unknown method {method!r}")
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity keeps the width")
        self.proj = self.options[method]

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] batch_flattened_for_good | forward flattens all leading axes before the projection and does not bring them back; only the last axis should change. (B, n, d_vision) comes back as (B·n, d_text).
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
        flat = tokens.reshape(-1, tokens.shape[-1])  # a Linear wants (N, features)
        return self.proj(flat)

# %% [wrong] error_returned_not_raised | The ValueErrors are returned from __init__ in place of raised; Python then complains with a TypeError, since __init__ must return None. Both bad cases end in the wrong error.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in ("linear", "mlp", "identity"):
            return ValueError(f"unknown method {method!r}")
        if method == "identity" and d_vision != d_text:
            return ValueError("identity needs equal widths")
        layers = [nn.Linear(d_vision, d_text)]
        if method == "mlp":
            layers += [nn.GELU(), nn.Linear(d_text, d_text)]
        if method == "identity":
            layers = [nn.Identity()]
        self.proj = nn.Sequential(*layers) if len(layers) > 1 else layers[0]

    def forward(self, tokens):
        return self.proj(tokens)

# %% [right] match_statement | A match statement with a guard; everything that is left over raises.
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
            case "identity":
                raise ValueError(f"identity cannot turn {d_vision} numbers into {d_text}")
            case _:
                raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)
